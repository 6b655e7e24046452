#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# On this kernel too the calls of a function are as many requests as it is called, each explained by what its
# thread waited for, and their stacks are whole.
. "$(dirname "$0")/../../e2e/lib.sh"
if is_plain; then
	"$cap" -o "$tmp/probed" --request "wait=$load:alpha_waits" 1 2>"$tmp/err"
	expect_exit "chaincap --request" 1 $?
	grep -q 'this kernel refuses the BPF programs that --request takes (.*): Linux 5.15 takes them$' "$tmp/err" ||
		fail "it is not said why: $(cat "$tmp/err")"
	[ ! -e "$tmp/probed" ] || fail "there is a trace"
fi
needs_more "requests that probes mark"
rounds=10
timeout 120 "$cap" -o "$tmp/trace" --request "wait=$load:alpha_waits" -- \
	"$load" relay --hops futex --work 20000,40000,60000 --sleep 100000 --rounds $rounds >"$tmp/told" 2>"$tmp/err"
expect_exit "chaincap --request wait=$load:alpha_waits: $(cat "$tmp/err")" 0 $?
requests_at "$tmp/trace" "request wait"
expect_requests "calls" $rounds request ' probed,'
expect_requests "calls that are not over" 0 open
timeout 60 "$walk" -q --request '^wait$' --blocked-stacks "$tmp/trace" >"$tmp/folded" 2>"$tmp/err"
expect_at_least "folded lines of the wake by bravo" 1 "$(grep -c '^\[request wait\] .*;bravo_wakes_alpha;' "$tmp/folded")" \
	"$tmp/folded"
[ "$(uname -m)" = aarch64 ] || expect_at_least "folded lines with the function's callers" 1 \
	"$(grep -c ';thread_main;alpha_runs;alpha_waits;' "$tmp/folded")" "$tmp/folded"
