#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A binary export is not written to a terminal; a text, a pipe and a file are as always.
. "$(dirname "$0")/lib.sh"
command -v script >/dev/null || skip "script (util-linux) is not installed"
trace=$(dirname "$0")/../data/relay.bin

for format in pprof otlp perfetto; do
	script -qec "$walk -q --format=$format $trace" /dev/null >"$tmp/terminal" </dev/null
	expect_exit "chainwalk --format=$format on a terminal" 2 $?
	tr -d '\r' <"$tmp/terminal" >"$tmp/said"
	expect "what chainwalk --format=$format says on a terminal" \
		"chainwalk: --format=$format is not for a terminal: name a file with -o, or use a pipe" "$(cat "$tmp/said")"
	script -qec "$walk -q --format=$format -o $tmp/out $trace" /dev/null >"$tmp/terminal" </dev/null
	expect_exit "chainwalk --format=$format -o FILE on a terminal" 0 $?
	"$walk" -q --format=$format "$trace" | cat >"$tmp/piped"
	cmp -s "$tmp/out" "$tmp/piped" || fail "$format: what goes to a file and to a pipe differs"
done
script -qec "$walk -q --format=csv $trace" /dev/null >"$tmp/terminal" </dev/null
expect_exit "chainwalk --format=csv on a terminal" 0 $?
