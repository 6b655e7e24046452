#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --light reads the stacks of threads asleep by their page tables: of huge pages as well; and while these pages are moved,
# taken away and given back, or while the process ends or becomes another program, stacks are right or are not there.
. "$(dirname "$0")/lib.sh"
needs_usual "light recordings"
# shellcheck source=tests/odd.sh
. "$(dirname "$0")/../odd.sh"
# All of their sleeps are fewer than those that timers end and that get stacks on one CPU, 50 in a tenth of a second, and
# longer than those of whatever else sleeps more often.
nap_ms=50
attackers plain memfd low high grows coroutine wild
wait_for_attackers
begin_recording "$tmp/trace" --light=500us
sleep 5
end_recording

judge_moving
for name in plain memfd low high grows; do
	# shellcheck disable=SC2154 # of odd.sh
	only $name ".*$begins;odd_naps;sleep_plainly;nanosleep;clock_nanosleep"
done
only coroutine ".*;coroutine;odd_begins;odd_middle;odd_swaps;odd_naps;sleep_plainly;nanosleep;clock_nanosleep"
# shellcheck disable=SC2154 # by eval
stacks "$pid_wild"
! grep -v ';sleep_anywhere$' "$tmp/stacks" | grep ';odd_' || fail "wild: functions by a stack pointer that is none"
