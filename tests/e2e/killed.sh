#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# kill -9 of chaincap at any moment leaves a readable trace.
# Beside another: it compares names of its own threads.
. "$(dirname "$0")/lib.sh"
needs_bpf
busy 600
started="$started $!"
for moment in 0.2 0.7 1.3 late; do
	rm -f "$tmp/trace"
	"$cap" -o "$tmp/trace" >"$tmp/out" 2>"$tmp/err.cap" &
	recorder=$!
	if [ $moment = late ]; then
		wait_for "the trace begins" 20 test -s "$tmp/trace"
		sleep 2
	else
		sleep $moment
	fi
	kill -KILL $recorder
	wait $recorder 2>/dev/null
	[ -e "$tmp/trace" ] || continue # killed before it had begun
	[ -s "$tmp/trace" ] || continue
	timeout 300 "$walk" "$tmp/trace" >"$tmp/folded" 2>"$tmp/err"
	expect_exit "chainwalk, chaincap killed, $moment" "0 3" $?
	[ -s "$tmp/err" ] || fail "chainwalk says nothing about a trace that was cut off"
done
[ -s "$tmp/folded" ] || fail "chaincap killed after 2 s: nothing in the trace of $(wc -c <"$tmp/trace") bytes
$(cat "$tmp/err.cap" "$tmp/err")"
grep -q '^p[io]ng;' "$tmp/folded" || fail "the busy threads are not among the waits:
$(head -5 "$tmp/folded")"
