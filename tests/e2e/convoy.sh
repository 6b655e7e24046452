#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Four threads queue for one mutex: each waits for the work of the three others, one after the other.
. "$(dirname "$0")/lib.sh"
needs_bpf
rounds=20
record "$tmp/trace" convoy --threads 4 --work 2000 --rounds $rounds
for name in convoy0 convoy1 convoy2 convoy3; do
	walk_to "$tmp/folded" --state=all -t "$(tid $name)" "$tmp/trace"
	expect_near "$name: all of its waits" "$(told $name waited_ns)" \
		"$(weight_of ';convoy_waits;' "$tmp/folded")" $rounds "$tmp/folded"
	grep ';convoy_waits;.*;--;' "$tmp/folded" | skeleton '^convoy_(waits|unlocks)$' >"$tmp/chains"
	# The work of each of the others, at a link of its own. On a busy machine those that were let in
	# first may have worked before this one got to sleep.
	for links in 1 2 3; do
		awk -v links=$links -F';--;' '/\[running\] / && NF == links + 1' "$tmp/chains" >"$tmp/at"
		work=$(weight_of . "$tmp/at")
		expect_at_most "$name: work at link $links" $((rounds * 2800000)) "$work" "$tmp/chains"
		expect_at_least "$name: work at link $links" $((rounds * 1600000 / (links * 3 - 2))) \
			"$work" "$tmp/chains"
	done
	expect "$name: chains of more than three links" "" \
		"$(awk -F';--;' 'NF > 4' "$tmp/chains" | grep -v chainload)"
	awk -v name=$name -F'[; ]' '
		{ split("", seen); seen[name] = 1
		  for (i = 2; i <= NF; i++) if ($i ~ /^convoy[0-9]$/ && seen[$i]++) print }' \
		"$tmp/chains" >"$tmp/twice"
	expect "$name: chains in which a thread comes twice" "" "$(cat "$tmp/twice")"
done
