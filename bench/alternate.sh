#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a busy MariaDB loses to recorders, told from the machine's own ups and downs: all of them are
# started before, then one after the other records for WINDOW seconds, with as long without any before
# and after it, TURNS times.
#   bench/alternate.sh BUILD_DIR [TURNS]
#   WINDOW=2      seconds; what is under way of a second before them does not count
#   RECORDERS="chaincap perf perf-dwarf"   also chaincap-K, chaincap-no-objects, chaincap-F0
# Means of TURNS (20) with their standard errors. A recorder that is off has its probes attached, so what
# they take by themselves is not in it; nor is what starting and ending takes.
set -eu
export LC_ALL=C # the decimal point
# shellcheck source=bench/mariadb.sh
. "$(dirname "$0")/mariadb.sh"
O=$(cd "$1" && pwd)
turns=${2:-20}
recorders=${RECORDERS:-chaincap perf perf-dwarf}
window=${WINDOW:-2}
dir=$(mktemp -d "${TMPDIR:-/var/tmp}/bench-alternate.XXXXXX")
export dir
declare -A handle # what a recorder is told by: the id of chaincap's map of variables, a descriptor for perf
started=
clean_up() {
	for pid in $started; do kill -INT "$pid" 2>/dev/null || true; done
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

# start RECORDER: leaves it off.
start() {
	local options=''
	case $1 in
	chaincap*)
		case $1 in
		chaincap-F0) options='-F 0' ;;
		chaincap-K) options=-K ;;
		chaincap-no-*) options=--${1#chaincap-} ;;
		esac
		# shellcheck disable=SC2086 # an option and its value
		"$O/chaincap" -v $options -o "$dir/$1.trace" 2>"$dir/$1.err" &
		started="$started $!"
		wait_for grep -q 'ring buffers' "$dir/$1.err"
		handle[$1]=$(bpftool map list | awk '/name chaincap.data / { id = $1 } END { print id + 0 }')
		;;
	perf*)
		mkfifo "$dir/$1.control"
		exec {descriptor}<>"$dir/$1.control"
		handle[$1]=$descriptor
		# 0.7 GB a second, of which it keeps the last
		[ "$1" = perf ] && options=-g || options='--call-graph dwarf --switch-output=1G --switch-max-files=1'
		# shellcheck disable=SC2086
		perf record -q -a $options -D -1 --control "fifo:$dir/$1.control" -e sched:sched_switch \
			-e sched:sched_waking -o "$dir/$1.trace" >"$dir/$1.err" 2>&1 &
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

mariadb_start
for r in $recorders; do start "$r"; done
mariadb_busy
mariadb_rate "$window" >"$dir/rate"
before=$(cat "$dir/rate")
order=$recorders
for turn in $(seq "$turns"); do
	for r in $order; do
		on "$r"
		recorded=$(mariadb_rate "$window")
		off "$r"
		after=$(mariadb_rate "$window")
		echo "$r $before $recorded $after"
		before=$after
	done
	# shellcheck disable=SC2086 # words
	order=$(rotated "$turn" $recorders)
	[ ! -t 2 ] || printf '\rturn %d of %d' "$turn" "$turns" >&2
done >"$dir/all"
[ ! -t 2 ] || printf '\r\033[K' >&2

echo "turns $turns, $window s each, kernel $(uname -r), $(nproc) CPUs, $(date +%F), load $(cut -d' ' -f1 /proc/loadavg)"
awk -v recorders="$recorders" '
{
	lost = 100 * (1 - 2 * $3 / ($2 + $4))
	n[$1]++
	sum[$1] += lost
	squares[$1] += lost * lost
	base += $2
}
END {
	count = split(recorders, r, " ")
	printf "without a recorder %.0f transactions a second\n", base / NR
	printf "%-20s %7s  %s\n", "recorder", "loses %", "+-"
	for (i = 1; i <= count; i++) {
		k = r[i]
		mean[k] = sum[k] / n[k]
		error[k] = sqrt((squares[k] / n[k] - mean[k] * mean[k]) / (n[k] > 1 ? n[k] - 1 : 1))
		printf "%-20s %7.1f  %.1f\n", k, mean[k], error[k]
	}
	for (i = 2; i <= count; i++) {
		k = r[i]
		ratio = mean[r[1]] / mean[k]
		printf "%s loses %.2f times what %s loses (+- %.2f)\n", r[1], ratio, k,
			sqrt((error[r[1]] / mean[k]) ^ 2 + (ratio * error[k] / mean[k]) ^ 2)
	}
}' "$dir/all"
