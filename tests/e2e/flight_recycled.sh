#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Stacks stay right when the kernel side forgets old ones to make room for new ones, and gives its ids
# anew: rover's stacks are numbers, each one more than the one before.
. "$(dirname "$0")/lib.sh"
needs_bpf

# numbers FROM: of rover's waits from that second of the trace on, by the turns in their stacks
numbers() {
	"$walk" -q --format=json -c rover --from "$1" "$tmp/trace" 2>"$tmp/err" | awk '
		{
			at = index($0, "rover_goes_on")
			number = 0
			bit = 1
			rest = substr($0, at)
			while (match(rest, /rover_turns_(left|right)/)) {
				if (RLENGTH == 16) # left
					number += bit
				bit *= 2
				rest = substr(rest, RSTART + RLENGTH)
			}
			kernel = rest ~ /"kernel":\[[^]]*pipe_read/ ? "pipe_read" : "elsewhere"
			printf "%s %s\n", bit == 4294967296 && at ? sprintf("%.0f", number) : "unknown", kernel
		}'
}

# A recorder that is kept waiting loses nothing in rings as large.
fly "$tmp/trace" --flight 1s --verify --buffer-size 64M
# three times as many as the kernel side remembers
"$load" stacks --hops pipe --rounds 200000 --seconds 600 >"$tmp/told" || fail "stacks"
end_recording
expect_whole "$tmp/trace"
grep -q 'verified: [0-9]* kernel stacks, 0 mismatches; [0-9]* user stacks, 0 mismatches' "$tmp/err.cap" ||
	fail "stacks were taken for others: $(tail -n 1 "$tmp/err.cap")"
[ "$lost" = 0 ] || skip "this machine is too busy: $lost events were lost"
only_plain "the last second, which is over before the recorder has read it"
numbers 0 | tail -n 20001 | head -n 20000 >"$tmp/numbers"
# before it, it did not wait yet or other events stand in the way
awk '
	$1 == "unknown" || $2 != "pipe_read" { wrong++ }
	NR > 1 && $1 != last + 1 { skipped++ }
	{ last = $1 }
	END { printf "%.0f %.0f %.0f\n", NR, wrong, skipped }' "$tmp/numbers" >"$tmp/result"
read -r waits wrong skipped <"$tmp/result"
echo "note: $waits waits, up to number $(tail -n 1 "$tmp/numbers" | cut -d' ' -f1)"
[ "$waits" -ge 2000 ] || skip "this machine is too busy: only $waits waits in the last second"
# One number more a wait, and those in the last second are the last ones.
expect_at_least "the last number" 190000 "$(tail -n 1 "$tmp/numbers" | cut -d' ' -f1)"
expect "stacks that are not rover's in pipe_read" 0 "$wrong"
# A wait that was over before it began is none: rover then went on to the next number. It is over as often as rover
# is preempted before it.
expect_at_most "numbers that do not follow the one before" $((waits / 2)) "$skipped" "$tmp/result"
awk 'NR > 1 && $1 <= last { print "after", last, "comes", $1 } { last = $1 }' "$tmp/numbers" >"$tmp/back"
expect "numbers that go back" "" "$(head -3 "$tmp/back")"
