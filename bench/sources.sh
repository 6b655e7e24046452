#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What each source of a recording costs in the kernel, as a share of the CPU time: the run time of its BPF
# programs by the kernel's own measure (sysctl kernel.bpf_stats_enabled, which costs some 40 ns a run itself).
# What a source does within the programs for switches and wakings is the difference to these without it.
# Medians of ROUNDS (3).
#   bench/sources.sh BUILD_DIR [ROUNDS]
#   WORKLOADS="pipe messaging mariadb"   as in overhead.sh; mariadb is left out if it is not installed
# pipe's share is of one CPU, as both ends are on one; the others' of all.
set -eu
export LC_ALL=C # the decimal point
# shellcheck source=bench/mariadb.sh
. "$(dirname "$0")/mariadb.sh"
O=$(cd "$1" && pwd)
rounds=${2:-3}
workloads=${WORKLOADS:-pipe messaging mariadb}
dir=$(mktemp -d)
export dir
clean_up() {
	sysctl -q kernel.bpf_stats_enabled="$enabled"
	mariadb_stop
	rm -rf "$dir"
}
enabled=$(sysctl -n kernel.bpf_stats_enabled)
# shellcheck source=bench/begin.sh
. "$(dirname "$0")/begin.sh"

pipe() { taskset -c 0 perf bench --format simple sched pipe -l 100000; }
messaging() { perf bench --format simple sched messaging -g 10 -l 300; }
mariadb() { mariadb_load 3000; }
# run WORKLOAD: how long it took, in us, and then the programs of this very recorder, which is the parent: others
# may be recording, too.
run() {
	local from=${EPOCHREALTIME/./}
	"$1" >/dev/null
	echo $((${EPOCHREALTIME/./} - from)) >"$dir/us"
	cat /proc/$PPID/fdinfo/* 2>/dev/null | sed -n 's/^prog_id:[[:space:]]*//p' >"$dir/ids"
	bpftool prog show -j >"$dir/programs"
}
export -f pipe messaging mariadb run mariadb_load mariadb_sysbench

case " $workloads " in *" mariadb "*)
	if [ -z "$(mariadb_missing)" ]; then
		mariadb_start
	else
		echo "left out: mariadb: no $(mariadb_missing | tr '\n' ' ')"
		workloads=${workloads/mariadb/}
	fi
	;;
esac
sysctl -q kernel.bpf_stats_enabled=1
# "WORKLOAD ROUND WITHOUT US PROGRAM NS RUNS"
for round in $(seq "$rounds"); do
	for w in $workloads; do
		for without in nothing no-objects no-irq user; do
			case $without in
			nothing) option= ;;
			user) option=-K ;;
			*) option=--$without ;;
			esac
			"$O/chaincap" -q ${option:+"$option"} -o "$dir/trace" -- bash -c "run $w" >/dev/null 2>"$dir/err"
			tr '}' '\n' <"$dir/programs" |
				sed -n 's/.*"id":\([0-9]*\),.*"name":"\(on_[a-z_]*\)".*"run_time_ns":\([0-9]*\),"run_cnt":\([0-9]*\).*/\1 \2 \3 \4/p' |
				while read -r id name ns runs; do
					grep -qx "$id" "$dir/ids" || continue
					echo "$w $round $without $(cat "$dir/us") $name $ns $runs"
				done
		done
		[ ! -t 2 ] || printf '\rround %d of %d, %s ' "$round" "$rounds" "$w" >&2
	done
done >"$dir/all"
[ ! -t 2 ] || printf '\r\033[K' >&2

echo "rounds $rounds, kernel $(uname -r), $(nproc) CPUs, $(date +%F), load $(cut -d' ' -f1 /proc/loadavg)"
awk -v cpus="$(nproc)" -v workloads="$workloads" -v rounds="$rounds" '
function median(list,    n, i, j, t, v) {
	n = split(list, v, " ")
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && v[j] + 0 < v[j - 1] + 0; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
	return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}
# What the programs for switches and wakings took for a switch, in ns, of a recording without something.
function each(key) { return switches[key] ? ns[key " stacks"] / switches[key] : 0 }
{
	key = $1 " " $2 " " $3
	cpu[key] = $4 * 1000 * ($1 == "pipe" ? 1 : cpus)
	all[key] += $6
	source = $5 ~ /^on_(switch|waking|wakeup_new)$/ ? "stacks" : $5 == "on_sample" ? "samples" :
		$5 == "on_data" ? "objects" : $5 ~ /^on_disk_/ ? "disk" :
		$5 ~ /^on_(softirq|device_irq|timer_irq)/ ? "interrupts" : "others"
	ns[key " " source] += $6
	if ($5 == "on_switch")
		switches[key] = $7
}
END {
	split("samples,objects and readiness,disk requests,interrupts,user stacks,all programs", names, ",")
	split("samples objects disk interrupts user", own, " ")
	without["objects"] = "no-objects"
	without["interrupts"] = "no-irq"
	without["user"] = "user"
	n = split(workloads, work, " ")
	printf "%-22s", "percent of CPU time"
	for (w = 1; w <= n; w++)
		printf " %10s", work[w]
	printf "\n"
	for (s = 1; s <= 6; s++) {
		printf "%-22s", names[s]
		for (w = 1; w <= n; w++) {
			list = ""
			for (r = 1; r <= rounds; r++) {
				key = work[w] " " r " "
				full = key "nothing"
				cost = s == 6 ? all[full] : ns[full " " own[s]]
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
