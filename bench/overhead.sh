#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What recording costs, beside perf, in one run: rounds of every recorder in turn, medians.
#   bench/overhead.sh BUILD_DIR [ROUNDS]
# pipe: perf bench sched pipe on one CPU, the recorder free to use the others; an operation is two
# switches and one waking. messaging: perf bench sched messaging, all CPUs.
set -eu
O=$(cd "$1" && pwd)
rounds=${2:-5}
loops=${LOOPS:-200000}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
if [ "$(id -u)" != 0 ]; then
	echo "bench: needs root" >&2
	exit 1
fi

pipe() { taskset -c 0 perf bench --format simple sched pipe -l "$loops"; }
messaging() { perf bench --format simple sched messaging -g 10 -l 400; }
export -f pipe messaging
export loops

# $1 recorder, $2 workload: seconds, events, bytes, lost, recorder's CPU seconds, seconds to finish
run() {
	local trace=$dir/trace s=0 e=0 b=0 l=0 end
	rm -f "$trace"
	case $1 in
	none) s=$($2) ;;
	chaincap | chaincap-K)
		local opt=
		[ "$1" = chaincap-K ] && opt=-K
		# shellcheck disable=SC2086 # an option or nothing
		"$O/chaincap" $opt -o "$trace" -- bash -c "$2" >"$dir/out" 2>"$dir/err"
		s=$(cat "$dir/out")
		e=$(sed -n 's/^chaincap: \([0-9]*\) events.*/\1/p' "$dir/err")
		l=$(sed -n 's/.* \([0-9]*\) lost.*/\1/p' "$dir/err")
		b=$(stat -c %s "$trace")
		;;
	perf)
		perf record -q -a -g -e sched:sched_switch -e sched:sched_waking -o "$trace" -- bash -c "$2" >"$dir/out" 2>"$dir/err" || true
		s=$(cat "$dir/out")
		b=$(stat -c %s "$trace")
		perf report -i "$trace" --stats >"$dir/stats" 2>/dev/null || true
		e=$(awk '$1 == "SAMPLE" && $2 == "events:" { print $3; exit }' "$dir/stats")
		l=$(awk '$1 ~ /^LOST/ { n += $3 } END { print n + 0 }' "$dir/stats")
		;;
	esac
	echo "$1 $2 $s ${e:-0} $b ${l:-0}"
}

echo "rounds $rounds, pipe loops $loops, kernel $(uname -r), $(nproc) CPUs"
for round in $(seq "$rounds"); do
	for recorder in none chaincap chaincap-K perf; do
		for workload in pipe messaging; do
			run "$recorder" "$workload"
		done
	done
	[ ! -t 2 ] || printf '\rround %d of %d' "$round" "$rounds" >&2
done >"$dir/all"
[ ! -t 2 ] || printf '\r\033[K' >&2

awk -v loops="$loops" '
function median(key,    n, i, j, t, v) {
	n = split(list[key], v, " ")
	for (i = 2; i <= n; i++) for (j = i; j > 1 && v[j] + 0 < v[j - 1] + 0; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
	return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}
{
	list[$1 $2 "s"] = list[$1 $2 "s"] " " $3
	list[$1 $2 "e"] = list[$1 $2 "e"] " " $4
	list[$1 $2 "b"] = list[$1 $2 "b"] " " ($4 ? $5 / $4 : 0)
	list[$1 $2 "l"] = list[$1 $2 "l"] " " $6
}
END {
	n = split("none chaincap chaincap-K perf", rec, " ")
	printf "%-10s %-11s %9s %9s %12s %12s %12s\n", "workload", "recorder", "seconds", "slower", "ns/event", "bytes/event", "lost"
	for (w = 1; w <= 2; w++) {
		work = w == 1 ? "pipe" : "messaging"
		base = median("none" work "s")
		for (r = 1; r <= n; r++) {
			s = median(rec[r] work "s"); e = median(rec[r] work "e")
			added[rec[r] work] = e ? (s - base) * 1e9 / (w == 1 ? loops * 3 : e) : 0
			printf "%-10s %-11s %9.3f %8.0f%% %12s %12s %12s\n", work, rec[r], s, (s / base - 1) * 100,
				e && w == 1 ? sprintf("%.0f", added[rec[r] work]) : "-",
				e ? sprintf("%.1f", median(rec[r] work "b")) : "-", e ? median(rec[r] work "l") : "-"
		}
	}
	if (added["perfpipe"] > 0)
		printf "pipe: chaincap adds %.2f times what perf adds per event\n", added["chaincappipe"] / added["perfpipe"]
}' "$dir/all"
