#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a busy MariaDB loses to recorders, told from the machine's own ups and downs: all of them are
# started before, then one after the other records for a moment, with as long without any before and
# after it, TURNS times. The server's own counter of queries is the judge.
#   bench/alternate.sh BUILD_DIR [TURNS]
#   WINDOW=0.3    seconds that count, SETTLE=0.2 seconds after the switch, before them
#   RECORDERS="chaincap perf perf-dwarf"   also chaincap-K, chaincap-no-objects, chaincap-F0 and
#                 chaincap-plain, which records what perf does: switches and wakings, nothing else
# Means of TURNS (100) with their standard errors. Other work of the machine comes and goes within
# seconds, so many short turns say more than a few long ones. A recorder that is off has its probes
# attached, so what they take by themselves is not in it; nor is what starting and ending takes. What a
# recorder keeps is the share of the events that are not lost; perf's is that of another 2 seconds,
# because only the last of its files is there in the end.
set -eu
export LC_ALL=C # the decimal point
# shellcheck source=bench/mariadb.sh
. "$(dirname "$0")/mariadb.sh"
O=$(cd "$1" && pwd)
turns=${2:-100}
recorders=${RECORDERS:-chaincap perf perf-dwarf}
window=${WINDOW:-0.3}
settle=${SETTLE:-0.2}
dir=$(mktemp -d "${TMPDIR:-/var/tmp}/bench-alternate.XXXXXX")
export dir
declare -A handle # what a recorder is told by: the id of chaincap's map of variables, a descriptor for perf
started=
clean_up() {
	stop_recorders
	[ -z "${server_PID:-}" ] || kill "$server_PID"
	mariadb_stop
	wait
	rm -rf "$dir"
}
# shellcheck source=bench/begin.sh
. "$(dirname "$0")/begin.sh"
for tool in $(mariadb_missing) perf bpftool; do
	command -v "$tool" >/dev/null || { echo "bench: no $tool here" >&2; exit 1; }
done

# wait_for COMMAND...: for 30 s at most
wait_for() {
	for _ in $(seq 300); do
		! "$@" || return 0
		sleep 0.1
	done
	echo "bench: not within 30 s: $*" >&2
	exit 1
}

# perf_record RECORDER ARGUMENT...: takes the place of the shell that it runs in
perf_record() {
	local stacks=-g trace=$dir/$1.trace
	[ "$1" = perf ] || stacks='--call-graph dwarf'
	shift
	# shellcheck disable=SC2086 # an option and its value
	exec perf record -q -a $stacks -e sched:sched_switch -e sched:sched_waking -o "$trace" "$@"
}

# start RECORDER: leaves it off.
start() {
	local options=''
	case $1 in
	chaincap*)
		case $1 in
		chaincap-F0) options='-F 0' ;;
		chaincap-K) options=-K ;;
		chaincap-plain) options='-F 0 --no-objects --no-block' ;;
		chaincap-no-*) options=--${1#chaincap-} ;;
		esac
		# shellcheck disable=SC2086 # an option and its value
		"$O/chaincap" -v $options -o "$dir/$1.trace" 2>"$dir/$1.err" &
		started="$started $!"
		wait_for grep -q 'ring buffers' "$dir/$1.err"
		handle[$1]=$(bpftool map list | awk '/name chaincap.data / { id = $1 } END { printf "%.0f", id }')
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

# What chaincap's programs know of the recording is the times from and until which it goes, 8 bytes each.
zeros='0 0 0 0 0 0 0 0'
ones='255 255 255 255 255 255 255 255'
on() { switch_to "$1" "$zeros $ones" enable; }
off() { switch_to "$1" "$zeros $zeros" disable; }
# switch_to RECORDER BYTES WORD: what chaincap and perf are told.
switch_to() {
	# shellcheck disable=SC2086 # bytes
	case $1 in
	chaincap*) bpftool map update id "${handle[$1]}" key 0 0 0 0 value $2 ;;
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
	chaincap*) sed -n 's/^chaincap: \([0-9]*\) events, .* \([0-9]*\) lost,.*/\1 \2/p' "$dir/$1.err" ;;
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

# rate: leaves the queries a second of the next WINDOW in $rate.
rate() {
	local from from_us
	sleep "$settle"
	queries
	from=$count from_us=$count_us
	sleep "$window"
	queries
	rate=$(((count - from) * 1000000 / (count_us - from_us)))
}
queries() {
	echo "show global status like 'Questions';" >&"${server[1]}"
	read -r _ count <&"${server[0]}"
	count_us=${EPOCHREALTIME/./}
}

mariadb_start
for r in $recorders; do start "$r"; done
mariadb_busy
coproc server { exec mariadb --no-defaults -u root -S "$dir/socket" --batch --skip-column-names --unbuffered; }
rate
before=$rate
order=$recorders
for turn in $(seq "$turns"); do
	for r in $order; do
		on "$r"
		rate
		recorded=$rate
		off "$r"
		rate
		echo "$r $before $recorded $rate"
		before=$rate
	done
	# shellcheck disable=SC2086 # words
	order=$(rotated "$turn" $recorders)
	[ ! -t 2 ] || printf '\rturn %d of %d' "$turn" "$turns" >&2
done >"$dir/all"
stop_recorders
for r in $recorders; do echo "$r $(kept "$r")"; done >"$dir/kept"
[ ! -t 2 ] || printf '\r\033[K' >&2

echo "turns $turns, $window s each after $settle s, kernel $(uname -r), $(nproc) CPUs, $(date +%F), load $(cut -d' ' -f1 /proc/loadavg)"
awk -v recorders="$recorders" '
NR == FNR { kept[$1] = $2; next }
{
	lost = 100 * (1 - 2 * $3 / ($2 + $4))
	n[$1]++
	sum[$1] += lost
	squares[$1] += lost * lost
	base += $2
}
END {
	count = split(recorders, r, " ")
	printf "without a recorder %.0f queries a second\n", base / FNR
	printf "%-20s %7s  %-4s  %s\n", "recorder", "loses %", "+-", "keeps % of the events"
	for (i = 1; i <= count; i++) {
		k = r[i]
		mean[k] = sum[k] / n[k]
		error[k] = sqrt((squares[k] / n[k] - mean[k] * mean[k]) / (n[k] > 1 ? n[k] - 1 : 1))
		printf "%-20s %7.1f  %-4.1f  %.1f\n", k, mean[k], error[k], 100 * kept[k]
	}
	for (i = 2; i <= count; i++) {
		k = r[i]
		ratio = mean[r[1]] / mean[k]
		printf "%s loses %.3f times what %s loses (+- %.3f)", r[1], ratio, k,
			sqrt((error[r[1]] / mean[k]) ^ 2 + (ratio * error[k] / mean[k]) ^ 2)
		printf "; for each event kept %.3f times\n", ratio * kept[k] / kept[r[1]]
	}
}' "$dir/kept" "$dir/all"
