#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The first screen of all recordings fits terminals from 60 to 200 columns: no line is longer, but for commands with long
# paths, and at 24 lines there are at most 22. It has bars of ASCII where the locale is not UTF-8, and --show N has the
# example of a row.
. "$(dirname "$0")/lib.sh"
command -v script >/dev/null || skip "script (util-linux) is not installed"
data=$(dirname "$0")/../data
seen=0
for trace in "$data"/*.bin "$data"/services/*.bin; do
	for columns in 60 80 100 120 200; do
		LC_ALL=C script -qec "stty cols $columns rows 24; $walk -q --all $trace" /dev/null </dev/null 2>"$tmp/err" |
			tr -d '\r' >"$tmp/out"
		expect_at_most "$trace on $columns columns: lines" 22 "$(wc -l <"$tmp/out")" "$tmp/out"
		widest=$(grep -v ': chainwalk ' "$tmp/out" | awk '{ if (length > max) max = length } END { printf "%.0f\n", max }')
		expect_at_most "$trace on $columns columns: width" "$columns" "$widest" "$tmp/out"
		! LC_ALL=C grep -n '[^ -~]' "$tmp/out" || fail "$trace: not ASCII"
		seen=$((seen + 1))
	done
done
expect_at_least "screens" 100 "$seen"
trace=$data/services/c.bin
LC_ALL=C.UTF-8 script -qec "stty cols 80 rows 24; $walk -q $trace" /dev/null </dev/null | tr -d '\r' >"$tmp/out"
grep -q '^  1 .*█' "$tmp/out" || fail "no bars: $(cat "$tmp/out")"
"$walk" -q --show 1 "$trace" >"$tmp/shown"
grep -q '^ *woken by redis-server .*, which ran' "$tmp/shown" || fail "--show 1: $(head -n 20 "$tmp/shown")"
"$walk" -q --show 100000 "$trace" >"$tmp/out" 2>"$tmp/err"
expect_exit "--show of a cause that is not there" 1 $?
expect_one_line "--show of a cause that is not there"
"$walk" -q -f tree --show 1 "$trace" >"$tmp/out" 2>"$tmp/err"
expect_exit "--show with --format=tree" 2 $?
