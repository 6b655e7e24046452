#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The figures of a row of causes are of what stands beside them: of clients that live for one question each LONGEST is the
# longest, by the client's own clock, and the rows' examples are different waits; what the server ran has a share for each
# of the two functions in which the samples part.
# Beside another: the server works for a time on the CPU, whatever else runs.
. "$(dirname "$0")/lib.sh"
needs_bpf
build_slow answers
for try in 1 2 3; do
	first_screen "$tmp/answers"
	timeout 300 "$walk" -q -f causes --json "$tmp/trace" 2>"$tmp/err" >"$tmp/json"
	expect_exit "chainwalk -f causes --json" 0 $?
	grep '"cause":"server/[0-9]* ran' "$tmp/json" >"$tmp/row"
	# Until the rules of the code have been read, stacks are cut.
	grep -q 'spin_cheap' "$tmp/row" && break
	echo "note: try $try: no row with the functions: $(cat "$tmp/row")"
done
expect "rows of what the server ran" 1 "$(wc -l <"$tmp/row" | tr -d ' ')"
longest=$(sed 's/.*"longest_ns":\([0-9]*\).*/\1/' "$tmp/row")
# Nearly all of 300 ms of its CPU time; by the trace's clock no longer than a client was there.
expect_at_least "LONGEST of what the server ran" 270000000 "$longest" "$tmp/all"
expect_at_most "LONGEST of what the server ran" "$(told longest_ns)" "$longest" "$tmp/all"
sed 's/.*"example":"\([^"]*\)".*/\1/' "$tmp/json" | head -n 3 | sort | uniq -d >"$tmp/twice"
expect "examples that two of the first three rows have" "" "$(cat "$tmp/twice")"
# The example is one of the three long waits.
sed -n 's/.*"example":"\(chainwalk [^"]*\)".*/\1/p' "$tmp/row" | sed "s|^chainwalk|$walk -q --unit=ns|" >"$tmp/example"
sh "$tmp/example" >"$tmp/tree" 2>"$tmp/err"
expect_exit "the example: $(cat "$tmp/example")" 0 $?
slept=$(awk '{ for (i = 1; i < NF; i++) if ($i == "slept") { print $(i + 1); exit } }' "$tmp/tree")
expect_at_least "ns that the example slept" 270000000 "$slept" "$tmp/tree"
# 55 % and 45 %; of some 30 samples, those of 900 ms at 49 Hz without the first ones, so four deviations are 36 %.
cheap=$(sed 's/.* \([0-9]*\) % spin_cheap.*/\1/' "$tmp/row") dear=$(sed 's/.* \([0-9]*\) % spin_dear.*/\1/' "$tmp/row")
expect_at_least "% of spin_cheap" 20 "$cheap" "$tmp/row"
expect_at_most "% of spin_cheap" 90 "$cheap" "$tmp/row"
expect_at_least "% of both" 90 $((cheap + dear)) "$tmp/row"
expect_at_most "% of both" 101 $((cheap + dear)) "$tmp/row"
