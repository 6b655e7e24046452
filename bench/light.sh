#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a light recording costs beside a whole one: alternate.sh for one workload after the other, then a table with what
# is aimed at. It wants a machine that does nothing else.
#   bench/light.sh BUILD_DIR [TURNS]   TURNS: for each workload, as many as there is time for if left out
#   MINUTES=12    for all workloads together, with their starts
#   WORKLOADS="redis pgbench mariadb nginx echo pipe idle"   loads.sh; what is not installed is left out by name
#   WINDOW=0.3 SETTLE=0.2   as there
# Goals: at most 0.2 of what the whole one loses on each; below 1 % on the servers; 0.1 % of the CPUs of an idle machine;
# below 64 MiB. "unclear": twice its standard error is as large as what is to be told.
set -eu
here=$(dirname "$0")
# shellcheck source=bench/loads.sh
. "$here/loads.sh"
export RECORDERS="chaincap-light chaincap"
workloads='' n=0
for workload in ${WORKLOADS:-redis pgbench mariadb nginx echo pipe idle}; do
	missing=$(load_missing "$workload" | tr '\n' ' ')
	if [ "$missing" ]; then
		echo "left out: $workload: no $missing"
	else
		workloads="$workloads $workload" n=$((n + 1))
	fi
done
# A server's start and end, and the turns that look at CPU times, take some 20 s.
LAST=$(awk -v minutes="${MINUTES:-12}" -v n="$n" 'BEGIN { s = minutes * 60 / (n ? n : 1) - 20; printf "%.0f", s < 1 ? 1 : s }')
export LAST
for workload in $workloads; do
	WORKLOAD=$workload bash "$here/alternate.sh" "$1" "${2:-1000}" | sed "s/^/$workload: /"
done | tee >(cat >&2) | awk '
function told(value, error, most) {
	return value + 2 * error <= most ? "yes" : value - 2 * error > most ? "NO" : "unclear"
}
$2 == "chaincap-light" && NF == 8 { name[++n] = $1; light[n] = $3; of_light[n] = $4; cpu[n] = $6 + $7; mib = mib > $8 ? mib : $8 }
$2 == "chaincap" && NF == 8 { whole[n] = $3; of_whole[n] = $4; whole_cpu[n] = $6 + $7 }
END {
	printf "%-9s %8s %6s %8s %6s %7s %6s  %-8s %-7s %11s %11s\n", "", "light %", "+-", "whole %", "+-", "ratio", "+-", "<= 0.2", "< 1 %", "CPU light %", "CPU whole %"
	for (i = 1; i <= n; i++) {
		sub(/:$/, "", name[i])
		if (name[i] == "idle") {
			printf "%-9s %64s %11.2f %11.2f   0.1 %%: %s\n", name[i], "", cpu[i], whole_cpu[i], cpu[i] <= 0.1 ? "yes" : "NO"
			continue
		}
		printf "%-9s %8.2f %6.2f %8.2f %6.2f", name[i], light[i], of_light[i], whole[i], of_whole[i]
		if (whole[i] > 2 * of_whole[i]) {
			ratio = light[i] / whole[i]
			error = sqrt((of_light[i] / whole[i]) ^ 2 + (ratio * of_whole[i] / whole[i]) ^ 2)
			printf " %7.3f %6.3f  %-8s", ratio, error, told(ratio, error, 0.2)
		} else
			printf " %7s %6s  %-8s", "-", "-", "unclear"
		printf " %-7s %11.2f %11.2f\n", name[i] ~ /^(redis|pgbench|mariadb|nginx)/ ? told(light[i], of_light[i], 1) : "-", cpu[i], whole_cpu[i]
	}
	printf "memory %.0f MiB, < 64: %s\n", mib, mib < 64 ? "yes" : "NO"
}'
