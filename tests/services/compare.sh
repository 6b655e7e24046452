#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# That a service is slow for the cause that README.md tells: its clients' figures, with the cause and without.
#   compare.sh [SECONDS [NAME...]]
# The machine should have nothing else to do; "nice -n -15" helps where it has.
set -u
LC_ALL=C
export LC_ALL
seconds=${1:-6}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- python node go c java postgresql
run=$(dirname "$0")/run.sh
printf '%-12s %-8s %8s %10s %10s %10s %10s\n' service cause count p50_us p90_us p99_us max_us
for name; do
	for how in '' -H; do
		# shellcheck disable=SC2086 # no option is no word
		sh "$run" $how "$name" "$seconds" | awk -v name="$name" -v cause="$([ "$how" ] && echo without || echo with)" '
			{ value[$1] = $2 }
			END { printf "%-12s %-8s %8.0f %10.1f %10.1f %10.1f %10.1f\n", name, cause, value["count"],
				value["p50_us"], value["p90_us"], value["p99_us"], value["max_us"] }'
	done
done
