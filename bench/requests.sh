#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What it costs to record requests at sockets: busy servers, recorded with and without them.
#   bench/requests.sh BUILD_DIR [TURNS]
#   WORKLOADS="redis nginx mariadb"   also pgbench: loads.sh; what is not installed is left out by name
#   WITHOUT=--no-requests   what they are recorded without; --no-routes: what it costs to look at what they ask for
#   WINDOW=4            seconds of a recording; three with and three without requests, in turn; medians
#   RECORDERS="chaincap chaincap-no-requests perf"   then what the server loses to these, by TURNS (40) turns of
#                       alternate.sh; 0: not
# For each request that the server counts: the run time of the BPF programs by the kernel's own measure (which
# itself is some 40 ns of each run), the CPU time of the recorder's process,
# and bytes of the trace. Then, of each of the programs at sockets, how often it runs for a request, how
# long with requests and how long without.
set -eu
# shellcheck source=bench/run_time.sh
. "$(dirname "$0")/run_time.sh"
# shellcheck source=bench/loads.sh
. "$(dirname "$0")/loads.sh"
O=$(cd "$1" && pwd)
turns=${2:-40}
workloads=${WORKLOADS:-redis nginx mariadb}
window=${WINDOW:-4}
recorder=
clean_up() {
	[ -z "$recorder" ] || kill "$recorder" 2>/dev/null || true
	run_times_off
	load_stop
	rm -rf "$dir"
}

# now FILE: the recorder's CPU time in ns, the bytes of its trace, and its programs.
now() {
	cat "/proc/$recorder/task"/*/schedstat | awk '{ ns += $1 } END { printf "recorder %.0f 0\n", ns }'
	echo "bytes $(stat -c %s "$dir/trace") 0"
	program_times "$recorder"
}
# figure NAME...: of the trace, in sum
figure() {
	awk -v names=" $* " '{ sub(/:$/, "", $1) } index(names, " " $1 " ") { n += $2 } END { printf "%.0f", n }' "$dir/info"
}

# record with|without [OPTION]: lines "WITH WHAT AMOUNT RUNS", both for each request.
record() {
	local what=$1 from from_us rate
	shift
	"$O/chaincap" -v "$@" -o "$dir/trace" 2>"$dir/err" &
	recorder=$!
	load_until grep -q 'ring buffers' "$dir/err"
	sleep 0.5 # kernel stacks are learned
	load_count
	from=$count from_us=$count_us
	now >"$dir/before"
	sleep "$window"
	load_count
	now >"$dir/after"
	kill "$recorder" && wait "$recorder" || true
	recorder=
	rate=$(echo "it $from_us $from $count_us $count" | load_rates)
	awk -v what="$what" -v rate="${rate#it }" -v us=$((count_us - from_us)) '
		NR == FNR { amount[$1] = $2; runs[$1] = $3; next }
		{ printf "%s %s %.3f %.3f\n", what, $1, ($2 - amount[$1]) * 1000000 / rate / us, ($3 - runs[$1]) * 1000000 / rate / us }
		$1 ~ /^on_/ { all += $2 - amount[$1] }
		END { printf "%s programs %.3f 0\n%s rate %.0f 0\n", what, all * 1000000 / rate / us, what, rate }' "$dir/before" "$dir/after"
	"$O/chainwalk" -q -f info "$dir/trace" >"$dir/info"
	echo "$what requests $(figure requests) 0"
	echo "$what left_out $(figure requests_left_out) 0"
	echo "$what lost $(figure lost more_lost) 0"
}

echo "$window seconds each, kernel $(uname -r), $(nproc) CPUs, $(date +%F), load $(cut -d' ' -f1 /proc/loadavg)"
there=
for w in $workloads; do
	need=$(load_missing "$w" | tr '\n' ' ')
	if [ "$need" ]; then
		echo "left out: $w: no $need"
		continue
	fi
	there="$there $w"
	load_start "$w"
	load_busy
	run_times_on
	for _ in 1 2 3; do
		record with
		record without "${WITHOUT:---no-requests}"
	done >"$dir/all"
	run_times_off
	awk -v w="$w" -v unit="$load_unit" "$(cat "$(dirname "$0")/median.awk")"'
		function row(name, key, digits,    with, without) {
			with = median(amounts["with " key])
			without = median(amounts["without " key])
			printf "  %-30s %9." digits "f %9." digits "f %9." digits "f\n", name, with, without, with - without
		}
		function all(key,    v, n, i, sum) {
			n = sorted(amounts["with " key], v)
			for (i = 1; i <= n; i++) sum += v[i]
			return sum
		}
		{
			amounts[$1 " " $2] = amounts[$1 " " $2] " " $3
			runs[$2] = runs[$2] " " $4
		}
		END {
			printf "\n%s: %.0f %s a second, %.0f without; %.0f requests recorded, %.0f left out, %.0f events lost\n", w,
				median(amounts["with rate"]), unit, median(amounts["without rate"]),
				all("requests"), all("left_out"), all("lost")
			printf "  %-30s %9s %9s %9s\n", "for each of these", "with", "without", "more"
			row("programs, ns", "programs", 0)
			row("the recorder, ns of CPU time", "recorder", 0)
			row("trace, bytes", "bytes", 1)
			n = split("on_data on_receive on_send on_state", names, " ")
			for (i = 1; i <= n; i++)
				if (median(runs[names[i]]) >= 0.01)
					row(sprintf("%s, ns in %.2f runs", names[i], median(runs[names[i]])), names[i], 0)
		}' "$dir/all"
	load_stop
done
[ "$turns" != 0 ] || exit 0
for w in $there; do
	echo
	WORKLOAD=$w WINDOW='' RECORDERS=${RECORDERS:-chaincap chaincap-no-requests perf} \
		bash "$(dirname "$0")/alternate.sh" "$O" "$turns"
done
