#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What each source of a recording costs in the kernel, as a share of the CPU time: the run time of its BPF
# programs (run_time.sh). What a source does within the programs for switches and wakings is the difference to
# these without it. Medians of ROUNDS (3).
#   bench/sources.sh BUILD_DIR [ROUNDS]
#   WORKLOADS="pipe messaging mariadb"   as in overhead.sh; mariadb is left out if it is not installed
# pipe's share is of one CPU, as both ends are on one; the others' of all.
set -eu
# shellcheck source=bench/run_time.sh
. "$(dirname "$0")/run_time.sh"
O=$(cd "$1" && pwd)
rounds=${2:-3}
start_workloads
run_times_on
# "WORKLOAD ROUND WITHOUT US PROGRAM NS RUNS"
for round in $(seq "$rounds"); do
	for w in $workloads; do
		for without in nothing no-objects no-irq user short; do
			case $without in
			nothing) options=() ;;
			user) options=(-K) ;;
			short) options=(--light 1ms) ;;
			*) options=("--$without") ;;
			esac
			run_times_of "$w" "$O/chaincap" -q "${options[@]}" |
				while read -r name ns runs; do
					echo "$w $round $without $(cat "$dir/us") $name $ns $runs"
				done
		done
		[ ! -t 2 ] || printf '\rround %d of %d, %s ' "$round" "$rounds" "$w" >&2
	done
done >"$dir/all"
[ ! -t 2 ] || printf '\r\033[K' >&2

echo "rounds $rounds, kernel $(uname -r), $(nproc) CPUs, $(date +%F), load $(cut -d' ' -f1 /proc/loadavg)"
awk -v cpus="$(nproc)" -v workloads="$workloads" -v rounds="$rounds" "$(cat "$(dirname "$0")/median.awk")"'
# What the programs for switches and wakings took for a switch, in ns, of a recording without something.
function each(key) { return switches[key] ? ns[key " stacks"] / switches[key] : 0 }
{
	key = $1 " " $2 " " $3
	cpu[key] = $4 * 1000 * ($1 == "pipe" ? 1 : cpus)
	all[key] += $6
	source = $5 ~ /^on_(switch|waking|wakeup_new|long_sleep)$/ ? "stacks" : $5 == "on_sample" ? "samples" : \
		$5 == "on_data" ? "objects" : $5 ~ /^on_disk_/ ? "disk" : \
		$5 ~ /^on_(softirq|device_irq|timer_irq)/ ? "interrupts" : "others"
	ns[key " " source] += $6
	if ($5 == "on_switch")
		switches[key] = $7
}
END {
	split("samples,objects and readiness,disk requests,interrupts,user stacks,of sleeps below 1 ms,all programs", names, ",")
	split("samples objects disk interrupts user short", own, " ")
	without["objects"] = "no-objects"
	without["interrupts"] = "no-irq"
	without["user"] = "user"
	without["short"] = "short"
	n = split(workloads, work, " ")
	printf "%-22s", "percent of CPU time"
	for (w = 1; w <= n; w++)
		printf " %10s", work[w]
	printf "\n"
	for (s = 1; s <= 7; s++) {
		printf "%-22s", names[s]
		for (w = 1; w <= n; w++) {
			list = ""
			for (r = 1; r <= rounds; r++) {
				key = work[w] " " r " "
				full = key "nothing"
				cost = s == 7 ? all[full] : ns[full " " own[s]]
				if (own[s] in without)
					cost += (each(full) - each(key without[own[s]])) * switches[full]
				list = list " " cost * 100 / cpu[full]
			}
			printf " %10.2f", median(list)
		}
		printf "\n"
	}
	printf "%-22s", "ns a switch, in all"
	for (w = 1; w <= n; w++) {
		list = ""
		for (r = 1; r <= rounds; r++)
			list = list " " all[work[w] " " r " nothing"] / switches[work[w] " " r " nothing"]
		printf " %10.0f", median(list)
	}
	printf "\n"
}' "$dir/all"
