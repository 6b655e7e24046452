#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Switches and wakings are recorded from one moment on and up to one, which is the trace's end: beside a
# pair of threads that wake each other all the time there is no stretch with switches alone, and none
# without events at the end.
. "$(dirname "$0")/lib.sh"
needs_bpf

# A program that was attached a millisecond before the other would have a hundred switches to itself.
alone_most=8
# The host may take the CPU just before the end, but not each time.
gap_most=2000000
gap_least=
for _ in 1 2 3; do
	busy 20
	started="$started $!"
	sleep 0.3
	"$cap" -o "$tmp/trace" 0.3 2>"$tmp/err"
	expect_exit "chaincap 0.3" 0 $?
	kill $! && wait $! 2>/dev/null
	"$walk" -q --format=events "$tmp/trace" | grep '\[000\] \(switch\|waking\) ' >"$tmp/events"
	expect_at_least "events on CPU 0" 1000 "$(wc -l <"$tmp/events")"
	# Of the pair alone, and when one of them falls asleep: others switch without being woken.
	grep 'switch p[io]ng/[0-9]* S -> \|waking .* -> p[io]ng/' "$tmp/events" >"$tmp/pair"
	expect_at_least "events of the pair on CPU 0" 500 "$(wc -l <"$tmp/pair")"
	for end in first last; do
		alone=$(if [ $end = first ]; then cat "$tmp/pair"; else tac "$tmp/pair"; fi |
			awk '$3 == "waking" { exit } { n++ } END { printf "%.0f\n", n }')
		expect_at_most "switches without a waking, $end" $alone_most "$alone" "$tmp/err"
	done
	last=$(awk 'END { sub(/[.]/, "", $1); sub(/^0*/, "", $1); print $1 }' "$tmp/events")
	gap=$(($(duration "$tmp/trace") - last))
	expect_at_least "from the last event to the end" 0 $gap
	[ "$gap_least" ] && [ "$gap_least" -le $gap ] || gap_least=$gap
done
expect_at_most "from the last event to the end, ns, at the least" $gap_most "$gap_least"
