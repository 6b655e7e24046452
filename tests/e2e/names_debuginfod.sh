#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# With DEBUGINFOD_URLS, functions of a stripped program are named by the debug file that a server has; -v says
# what was asked. Who asks is another process without any rights. A server that does not answer delays the end
# of a recording only for a bounded time, and without DEBUGINFOD_URLS there is no such process.
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

# asked OPTION...: records it, and its stacks go into $tmp/folded.
asked() {
	timeout 100 "$cap" -v -o "$tmp/trace" "$@" >"$tmp/told" 2>"$tmp/err"
	expect_exit "chaincap $*" 0 $?
	timeout 60 "$walk" -q -U -d 0 -c n_asked "$tmp/trace" >"$tmp/folded" 2>/dev/null
}
asker_of() {
	pgrep -P "$1" -x chaincap-asker
}
named='main;exported_outer;local_outer;exported_inner;local_inner;local_sleep'

asked -- "$tmp/n_asked" wait 20 300
! grep -q local_ "$tmp/folded" || fail "names without a server: $(cat "$tmp/folded")"
! grep -q debuginfod "$tmp/err" || fail "debuginfod is asked although no server is named"

serve_debug_files "$tmp/files"
asked -- "$tmp/n_asked" wait 20 300
grep -q "$named" "$tmp/folded" || fail "names from a server
expected: $named
got:
$(cat "$tmp/folded" "$tmp/err")"
grep -q "debuginfod: $id: found" "$tmp/err" || fail "-v does not say what was asked:
$(cat "$tmp/err")"
expect "what it stored and did not remove" "" "$(find /tmp -maxdepth 1 -name 'chaincap-debuginfod-*')"

# The process that asks, while it waits: another user, no capabilities, nothing open but a socket.
"$cap" -q -o "$tmp/trace" 3 2>"$tmp/err" &
recorder=$!
started="$started $recorder"
for try in $(seq 50); do
	asker=$(asker_of $recorder) && [ "$(awk '/^Uid/ { print $2 }' "/proc/$asker/status")" != 0 ] && break
	sleep 0.05
done
[ -n "$asker" ] || fail "nobody asks: $(cat "$tmp/err")"
sleep 0.2
expect "its capabilities and new rights" "CapInh 0 CapPrm 0 CapEff 0 CapAmb 0 NoNewPrivs 1" \
	"$(awk -F '[:\t]+' '/^Cap(Inh|Prm|Eff|Amb)|^NoNew/ { printf "%s%s %s", n++ ? " " : "", $1, $2 ~ /^0+$/ ? 0 : $2 }' \
		"/proc/$asker/status")"
expect "its users that are root" "" "$(awk '/^[UG]id/ { for (i = 2; i < 6; i++) if (!$i) print }' "/proc/$asker/status")"
expect "its open files" "/dev/null socket" \
	"$(for fd in "/proc/$asker/fd"/*; do readlink "$fd"; done | sed 's/:.*//' | sort -u | tr '\n' ' ' | sed 's/ $//')"
wait $recorder
! kill -0 "$asker" 2>/dev/null || fail "it outlives the recorder"

# A server that takes connections and never answers.
python3 -c '
import socket, time
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen(64)
print(s.getsockname()[1], flush=True)
time.sleep(100)' >"$tmp/port" &
started="$started $!"
for try in $(seq 50); do
	[ -s "$tmp/port" ] && break
	sleep 0.1
done
DEBUGINFOD_URLS=http://127.0.0.1:$(cat "$tmp/port")
before=$(date +%s)
asked -- "$tmp/n_asked" wait 20 300
took=$(($(date +%s) - before))
grep -q "n_asked;.*exported_inner" "$tmp/folded" || fail "no trace with a server that does not answer"
[ $took -le 60 ] || fail "a server that does not answer delays the trace by $took s"
