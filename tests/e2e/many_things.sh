#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The time of each format grows with events and output: traces that have 20 000 endpoints, routes, threads, names,
# processes, groups, objects, buckets, CPUs or hosts take no more than seconds. Where it grew with the square, as that of
# requests with endpoints, it took 6 s; what is linear takes half of one.
. "$(dirname "$0")/lib.sh"
only_plain "seconds of CPU time"
sh "$(dirname "$0")/../../bench/many.sh" "$build" 20000 4 >"$tmp/table" 2>"$tmp/err" ||
	fail "too slow: $(cat "$tmp/table" "$tmp/err")"
# Each has a row with a figure for each format.
expect "kinds" 10 "$(sed 1d "$tmp/table" | awk 'NF >= 21' | wc -l)"
