#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A text of perf script in which lines are wrong or missing: the rest is read, the first of them is
# named by its number, the exit status is 3, and what they may have taken is [unknown].
. "$(dirname "$0")/lib.sh"

# event CPU MICROSECONDS THREAD TID TEXT
event() {
	printf '%s %5d [%03d]     1.%06d000: sched:sched_%s\n' "$3" "$4" "$1" "$2" "$5"
	printf '\tffffffff81399969 %s+0x29 ([kernel.kallsyms])\n\n' "${6:-schedule}"
}
switch() {
	event "$1" "$2" "$3" "$4" "switch: prev_comm=$3 prev_pid=$4 prev_prio=120 prev_state=$5 ==> next_comm=$6 next_pid=$7 next_prio=120" "${8:-}"
}
{
	switch 0 10 swapper 0 R A 101
	switch 1 20 swapper 0 R B 102
	switch 0 100 A 101 S swapper 0 recv
	event 1 500 B 102 'waking: comm=A pid=101 prio=120 target_cpu=000' send
	switch 0 530 swapper 0 R A 101
	switch 0 600 A 101 S swapper 0 recv
	event 1 700 B 102 'waking: comm=A pid=101 prio=120 target_cpu=000' send
	switch 0 730 swapper 0 R A 101
} >"$tmp/whole"
"$walk" -q -t 101 "$tmp/whole" >"$tmp/out" 2>"$tmp/err"
expect_exit "the whole text" 0 $?
expect "the whole text" 'A;recv;--;send;B;[running] 500
A;recv;[runnable] 60' "$(cat "$tmp/out")"

# damaged LINE SED_SCRIPT EXPECTED
damaged() {
	sed "$2" "$tmp/whole" >"$tmp/text"
	"$walk" -q -t 101 "$tmp/text" >"$tmp/out" 2>"$tmp/err"
	expect_exit "sed $2" 3 $?
	expect "sed $2" "$3" "$(cat "$tmp/out")"
	grep -q "line $1 " "$tmp/err" || fail "sed $2: line $1 is not named
$(cat "$tmp/err")"
}
# A waking that cannot be read may have been anybody's: the wait it was in is not shown at all.
damaged 10 '10s/pid=101 /pid= /' 'A;recv;--;send;B;[running] 100
A;recv;[runnable] 30'
# So may be a line that is nobody's: here it leaves open what A did after it was woken.
damaged 13 '12a what is this?' 'A;recv;--;send;B;[running] 500
A;recv;[runnable] 30'
# A frame that cannot be read is missing in its stack (here: all of it), and nothing else is.
damaged 11 '11s/ffffffff/gggggggg/' 'A;recv;--;[unknown stack];B;[running] 400
A;recv;--;send;B;[running] 100
A;recv;[runnable] 60'

# Cut off within a line: its last event is not believed to be whole.
head -c -20 "$tmp/whole" >"$tmp/text"
"$walk" -q "$tmp/text" >"$tmp/out" 2>"$tmp/err"
expect_exit "a text cut off" 3 $?
grep -q 'line 23' "$tmp/err" || fail "the last line is not named: $(cat "$tmp/err")"

# Told losses are in the summary, and no damage.
{ head -9 "$tmp/whole"; echo 'B   102 [001]     1.000300000: PERF_RECORD_LOST lost 9'; tail -n +10 "$tmp/whole"; } >"$tmp/text"
"$walk" -t 101 "$tmp/text" >"$tmp/out" 2>"$tmp/err"
expect_exit "a loss that perf tells of" 0 $?
grep -q ' 9 lost' "$tmp/err" || fail "the loss is not in the summary: $(cat "$tmp/err")"
grep -q 'perf lost events' "$tmp/err" || fail "no word of the loss: $(cat "$tmp/err")"

# What perf says on standard error is no damage, and what it says of losses is passed on.
{ cat "$tmp/whole"; printf 'Warning:\nProcessed 24 events and lost 2 chunks!\n\nCheck IO/CPU overload!\n'; } >"$tmp/text"
"$walk" -t 101 "$tmp/text" >"$tmp/out" 2>"$tmp/err"
expect_exit "perf's own messages" 0 $?
grep -q '2 chunks' "$tmp/err" || fail "no word of the chunks: $(cat "$tmp/err")"

# A stream without an end and without an event is given up.
yes 'not an event' | timeout 300 "$walk" - >"$tmp/out" 2>"$tmp/err"
expect_exit "an endless text" 1 $?
expect_one_line "an endless text"
