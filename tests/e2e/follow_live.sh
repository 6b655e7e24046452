#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --live starts the recorder, shows the first screen of each of its traces, and leaves nothing behind.
# Beside another: it judges whether its own recorder shows something, and ends.
. "$(dirname "$0")/lib.sh"
needs_bpf
"$load" relay --hops pipe --work 500,500,500 --rounds 1000000 --seconds 900 >"$tmp/told" &
started="$started $!"
mkdir "$tmp/below"
TMPDIR=$tmp/below "$walk" -q --live >"$tmp/out" 2>"$tmp/err" &
pid=$!
started="$started $pid"
has_screens() {
	[ "$(grep -c '^== .*\.bin$' "$tmp/out")" -ge 2 ] && grep -q 'ROOT CAUSE' "$tmp/out"
}
wait_for "two screens" 6 has_screens
grep -q 'alpha\|bravo\|charlie' "$tmp/out" || fail "nothing of the relay: $(cat "$tmp/out")"
recorder=$(ps -o pid= --ppid $pid)
ps -o args= --ppid $pid | grep -q -- ' --every 2s ' || fail "not every 2 s: $(ps -o args= --ppid $pid)"
kill -TERM $pid
wait $pid
expect_exit "--live, after SIGTERM" 0 $?
for one in $recorder; do
	! is_running "$one" || fail "the recorder goes on"
done
expect "what is left of the traces" "$(find "$tmp/below" -mindepth 1)" ""
