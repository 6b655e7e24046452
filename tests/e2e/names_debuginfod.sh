#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# With DEBUGINFOD_URLS, functions of a stripped program are named by the debug file that a server has; -v says
# what was asked. Who asks is another process without any rights. A server that does not answer delays the end
# of a recording only for a bounded time, and without DEBUGINFOD_URLS there is no such process.
# Beside another: it compares names of its own program, and waits for a server most of the time.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v debuginfod >/dev/null || skip "needs debuginfod"
command -v objcopy >/dev/null && command -v readelf >/dev/null || skip "needs objcopy and readelf"
DEBUGINFOD_URLS=
export DEBUGINFOD_URLS

cp "$build/names_load" "$tmp/n_asked"
mkdir "$tmp/files"
objcopy --only-keep-debug "$tmp/n_asked" "$tmp/files/debug"
id=$(readelf -n "$tmp/n_asked" | awk '/Build ID:/ { print $3 }')
strip "$tmp/n_asked"

# asked OPTION...: records it, and its stacks go into $tmp/folded. Its waits go on for a third of a second: a stack
# is cut as long as the rules of its code have not been read.
asked() {
	timeout 100 "$cap" -v -o "$tmp/trace" "$@" >"$tmp/told" 2>"$tmp/err"
	expect_exit "chaincap $*" 0 $?
	timeout 60 "$walk" -q -U -d 0 -c n_asked "$tmp/trace" >"$tmp/folded" 2>/dev/null
}
asker_of() {
	pgrep -P "$1" -x chaincap-asker
}
# What it stores lies below TMPDIR, and is removed when it ends: /tmp may have another recorder's.
chmod 711 "$tmp"
mkdir -m 711 "$tmp/silent"
mkdir -m 1777 "$tmp/stored" "$tmp/silent/stored"
TMPDIR=$tmp/stored
export TMPDIR

# A server that takes connections and never answers. Its recording goes on beside what follows.
python3 -c '
import socket, time
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen(64)
print(s.getsockname()[1], flush=True)
time.sleep(200)' >"$tmp/silent/port" &
started="$started $!"
wait_for "the silent server" 10 test -s "$tmp/silent/port"
{
	before=$(date +%s)
	DEBUGINFOD_URLS=http://127.0.0.1:$(cat "$tmp/silent/port") TMPDIR=$tmp/silent/stored \
		timeout 100 "$cap" -o "$tmp/silent/trace" -- "$tmp/n_asked" wait 300 1000 >"$tmp/silent/told" 2>&1
	status=$?
	echo $(($(date +%s) - before)) >"$tmp/silent/took"
	exit $status
} &
silent=$!
started="$started $silent"

named='main;exported_outer;local_outer;exported_inner;local_inner;local_sleep'

asked -- "$tmp/n_asked" wait 300 1000
! grep -q local_ "$tmp/folded" || fail "names without a server: $(cat "$tmp/folded")"
! grep -q debuginfod "$tmp/err" || fail "debuginfod is asked although no server is named"

serve_debug_files "$tmp/files"
asked -- "$tmp/n_asked" wait 300 1000
grep -q "$named" "$tmp/folded" || fail "names from a server
expected: $named
got:
$(cat "$tmp/folded" "$tmp/err")"
grep -q "debuginfod: $id: found" "$tmp/err" || fail "-v does not say what was asked:
$(cat "$tmp/err")"
expect "what it stored and did not remove" "" "$(find "$tmp/stored" -mindepth 1)"

# The process that asks, while it waits: another user, no capabilities, nothing open but a socket.
"$cap" -q -o "$tmp/trace" 1 2>"$tmp/err" &
recorder=$!
started="$started $recorder"
for try in $(seq 50); do
	asker=$(asker_of $recorder) && grep -q '^NoNewPrivs:.*1' "/proc/$asker/status" && break
	sleep 0.05
done
[ -n "$asker" ] || fail "nobody asks: $(cat "$tmp/err")"
expect "its capabilities and new rights" "CapInh 0 CapPrm 0 CapEff 0 CapAmb 0 NoNewPrivs 1" \
	"$(awk -F '[:\t]+' '/^Cap(Inh|Prm|Eff|Amb)|^NoNew/ { printf "%s%s %s", n++ ? " " : "", $1, $2 ~ /^0+$/ ? 0 : $2 }' \
		"/proc/$asker/status")"
expect "its users that are root" "" "$(awk '/^[UG]id/ { for (i = 2; i < 6; i++) if (!$i) print }' "/proc/$asker/status")"
expect "its open files" "/dev/null socket" \
	"$(for fd in "/proc/$asker/fd"/*; do readlink "$fd"; done | sed 's/:.*//' | sort -u | tr '\n' ' ' | sed 's/ $//')"
wait $recorder
! kill -0 "$asker" 2>/dev/null || fail "it outlives the recorder"

wait $silent
expect_exit "chaincap with a server that does not answer" 0 $?
timeout 60 "$walk" -q -U -d 0 -c n_asked "$tmp/silent/trace" >"$tmp/folded" 2>/dev/null
grep -q "n_asked;.*exported_inner" "$tmp/folded" || fail "no trace with a server that does not answer"
took=$(cat "$tmp/silent/took")
[ "$took" -le 60 ] || fail "a server that does not answer delays the trace by $took s"
expect "what it stored and did not remove" "" "$(find "$tmp/silent/stored" -mindepth 1)"
