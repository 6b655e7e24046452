#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Without a TRACE, chainwalk reads a file or a pipe that it has as standard input, else trace.bin.
. "$(dirname "$0")/lib.sh"
data=$(cd "$(dirname "$0")/../data" && pwd)
cp "$data/relay.bin" "$tmp/trace.bin"
cd "$tmp" || exit 1
walk_to "$tmp/pingpong" "$data/pingpong.bin"
walk_to "$tmp/relay" "$data/relay.bin"
timeout 300 "$walk" -q --unit=ns <"$data/pingpong.bin" >"$tmp/out" 2>"$tmp/err"
expect_exit "chainwalk < FILE" 0 $?
cmp "$tmp/pingpong" "$tmp/out" || fail "chainwalk < FILE reads something else"
# shellcheck disable=SC2002 # a pipe
cat "$data/pingpong.bin" | timeout 300 "$walk" -q --unit=ns >"$tmp/out" 2>"$tmp/err"
cmp "$tmp/pingpong" "$tmp/out" || fail "cat FILE | chainwalk reads something else"
timeout 300 "$walk" -q --unit=ns </dev/null >"$tmp/out" 2>"$tmp/err"
expect_exit "chainwalk </dev/null" 0 $?
cmp "$tmp/relay" "$tmp/out" || fail "chainwalk without a file or pipe does not read trace.bin"
