#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The recorder asks no debuginfod server, whatever DEBUGINFOD_URLS says; but the build ID of a stripped program is
# in the trace, by which chainwalk --debuginfod names its functions later, without being root.
# Beside another: it compares names of its own program, and waits for a server most of the time.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v debuginfod >/dev/null || skip "needs debuginfod"
command -v objcopy >/dev/null && command -v readelf >/dev/null || skip "needs objcopy and readelf"

cp "$build/names_load" "$tmp/n_asked"
mkdir "$tmp/files"
objcopy --only-keep-debug "$tmp/n_asked" "$tmp/files/debug"
id=$(readelf -n "$tmp/n_asked" | awk '/Build ID:/ { print $3 }')
strip "$tmp/n_asked"

# A server that takes connections, notes each, and never answers.
python3 -c '
import socket, sys
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen(64)
print(s.getsockname()[1], flush=True)
taken = []
while True:
    taken.append(s.accept())
    print("asked", file=sys.stderr, flush=True)' >"$tmp/port" 2>"$tmp/asked" &
started="$started $!"
wait_for "the silent server" 10 test -s "$tmp/port"

# A stack is cut as long as the rules of its code have not been read, on a busy machine for longer than a third of a
# second.
for waits in 300 1500 6000; do
	DEBUGINFOD_URLS=http://127.0.0.1:$(cat "$tmp/port") \
		timeout 300 "$cap" -v -o "$tmp/trace" -- "$tmp/n_asked" wait $waits 1000 >"$tmp/told" 2>"$tmp/err"
	expect_exit "chaincap with DEBUGINFOD_URLS" 0 $?
	! "$walk" -q -U -d 0 -c n_asked "$tmp/trace" 2>/dev/null | grep -q ';main;.*;exported_inner;' || break
done
expect "connections of the recorder to a server" 0 "$(wc -l <"$tmp/asked")"

# later [OPTION...]: the trace's stacks, as nobody, into $tmp/folded.
chmod 711 "$tmp"
chmod 644 "$tmp/trace"
mkdir -m 1777 "$tmp/cache"
# Where nobody may read it, wherever the build folder is.
cp "$walk" "$tmp/chainwalk"
walk=$tmp/chainwalk
later() {
	setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$tmp/cache" DEBUGINFOD_CACHE_PATH="$tmp/cache" \
		timeout 300 "$walk" -q -U -d 0 -c n_asked "$@" - <"$tmp/trace" >"$tmp/folded" 2>"$tmp/err"
	expect_exit "chainwalk $*" 0 $?
}

later
! grep -q local_ "$tmp/folded" || fail "names without a server: $(cat "$tmp/folded")"

serve_debug_files "$tmp/files"
later --debuginfod
named='main;exported_outer;local_outer;exported_inner;local_inner;local_sleep'
grep -q "$named" "$tmp/folded" || fail "names from a server, by the build ID $id
expected: $named
got:
$(cat "$tmp/folded" "$tmp/err")"
