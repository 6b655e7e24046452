#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Four threads queue for one mutex: each waits for the work of the three others, one after the other.
# Beside another: it judges the chains and stacks of its own threads.
. "$(dirname "$0")/lib.sh"
needs_bpf
rounds=20
threads='convoy0 convoy1 convoy2 convoy3'
record "$tmp/trace" convoy --threads 4 --work 2000 --rounds $rounds
for name in $threads; do
	walk_to "$tmp/folded" --state=all -t "$(tid $name)" "$tmp/trace"
	expect_waits "$name: all of its waits" $name "$(weight_of ';convoy_waits;.*;--;' "$tmp/folded")" $rounds "$tmp/trace"
	grep ';convoy_waits;.*;--;' "$tmp/folded" | skeleton '^convoy_(waits|unlocks)$' >"$tmp/chains"
	# Another one ran for no longer than it was held (told in lib.sh), and for 200 us each time to fall asleep.
	# This one waits for all the work of the others but what they do while it is held without working itself,
	# and before it comes for the first time and after it has left: three works at most.
	work=0 running=0
	for other in $threads; do
		[ $other != $name ] || continue
		ran=$(weight_of ";$other;\[running\] " "$tmp/chains")
		expect_at_most "$name: $other running, and held" $(($(told $other held_ns) + rounds * 200000)) \
			"$ran" "$tmp/chains"
		running=$((running + ran)) work=$((work + $(told $other cpu_ns)))
	done
	missed=$(($(told $name held_ns) - $(told $name cpu_ns) + 3 * 2000000 + rounds * 200000))
	expect_at_least "$name: the others' work" $((work - missed)) "$running" "$tmp/chains"
	# Each at a link of its own. On a busy machine whoever is let in first may have done its work before
	# this one sleeps, but not in every round.
	for links in 1 2 3; do
		awk -v links=$links -F';--;' '/\[running\] / && NF == links + 1' "$tmp/chains" >"$tmp/at"
		expect_at_least "$name: work at link $links" 2000000 "$(weight_of . "$tmp/at")" "$tmp/chains"
	done
	# None comes twice, so that there are three links of theirs at most. More links than these are real: one
	# may have waited for a page of the program to be read from the disk.
	awk -v name=$name -F'[; ]' '
		{ split("", seen); seen[name] = 1
		  for (i = 2; i <= NF; i++) if ($i ~ /^convoy[0-9]$/ && seen[$i]++) print }' \
		"$tmp/chains" >"$tmp/twice"
	expect "$name: chains in which a thread comes twice" "" "$(cat "$tmp/twice")"
done
