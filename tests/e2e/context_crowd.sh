#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Somebody's thousands of processes that seem to publish contexts, but not what their keys are, delay his own keys: the
# routes of another one's program, which begins later, are in the trace.
. "$(dirname "$0")/lib.sh"
only_all "one of the attackers"
needs_bpf
for tool in cc setpriv; do
	command -v "$tool" >/dev/null || skip "no $tool"
done
cc -O2 -rdynamic -o "$tmp/publishers" "$(dirname "$0")/../attacks/publishers.c" 2>"$tmp/err" || fail "$(cat "$tmp/err")"
chmod 755 "$tmp"
setpriv --reuid=65432 --regid=65432 --clear-groups "$tmp/publishers" 3000 >"$tmp/ready" 2>&1 &
started="$started $!"
wait_for "the crowd" 60 grep -q ready "$tmp/ready"
begin_recording "$tmp/trace" --context -F 0
mkfifo "$tmp/go"
"$build/shop" "$build/context_module.so" 60 <"$tmp/go" >"$tmp/told" 2>&1 &
shop=$!
started="$started $shop"
exec 4>"$tmp/go"
# In their order it would be the last one, after half a minute.
wait_for "the recorder knows both servers" 20 grep -qE ' ([2-9]|[1-9][0-9]+) with routes' "$tmp/err.cap"
echo go >&4
exec 4>&-
wait $shop
expect "exit status of the shop" 0 $?
end_recording
timeout 300 "$walk" -q --all -f events "$tmp/trace" >"$tmp/events" 2>"$tmp/err"
expect_exit "chainwalk -f events" 0 $?
# A third of the clients' requests, 120, has no context.
expect_at_least "contexts with a route" 60 "$(grep -cE ' context .*(/cart|/search|/stock)' "$tmp/events")" "$tmp/err.cap"
