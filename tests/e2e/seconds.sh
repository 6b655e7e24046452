#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# chaincap SECONDS records for that long, decimals counted, and says what it has in one closing line.
. "$(dirname "$0")/lib.sh"
needs_bpf
began=$(date +%s%N)
timeout 300 "$cap" -o "$tmp/trace" 0.5 >"$tmp/out" 2>"$tmp/err"
expect_exit "chaincap 0.5" 0 $?
took=$(($(date +%s%N) - began))
expect_at_least "chaincap 0.5 took" 500000000 $took
expect_at_most "chaincap 0.5 took" 5000000000 $took
expect "standard output" "" "$(cat "$tmp/out")"
for word in events bytes stacks lost symbol; do
	grep -- "-> $tmp/trace\$" "$tmp/err" | grep -q "$word" || fail "the closing line does not say $word:
$(cat "$tmp/err")"
done
"$walk" -q "$tmp/trace" >"$tmp/out" 2>"$tmp/err"
expect_exit "chainwalk -q" 0 $?
expect "chainwalk -q on standard error" "" "$(cat "$tmp/err")"
