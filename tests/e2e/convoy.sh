#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Four threads queue for one mutex: each waits for the work of the three others, one after the other.
. "$(dirname "$0")/lib.sh"
needs_bpf
rounds=10
record "$tmp/trace" convoy --threads 4 --work 2000 --rounds $rounds
for name in convoy0 convoy1 convoy2 convoy3; do
	walk_to "$tmp/folded" -t "$(tid $name)" "$tmp/trace"
	grep ';convoy_waits;.*;--;' "$tmp/folded" | skeleton '^convoy_(waits|unlocks)$' >"$tmp/chains"
	expect_near "$name: all of its waits" "$(told $name waited_ns)" \
		"$(weight_of . "$tmp/chains")" $rounds "$tmp/chains"
	# a third of it ends at each of the three links, in work
	for links in 1 2 3; do
		awk -v links=$links -F';--;' '/\[running\] / && NF == links + 1' "$tmp/chains" >"$tmp/at"
		expect_near "$name: work at link $links" $(($(told $name waited_ns) / 3)) \
			"$(weight_of . "$tmp/at")" $rounds "$tmp/chains"
	done
	awk -v name=$name -F'[; ]' '
		{ split("", seen); seen[name] = 1
		  for (i = 2; i <= NF; i++) if ($i ~ /^convoy[0-9]$/ && seen[$i]++) print }' \
		"$tmp/chains" >"$tmp/twice"
	expect "$name: chains in which a thread comes twice" "" "$(cat "$tmp/twice")"
done
