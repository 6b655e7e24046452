# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034 # for who sources it
# The clock of each of two machines: asks.sh and answers.sh.

# What the clocks are made to do in each recording; see set_rate.
rates="alike apart away"

# set_rate RATE BY: the clocks go alike, or are set right by 200 ppm each, in directions that differ, or one goes faster
# by 1 %, which no clock may. BY: 1 or -1.
set_rate() {
	case $1.$2 in
	apart.*) adjtimex -q -t 10000 -f $(($2 * 200 * 65536)) ;;
	away.1) adjtimex -q -t 10100 -f 0 ;;
	*) adjtimex -q -t 10000 -f 0 ;;
	esac || fail "the clock's rate cannot be set"
}

# read_clock: $clock is CLOCK_MONOTONIC in ns, as the kernel says it, without another process.
read_clock() {
	{ read -r _ && read -r _ && read -r _ _ clock _; } </proc/timer_list
}
