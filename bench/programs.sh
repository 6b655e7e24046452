#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# How long the BPF programs run for each switch and each waking (run_time.sh). Medians of ROUNDS; several builds
# are measured in turn.
#   bench/programs.sh ROUNDS BUILD_DIR [BUILD_DIR...]
#   WORKLOADS="pipe messaging mariadb"   as in overhead.sh; mariadb is left out if it is not installed
set -eu
# shellcheck source=bench/run_time.sh
. "$(dirname "$0")/run_time.sh"
rounds=$1
shift
start_workloads
sysctl -q kernel.bpf_stats_enabled=1
for round in $(seq "$rounds"); do
	for w in $workloads; do
		for O; do
			run_times_of "$w" "$O/chaincap" -v >"$dir/times"
			walked=$(sed -n 's/^chaincap: kernel stacks: \([0-9]*\) known without a walk, \([0-9]*\) walked.*/\1 \2/p' "$dir/err")
			while read -r name ns runs; do
				case $name in
				on_switch | on_waking) echo "$w $O ${name#on_} $((ns / runs)) $walked" ;;
				esac
			done <"$dir/times"
		done
	done
	[ ! -t 2 ] || printf '\rround %d of %d' "$round" "$rounds" >&2
done >"$dir/all"
[ ! -t 2 ] || printf '\r\033[K' >&2
echo "rounds $rounds, kernel $(uname -r), $(nproc) CPUs, $(date +%F), load $(cut -d' ' -f1 /proc/loadavg)"
sort -k1,1 -k2,2 -k3,3 -k4,4n "$dir/all" | awk '
	{ key = $1 " " $2 " " $3 }
	key != last { if (last) tell(); n = 0; last = key; walked = known = 0 }
	{ v[++n] = $4; known += $5; walked += $6 }
	END { tell() }
	function tell() {
		split(last, part, " ")
		printf "%-10s %-7s %6.0f ns (%.0f..%.0f), kernel stacks walked: %.1f %%  %s\n", part[1], part[3],
			n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2, v[1], v[n],
			walked * 100 / (known + walked), part[2]
	}'
