#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What recording costs, beside perf, in one run: every recorder in turn, ROUNDS times, medians.
#   [WORKLOADS="pipe messaging mariadb"] bench/overhead.sh BUILD_DIR [ROUNDS]
# pipe: perf bench sched pipe on one CPU, the recorder free to use the others; an operation is two
# switches and one waking. messaging: perf bench sched messaging, all CPUs. mariadb: sysbench
# oltp_read_only with 8 threads on a server of its own, all CPUs (only if asked for and installed).
set -eu
O=$(cd "$1" && pwd)
rounds=${2:-5}
workloads=${WORKLOADS:-pipe messaging}
recorders="none chaincap chaincap-K perf"
export loops=${LOOPS:-200000} transactions=${TRANSACTIONS:-6000}
dir=$(mktemp -d)
export dir
server=
clean_up() {
	[ -z "$server" ] || { kill "$server" && wait "$server" || true; }
	rm -rf "$dir"
}
trap clean_up EXIT
trap 'exit 130' INT TERM
if [ "$(id -u)" != 0 ]; then
	echo "bench: needs root" >&2
	exit 1
fi

# Each prints the seconds that the same work took.
pipe() { taskset -c 0 perf bench --format simple sched pipe -l "$loops"; }
messaging() { perf bench --format simple sched messaging -g 10 -l 400; }
mariadb_bench() {
	sysbench oltp_read_only --mysql-socket="$dir/socket" --mysql-user=root --tables=2 \
		--table-size=20000 --threads=8 --time=0 --events="$transactions" "$@"
}
mariadb() { mariadb_bench run | sed -n 's/.*total time: *\([0-9.]*\)s.*/\1/p'; }
export -f pipe messaging mariadb mariadb_bench

start_mariadb() {
	mariadb-install-db --no-defaults --user=root --datadir="$dir/data" \
		--auth-root-authentication-method=normal >"$dir/install.log" 2>&1
	mariadbd --no-defaults --user=root --datadir="$dir/data" --socket="$dir/socket" \
		--skip-networking --pid-file="$dir/pid" >"$dir/server.log" 2>&1 &
	server=$!
	for _ in $(seq 100); do
		[ -S "$dir/socket" ] && break
		sleep 0.1
	done
	command mariadb --no-defaults -u root -S "$dir/socket" -e "create database sbtest"
	mariadb_bench prepare >/dev/null
}

# $1 recorder, $2 workload: seconds, events, bytes, lost, recorder's CPU s, its MiB, s to finish
run() {
	local trace=$dir/trace s=0 e=0 b=0 l=0 cpu=0 mib=0 late=0
	rm -f "$trace"
	case $1 in
	none) s=$($2) ;;
	chaincap*)
		local opt=
		[ "$1" = chaincap-K ] && opt=-K
		# shellcheck disable=SC2086 # an option or nothing
		"$O/chaincap" -v $opt -o "$trace" -- bash -c "$2" >"$dir/out" 2>"$dir/err"
		s=$(cat "$dir/out")
		e=$(sed -n 's/^chaincap: \([0-9]*\) events.*/\1/p' "$dir/err")
		l=$(sed -n 's/.* \([0-9]*\) lost.*/\1/p' "$dir/err")
		read -r cpu mib late < <(sed -n 's/^chaincap: recorder: \([0-9.]*\) s CPU, \([0-9]*\) MiB, finished \([0-9.]*\) s.*/\1 \2 \3/p' "$dir/err")
		b=$(stat -c %s "$trace")
		;;
	perf)
		perf record -q -a -g -e sched:sched_switch -e sched:sched_waking -o "$trace" \
			-- bash -c "$2" >"$dir/out" 2>"$dir/err" || true
		s=$(cat "$dir/out")
		b=$(stat -c %s "$trace")
		perf report -i "$trace" --stats >"$dir/stats" 2>/dev/null || true
		# perf 6.1 prints a block for all and one for each event: the first one counts.
		e=$(awk '/SAMPLE events:/ { print $3; exit }' "$dir/stats")
		l=$(awk '/LOST events:/ { n = $3; exit } END { print n + 0 }' "$dir/stats")
		;;
	esac
	echo "$1 $2 $s ${e:-0} $b ${l:-0} $cpu $mib $late"
}

case " $workloads " in *" mariadb "*) start_mariadb ;; esac
echo "rounds $rounds, pipe loops $loops, transactions $transactions, kernel $(uname -r), $(nproc) CPUs, $(date +%F)"
for round in $(seq "$rounds"); do
	for workload in $workloads; do
		for recorder in $recorders; do
			run "$recorder" "$workload"
		done
	done
	[ ! -t 2 ] || printf '\rround %d of %d' "$round" "$rounds" >&2
done >"$dir/all"
[ ! -t 2 ] || printf '\r\033[K' >&2

awk -v loops="$loops" -v workloads="$workloads" -v recorders="$recorders" '
function median(key,    n, i, j, t, v) {
	n = split(list[key], v, " ")
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && v[j] + 0 < v[j - 1] + 0; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
	return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}
{
	if ($1 == "none") base = $3
	key = $1 " " $2 " "
	list[key "s"] = list[key "s"] " " $3
	list[key "slower"] = list[key "slower"] " " ($3 / base - 1) * 100 # against its own round
	list[key "e"] = list[key "e"] " " $4
	list[key "b"] = list[key "b"] " " ($4 ? $5 / $4 : 0)
	list[key "l"] = list[key "l"] " " $6
	list[key "cpu"] = list[key "cpu"] " " $7
	list[key "mib"] = list[key "mib"] " " $8
	list[key "late"] = list[key "late"] " " $9
}
END {
	n = split(recorders, rec, " ")
	m = split(workloads, work, " ")
	format = "%-10s %-11s %8s %8s %9s %12s %9s %8s %6s %9s\n"
	printf format, "workload", "recorder", "seconds", "slower", "ns/event", "bytes/event", "lost", "own CPU", "MiB", "finish s"
	for (w = 1; w <= m; w++) {
		for (r = 1; r <= n; r++) {
			key = rec[r] " " work[w] " "
			s = median(key "s"); e = median(key "e"); own = rec[r] ~ /^chaincap/
			added[rec[r]] = (s - median("none " work[w] " s")) * 1e9 / (loops * 3)
			slower[rec[r]] = median(key "slower")
			printf format, work[w], rec[r], sprintf("%.3f", s), sprintf("%.0f%%", slower[rec[r]]),
				rec[r] != "none" && work[w] == "pipe" ? sprintf("%.0f", added[rec[r]]) : "-",
				e ? sprintf("%.1f", median(key "b")) : "-", e ? median(key "l") : "-",
				own ? sprintf("%.2f", median(key "cpu")) : "-", own ? median(key "mib") : "-",
				own ? median(key "late") : "-"
		}
		if (work[w] == "pipe" && added["perf"] > 0)
			ratio = ratio sprintf("pipe: chaincap adds %.2f times what perf adds to an event\n", added["chaincap"] / added["perf"])
		else if (slower["perf"] > 0)
			ratio = ratio sprintf("%s: chaincap slows down %.2f times as much as perf\n", work[w], slower["chaincap"] / slower["perf"])
	}
	printf "%s", ratio
}' "$dir/all"
