#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Everything is recorded from one moment on and up to one. No event lies outside of these moments, although the
# programs are attached before the one and detached after the other: an event there would move the begin or the
# end of the trace to itself. And nothing is missing within them: beside a pair of threads that wake each other all
# the time there is no stretch with switches alone. (../speed/last_event.sh: and none without events at the end.)
. "$(dirname "$0")/lib.sh"
needs_bpf

# time_of LINE: of an event, in ns from the trace's begin
time_of() {
	awk '{ sub(/[.]/, "", $1); sub(/^0*/, "", $1); printf "%.0f\n", $1 }' <<-END
		$1
	END
}

# expect_no_later TRACE: no event lies at its end, or behind it; leaves $tmp/all and $length.
expect_no_later() {
	"$walk" -q --format=events "$1" >"$tmp/all"
	length=$(duration "$1")
	expect_at_least "$1: ns from the last event of all to the end" 1 $((length - $(time_of "$(tail -n 1 "$tmp/all")")))
}

# A program that was attached a millisecond before the other would have a hundred switches to itself.
alone_most=8
busy 600
started="$started $!"
sleep 0.3
"$cap" -o "$tmp/trace" 0.3 2>"$tmp/err"
expect_exit "chaincap 0.3" 0 $?
kill $! && wait $! 2>/dev/null
expect_no_later "$tmp/trace"
# The end is that of the recording, so what is too long was added at the begin.
expect "length of chaincap 0.3, ns" 300000000 "$length"
grep '\[000\] \(switch\|waking\) ' "$tmp/all" >"$tmp/events"
expect_at_least "events on CPU 0" 1000 "$(wc -l <"$tmp/events")"
# Of the pair alone, and when one of them falls asleep: others switch without being woken.
grep 'switch p[io]ng/[0-9]* S -> \|waking .* -> p[io]ng/' "$tmp/events" >"$tmp/pair"
expect_at_least "events of the pair on CPU 0" 500 "$(wc -l <"$tmp/pair")"
for end in first last; do
	alone=$(if [ $end = first ]; then cat "$tmp/pair"; else tac "$tmp/pair"; fi |
		awk '$3 == "waking" { exit } { n++ } END { printf "%.0f\n", n }')
	expect_at_most "switches without a waking, $end" $alone_most "$alone" "$tmp/err"
done

# An end that was not known beforehand.
busy 600
started="$started $!"
begin_recording "$tmp/until"
sleep 0.3
end_recording
expect_no_later "$tmp/until"
