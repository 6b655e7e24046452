#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# How long the BPF programs run for each switch and each waking, by the kernel's own measure (sysctl
# kernel.bpf_stats_enabled, which costs some 40 ns a run itself): steadier than what a whole workload loses,
# on a machine that others use too. Medians of ROUNDS; several builds are measured in turn.
#   bench/programs.sh ROUNDS BUILD_DIR [BUILD_DIR...]
# Workloads as in overhead.sh: pipe, messaging, and mariadb if it is installed.
set -eu
export LC_ALL=C # the decimal point
# shellcheck source=bench/mariadb.sh
. "$(dirname "$0")/mariadb.sh"
rounds=$1
shift
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
# The programs of this very recorder: others may be recording, too. Its process is the parent.
look() {
	cat /proc/$PPID/fdinfo/* 2>/dev/null | sed -n 's/^prog_id:[[:space:]]*//p' >"$dir/ids"
	bpftool prog show -j >"$dir/programs"
}
export -f pipe messaging mariadb look mariadb_load mariadb_sysbench

workloads="pipe messaging"
if [ -z "$(mariadb_missing)" ]; then
	mariadb_start
	workloads="$workloads mariadb"
else
	echo "left out: mariadb: no $(mariadb_missing | tr '\n' ' ')"
fi
sysctl -q kernel.bpf_stats_enabled=1
for round in $(seq "$rounds"); do
	for w in $workloads; do
		for O; do
			"$O/chaincap" -v -o "$dir/trace" -- bash -c "$w; look" >/dev/null 2>"$dir/err"
			walked=$(sed -n 's/^chaincap: kernel stacks: \([0-9]*\) known without a walk, \([0-9]*\) walked.*/\1 \2/p' "$dir/err")
			tr '}' '\n' <"$dir/programs" | sed -n 's/.*"id":\([0-9]*\),.*"name":"on_\(switch\|waking\)".*"run_time_ns":\([0-9]*\),"run_cnt":\([0-9]*\).*/\1 \2 \3 \4/p' |
				while read -r id name ns runs; do
					grep -qx "$id" "$dir/ids" || continue
					echo "$w $O $name $((ns / runs)) $walked"
				done
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
