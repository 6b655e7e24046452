#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The flight recorder that stays: systemd takes its unit; with the rights and the read-only file systems that the
# unit gives it, it records with names, writes a trace when it is told to, says now and then what was lost, and
# ends in order.
# Beside another: it compares names of its own program, and looks at its own recorder's processes.
. "$(dirname "$0")/lib.sh"
needs_bpf
unit=$(dirname "$0")/../../docs/systemd/chaincap.service

# systemd's own opinion, of the units with the program where it is here
if command -v systemd-analyze >/dev/null; then
	for name in chaincap chaincap-every chaincap-light; do
		sed "s|/usr/bin/chaincap|$cap|" "$(dirname "$unit")/$name.service" >"$tmp/$name.service"
		systemd-analyze verify --man=no "$tmp/$name.service" >"$tmp/out" 2>&1
		expect "what systemd-analyze verify says of $name.service" "0 " "$? $(grep chaincap "$tmp/out")"
		systemd-analyze security --offline=true --threshold=40 "$tmp/$name.service" >"$tmp/out" 2>&1 ||
			fail "systemd-analyze security finds more than 4.0 of exposure of $name: $(tail -n 1 "$tmp/out")"
	done
else
	echo "note: no systemd-analyze: the unit has not been checked by systemd"
fi

caps=$(sed -n 's/^CapabilityBoundingSet=//p' "$unit" | tr '\n' ' ' | tr '[:upper:]' '[:lower:]' | sed 's/cap_/,+/g; s/ //g')
expect_at_least "capabilities that the unit gives" 5 "$(echo "$caps" | tr -cd + | wc -c)"
# What systemd refuses by the arguments of system calls ends the recorder here, so that it cannot miss it.
families=$({ echo '#include <sys/socket.h>' && sed -n 's/^RestrictAddressFamilies=//p' "$unit" | tr ' ' '\n' | sed 's/^/NUMBER /'; } |
	cc -E -P - | sed -n 's/^NUMBER \([0-9][0-9]*\)$/\1/p' | paste -s -d, -)
[ "$families" ] || fail "the unit names no families of sockets"
none=99999
! "$build/forbid" -u "$families" 0 $none unshare -U true 2>/dev/null || fail "a namespace is not refused here"
mkdir "$tmp/state"
cat >"$tmp/service" <<-END
	#!/bin/sh
	exec unshare -m sh -c 'mount --bind "$tmp/state" "$tmp/state" && mount -o remount,bind,ro / &&
		exec setpriv --no-new-privs --bounding-set "-all$caps" --inh-caps=-all \
		"$build/forbid" -u "$families" 0 $none "$cap" "\$@"' sh "\$@"
END
chmod 755 "$tmp/service"
"$load" relay --rounds 1000000 --seconds 600 >/dev/null &
started="$started $!"
cap=$tmp/service
fly "$tmp/state/trace.bin" --flight=20s --log-every=500ms
sleep 2
readers=$(for p in $(cat "/proc/$recorder/task/$recorder/children"); do
	awk '$1 == "Name:" && $2 != "chaincap-reader" { exit } $1 == "Uid:" { print $2 }' "/proc/$p/status"
done)
expect_at_least "user of what reads files" 65536 "$readers" "$tmp/err.cap"
kill -USR1 "$recorder"
wait_for "a trace" 30 written "$tmp/state/trace.bin"
wait_for "a line that counts the trace" 10 grep -q '^chaincap: in .*; traces 1$' "$tmp/err.cap"
kill -TERM "$recorder"
wait "$recorder"
expect_exit "chaincap --flight, ended by SIGTERM" 0 $?
grep -q '^chaincap: in [0-9]* s: [1-9][0-9]* events, [0-9]* lost; mappings lost 0; readers of files given up 0; CPU [0-9.]* %; traces 0$' \
	"$tmp/err.cap" || fail "no line says what was lost:
$(cat "$tmp/err.cap")"

# The other unit differs in what it says to the recorder alone, which works with these rights as well.
sed -n '/^# --memory/,$p' "$unit" | grep -v '^StateDirectory=' >"$tmp/limits"
expect "limits and rights of the other unit" "" "$(sed -n '/^# --memory/,$p' "$(dirname "$unit")/chaincap-every.service" |
	grep -v '^StateDirectory=' | diff - "$tmp/limits")"
mkdir "$tmp/state/every"
timeout 300 "$cap" -o "$tmp/state/every" --every=2s --for=300ms --keep=100M --max-dumps=1 2>"$tmp/err"
expect_exit "chaincap --every" 0 $?
expect "its traces" 1 "$(find "$tmp/state/every" -name '*Z.bin' | wc -l)"

# So does the third; its recorder says that it takes more than it may, which here is next to nothing.
expect "limits and rights of the light unit" "" "$(sed -n '/^MemorySwapMax/,$p' "$(dirname "$unit")/chaincap-light.service" |
	grep -v '^StateDirectory=' | diff - "$tmp/limits" | grep -v '^> \(# --memory\|MemoryMax=\)' | grep '^[<>]')"
options=$(sed -n 's/^Environment="CHAINCAP_OPTIONS=\(.*\)"$/\1/p' "$(dirname "$unit")/chaincap-light.service" | sed 's/=1%%/=0.01%/')
if ! is_older; then
	# shellcheck disable=SC2086 # options
	fly "$tmp/state/light.bin" $options --log-every=1s
	wait_for "a word on the CPU time" 40 grep -q '^chaincap: it takes [0-9.]* % of the CPUs. time, more than 0.01 %' "$tmp/err.cap"
	kill -USR1 "$recorder"
	wait_for "a light trace" 30 written "$tmp/state/light.bin"
	kill -TERM "$recorder"
	wait "$recorder"
	expect_exit "chaincap, as the light unit has it, ended by SIGTERM" 0 $?
	grep -q '; CPU [0-9.]*[1-9][0-9.]* %; traces' "$tmp/err.cap" || fail "no CPU time: $(cat "$tmp/err.cap")"
	expect "how long a sleep with stacks lasts, in ns" 1000000 "$("$walk" -q -f info "$tmp/state/light.bin" | sed -n 's/^stacks_from_ns: //p')"
fi

walk_to "$tmp/folded" -c alpha "$tmp/state/trace.bin"
grep -q '^alpha;.*;schedule;.*;bravo_wakes_alpha;.*;bravo;' "$tmp/folded" || fail "names of the relay are missing:
$(head -n 3 "$tmp/folded")"
