#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# How long each of the BPF programs runs (run_time.sh), how often for each switch, and what that is for each
# switch. Medians of ROUNDS, with the least and the most of ns a run; several builds are measured in turn.
#   bench/programs.sh ROUNDS BUILD_DIR [BUILD_DIR...]
#   WORKLOADS="pipe messaging mariadb"   as in overhead.sh; mariadb is left out if it is not installed
# Programs that take less than a nanosecond for each switch are only in the sum.
set -eu
# shellcheck source=bench/run_time.sh
. "$(dirname "$0")/run_time.sh"
rounds=$1
shift
start_workloads
run_times_on
for round in $(seq "$rounds"); do
	for w in $workloads; do
		for O; do
			run_times_of "$w" "$O/chaincap" -v >"$dir/times"
			walked=$(sed -n 's/^chaincap: kernel stacks: \([0-9]*\) known without a walk, \([0-9]*\) walked.*/\1 \2/p' "$dir/err")
			sed "s|^on_|$round $w $O |" "$dir/times"
			echo "$round $w $O walks $walked"
		done
	done
	[ ! -t 2 ] || printf '\rround %d of %d' "$round" "$rounds" >&2
done >"$dir/all"
[ ! -t 2 ] || printf '\r\033[K' >&2
echo "rounds $rounds, kernel $(uname -r), $(nproc) CPUs, $(date +%F), load $(cut -d' ' -f1 /proc/loadavg)"
awk "$(cat "$(dirname "$0")/median.awk")"'
{ place = $2 " " $3 }
!(place in seen) { seen[place]; places[++n_places] = place }
$4 == "walks" { known[place] += $5; walked[place] += $6; next }
!(place " " $4 in seen) { seen[place " " $4]; programs[place] = programs[place] " " $4 }
{ ns[$1 " " place " " $4] += $5; runs[$1 " " place " " $4] += $6; all[$1 " " place] += $5; rounds = $1 }
END {
	printf "%-10s %-14s %8s %14s %13s %12s  %s\n", "workload", "program", "ns a run", "", "runs a switch", "ns a switch", "build"
	for (p = 1; p <= n_places; p++) {
		place = places[p]
		split(place, part, " ")
		n = split(programs[place], name, " ")
		sum = ""
		for (i = 1; i <= n; i++) {
			each = often = cost = ""
			for (r = 1; r <= rounds; r++) {
				key = r " " place " "
				if (!runs[key name[i]] || !runs[key "switch"])
					continue
				each = each " " ns[key name[i]] / runs[key name[i]]
				often = often " " runs[key name[i]] / runs[key "switch"]
				cost = cost " " ns[key name[i]] / runs[key "switch"]
			}
			if (cost == "" || median(cost) < 1)
				continue
			last = sorted(each, v)
			printf "%-10s %-14s %8.0f %14s %13.3f %12.0f  %s\n", part[1], name[i], median(each),
				sprintf("(%.0f..%.0f)", v[1], v[last]), median(often), median(cost), part[2]
		}
		for (r = 1; r <= rounds; r++)
			sum = sum " " all[r " " place] / runs[r " " place " switch"]
		printf "%-10s %-14s %50.0f  %s, kernel stacks walked: %.1f %%\n", part[1], "all", median(sum), part[2],
			walked[place] * 100 / (known[place] + walked[place])
	}
}' "$dir/all"
