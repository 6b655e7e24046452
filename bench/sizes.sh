#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What an event takes in the trace, with all sources, without interrupts, without requests, and without what was
# waited for: bytes of the whole file for each switch and waking, names included, of servers under load.
#   bench/sizes.sh BUILD_DIR [SECONDS]
#   WORKLOADS="mariadb mariadb-write redis nginx-close"   loads.sh; what is not installed is left out by name
set -eu
export LC_ALL=C # the decimal point
# shellcheck source=bench/loads.sh
. "$(dirname "$0")/loads.sh"
O=$(cd "$1" && pwd)
seconds=${2:-5}
workloads=${WORKLOADS:-mariadb mariadb-write redis nginx-close}
dir=$(mktemp -d)
export dir
clean_up() {
	load_stop
	rm -rf "$dir"
}
# shellcheck source=bench/begin.sh
. "$(dirname "$0")/begin.sh"

# figure NAME: of the trace
figure() { awk -v name="$1:" '$1 == name { print $2 }' "$dir/info"; }

printf '%-14s %-13s %9s %11s %9s %11s %6s\n' workload recorder events bytes/event objects interrupts lost
for w in $workloads; do
	need=$(load_missing "$w" | tr '\n' ' ')
	if [ "$need" ]; then
		echo "left out: $w: no $need"
		continue
	fi
	load_start "$w"
	load_busy
	for option in '' --no-irq --no-requests --no-objects; do
		"$O/chaincap" ${option:+"$option"} -o "$dir/trace" "$seconds" 2>"$dir/err" >"$dir/out"
		"$O/chainwalk" -q -f info "$dir/trace" >"$dir/info"
		printf '%-14s %-13s %9d %11.1f %9d %11d %6d\n' "$w" "${option:-all sources}" "$(figure events)" \
			"$(figure bytes_per_event)" "$(figure objects)" "$(figure interrupts)" "$(figure lost)"
	done
	load_stop
done
echo "$seconds seconds each, kernel $(uname -r), $(nproc) CPUs, $(date +%F), load $(cut -d' ' -f1 /proc/loadavg)"
