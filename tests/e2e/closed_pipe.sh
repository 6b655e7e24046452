#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A closed pipe downstream ends chainwalk and flamegraph quietly, and a recording to it promptly.
# Beside another: it is about exit statuses.
. "$(dirname "$0")/lib.sh"
needs_bpf
busy 600
started="$started $!"
timeout 300 "$cap" -o "$tmp/trace" 1 2>"$tmp/err"
expect_exit "chaincap 1" 0 $?

for format in events folded; do
	{
		timeout 300 "$walk" -q --format=$format "$tmp/trace" 2>"$tmp/err"
		echo $? >"$tmp/exit"
	} | head -c 100 >/dev/null
	expect_exit "chainwalk --format=$format | head -c 100" "0 141" "$(cat "$tmp/exit")"
	expect "chainwalk --format=$format | head -c 100, standard error" "" "$(cat "$tmp/err")"
done

awk 'BEGIN { for (i = 0; i < 20000; i++) printf "main;f%.0f;g%.0f 100\n", i % 200, i }' >"$tmp/folded"
{
	timeout 300 "$flame" --minwidth 0 "$tmp/folded" 2>"$tmp/err"
	echo $? >"$tmp/exit"
} | head -c 100 >/dev/null
expect_exit "flamegraph | head -c 100" "0 141" "$(cat "$tmp/exit")"
expect "flamegraph | head -c 100, standard error" "" "$(cat "$tmp/err")"

{
	timeout 300 "$cap" -o - 600 2>"$tmp/err"
	echo $? >"$tmp/exit"
} | head -c 100000 >/dev/null
expect_exit "chaincap -o - 600 | head, long before the 600 s are over" "0 1 141" "$(cat "$tmp/exit")"
