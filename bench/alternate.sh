#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a busy server loses to recorders, told from the machine's own ups and downs: all of them are
# started before, then one after the other records for a moment, with as long without any before and
# after it, TURNS times. The judge is what the server counts itself.
#   bench/alternate.sh BUILD_DIR [TURNS]
#   WORKLOAD=mariadb   or redis, pgbench, nginx, and so on: loads.sh
#   LAST=90   seconds for the turns, at most; as many as there are if left out
#   WINDOW=0.3    seconds that count, SETTLE=0.2 seconds after the switch, before them
#   RECORDERS="chaincap perf perf-dwarf"   also chaincap-K, chaincap-no-requests, chaincap-no-objects and so
#                 on, chaincap-F0, chaincap-light (--light 1ms), and chaincap-plain, which records what perf does:
#                 switches and wakings, nothing else; chaincap@DIR is that of another build
# Means of TURNS (100) with their standard errors. Other work of the machine comes and goes within
# seconds, so many short turns say more than a few long ones. A recorder that is off has its probes
# attached, so what they take by themselves is not in it; nor is what starting and ending takes. What a
# recorder keeps is the share of the events that are not lost; perf's is that of another 2 seconds,
# because only the last of its files is there in the end. Then, in a tenth as many turns, the shares of all CPUs' time that
# chaincap's programs take (run_time.sh) and its processes.
set -eu
TMPDIR=${TMPDIR:-/var/tmp}
# shellcheck source=bench/run_time.sh
WORKLOADS=none
. "$(dirname "$0")/run_time.sh"
# shellcheck source=bench/loads.sh
. "$(dirname "$0")/loads.sh"
O=$(cd "$1" && pwd)
turns=${2:-100}
recorders=${RECORDERS:-chaincap perf perf-dwarf}
window=${WINDOW:-0.3}
settle=${SETTLE:-0.2}
workload=${WORKLOAD:-mariadb}
declare -A handle # what a recorder is told by: the id of chaincap's map of variables, a descriptor for perf
declare -A process
started=
clean_up() {
	stop_recorders
	run_times_off
	load_stop
	wait
	rm -rf "$dir"
}
# shellcheck source=bench/switch.sh
. "$(dirname "$0")/switch.sh"
case $recorders in *perf*) perf=perf ;; *) perf= ;; esac
for tool in $(load_missing "$workload") $perf bpftool perl; do
	command -v "$tool" >/dev/null || { echo "bench: no $tool here" >&2; exit 1; }
done

# perf_record RECORDER ARGUMENT...: takes the place of the shell that it runs in
perf_record() {
	local stacks=-g trace=$dir/$1.trace
	[ "$1" = perf ] || stacks='--call-graph dwarf'
	shift
	# shellcheck disable=SC2086 # an option and its value
	exec perf record -q -a $stacks -e sched:sched_switch -e sched:sched_waking -o "$trace" "$@"
}

# file_of RECORDER: the beginning of its files' names
file_of() { echo "$dir/${1//\//_}"; }

# start RECORDER: leaves it off.
start() {
	local options='' build=$O name
	name=$(file_of "$1")
	case $1 in
	chaincap*)
		[[ $1 != *@* ]] || build=${1#*@}
		case ${1%@*} in
		chaincap-F0) options='-F 0' ;;
		chaincap-K) options=-K ;;
		chaincap-light) options='--light 1ms' ;;
		chaincap-plain) options='-F 0 --no-objects --no-block --no-irq --no-requests' ;;
		chaincap-no-*) options=${1#chaincap-} options=--${options%@*} ;;
		esac
		# shellcheck disable=SC2086 # an option and its value
		"$build/chaincap" -v $options -o "$name.trace" 2>"$name.err" &
		started="$started $!"
		load_until grep -q 'ring buffers' "$name.err"
		process[$1]=$!
		handle[$1]=$(map_of $!)
		;;
	perf*)
		mkfifo "$dir/$1.control"
		exec {descriptor}<>"$dir/$1.control"
		handle[$1]=$descriptor
		# of 0.7 GB a second
		[ "$1" = perf ] || options='--switch-output=1G --switch-max-files=1'
		# shellcheck disable=SC2086
		perf_record "$1" $options -D -1 --control "fifo:$dir/$1.control" >"$dir/$1.err" 2>&1 &
		started="$started $!"
		;;
	esac
	off "$1"
}

on() { switch_to "$1" "$switched_on" enable; }
off() { switch_to "$1" "$switched_off" disable; }
# switch_to RECORDER BYTES WORD: what chaincap and perf are told.
switch_to() {
	case $1 in
	chaincap*) switch_chaincap "${handle[$1]}" "$2" ;;
	*) echo "$3" >&"${handle[$1]}" ;;
	esac
}

stop_recorders() {
	for pid in $started; do kill "$pid" && wait "$pid"; done 2>/dev/null || true
	started=
}

# kept RECORDER: the share of the events that it keeps
kept() {
	case $1 in
	chaincap*) sed -n 's/^chaincap: \([0-9]*\) events, .* \([0-9]*\) lost,.*/\1 \2/p' "$(file_of "$1").err" ;;
	*)
		(perf_record "$1" -- sleep 2) >/dev/null 2>&1
		perf report --stats -i "$dir/$1.trace" 2>/dev/null | awk '
			/^sched:/ { of_event = 1 }
			of_event && $1 == "SAMPLE" { n += $3 }
			of_event && $1 == "LOST_SAMPLES" { lost += $3 }
			END { printf "%.0f %.0f\n", n, lost }'
		;;
	esac | awk '{ printf "%.4f", $1 / ($1 + $2) }'
}

# memory RECORDER: of chaincap's processes and rings, the most, in MiB
memory() {
	case $1 in chaincap*) sed -n 's/^chaincap: recorder: .* CPU, \([0-9]*\) MiB.*/\1/p' "$(file_of "$1").err" ;; esac
}

# measure NAME: a line for load_rates() of the next WINDOW.
measure() {
	local from from_us
	sleep "$settle"
	load_count
	from=$count from_us=$count_us
	sleep "$window"
	load_count
	echo "$1 $from_us $from $count_us $count"
}

# taken RECORDER: ns so far of its programs, and of its processes
taken() {
	program_times "${process[$1]}" | awk '{ ns += $2 } END { printf "%.0f ", ns }'
	cat "/proc/${process[$1]}"/task/*/schedstat | awk '{ ns += $1 } END { printf "%.0f\n", ns }'
}
# measure_cpu RECORDER: a line with both, in percent of all CPUs' time
measure_cpu() {
	local from_us
	sleep "$settle"
	taken "$1" >"$dir/taken"
	from_us=${EPOCHREALTIME/./}
	sleep "$window"
	taken "$1" | cat "$dir/taken" - | awk -v who="$1" -v ns="$(((${EPOCHREALTIME/./} - from_us) * 1000 * $(nproc)))" '
		NR == 1 { programs = $1; processes = $2 }
		NR == 2 { printf "%s %.3f %.3f\n", who, 100 * ($1 - programs) / ns, 100 * ($2 - processes) / ns }'
}

load_start "$workload"
for r in $recorders; do start "$r"; done
load_busy
order=$recorders
measure - >"$dir/all"
SECONDS=0
for turn in $(seq "$turns"); do
	[ $SECONDS -lt "${LAST:-1000000}" ] || { turns=$((turn - 1)); break; }
	for r in $order; do
		on "$r"
		measure "$r"
		off "$r"
		measure -
	done
	# shellcheck disable=SC2086 # words
	order=$(rotated "$turn" $recorders)
	[ ! -t 2 ] || printf '\rturn %d of %d' "$turn" "$turns" >&2
done >>"$dir/all"
run_times_on
for turn in $(seq $(((turns + 9) / 10))); do
	for r in ${recorders//perf*/}; do
		on "$r"
		measure_cpu "$r"
		off "$r"
	done
done >"$dir/cpu"
run_times_off
stop_recorders
for r in $recorders; do echo "$r $(kept "$r") $(memory "$r")"; done >"$dir/kept"
load_idle
load_rates <"$dir/all" >"$dir/rates"
[ ! -t 2 ] || printf '\r\033[K' >&2

echo "$workload, turns $turns, $window s each after $settle s, kernel $(uname -r), $(nproc) CPUs, $(date +%F), load $(cut -d' ' -f1 /proc/loadavg)"
awk -v recorders="$recorders" -v unit="$load_unit" "$(cat "$(dirname "$0")/median.awk")"'
FILENAME ~ /kept$/ { kept[$1] = $2; mib[$1] = $3; next }
FILENAME ~ /cpu$/ { programs[$1] = programs[$1] " " $2; processes[$1] = processes[$1] " " $3; next }
$1 != "-" { who = $1; recorded = $2; next }
{
	if (who) {
		lost = before + $2 ? 100 * (1 - 2 * recorded / (before + $2)) : 0
		n[who]++
		sum[who] += lost
		squares[who] += lost * lost
	}
	before = $2
	base += $2
	bases++
}
END {
	count = split(recorders, r, " ")
	printf "without a recorder %.0f %s a second\n", base / bases, unit
	printf "%-20s %7s  %-5s  %7s  %10s  %11s  %5s\n", "recorder", "loses %", "+-", "keeps %", "programs %", "processes %", "MiB"
	for (i = 1; i <= count; i++) {
		k = r[i]
		mean[k] = sum[k] / n[k]
		error[k] = sqrt((squares[k] / n[k] - mean[k] * mean[k]) / (n[k] > 1 ? n[k] - 1 : 1))
		printf "%-20s %7.2f  %-5.2f  %7.1f", k, mean[k], error[k], 100 * kept[k]
		if (k in programs)
			printf "  %10.2f  %11.2f  %5.0f", median(programs[k]), median(processes[k]), mib[k]
		printf "\n"
	}
	for (i = 2; i <= count && mean[r[i]]; i++) {
		k = r[i]
		ratio = mean[r[1]] / mean[k]
		printf "%s loses %.3f times what %s loses (+- %.3f)", r[1], ratio, k,
			sqrt((error[r[1]] / mean[k]) ^ 2 + (ratio * error[k] / mean[k]) ^ 2)
		printf "; for each event kept %.3f times\n", ratio * kept[k] / kept[r[1]]
	}
}' "$dir/kept" "$dir/cpu" "$dir/rates"
