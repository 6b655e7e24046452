#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# How long a recorder takes from its command line until it records, and from its end until it has
# finished: on an idle machine, with BUSY threads for each CPU that never sleep, and beside MariaDB that
# keeps all CPUs busy. Every recorder in turn, ROUNDS times; medians, and the worst.
#   bench/start.sh BUILD_DIR [ROUNDS]
#   RECORDERS="chaincap offcputime bpftrace perf"   what is not installed is left out by name
#   LOADS="idle busy database"
#   BUSY=8                                          threads for each CPU
#   POSSIBLE="2 64 200"                             instead: by how many CPUs there can be, in guests of
#                                                   qemu with two of them, by software emulation
#   CPUS="2 8 32"                                   likewise: by how many there are; the emulation runs
#                                                   one at a time, so what counts is how it grows. Idle,
#                                                   three rounds; recorders of this machine run there, too
# "begins" is when the command that is to be recorded is let go; a shell that prints the time is that
# command, so its own start is included. The recording then lasts a second. "both" is all the rest of
# the time, for offcputime, which does not say when it begins, too.
set -eu
export LC_ALL=C # the decimal point
O=$(cd "$1" && pwd)
rounds=${2:-5}
recorders=${RECORDERS:-chaincap offcputime bpftrace perf}
loads=${LOADS:-idle busy database}
busy=${BUSY:-8}
dir=$(mktemp -d)
export dir
here=$(dirname "$0")
hogs=
clean_up() {
	unload
	mariadb_stop
	rm -rf "$dir"
}
. "$here/mariadb.sh"
# shellcheck source=bench/begin.sh
. "$here/begin.sh"
cap=$O/chaincap clock='date +%s.%N'
. "$here/../tests/kernels/start_of.sh"

load() {
	case $1 in
	busy)
		for _ in $(seq $((busy * $(nproc)))); do
			timeout 60 sh -c 'while :; do :; done' &
			hogs="$hogs $!"
		done
		sleep 0.5
		;;
	database) mariadb_busy ;;
	esac
}
unload() {
	for pid in $hogs; do
		kill "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	hogs=
	mariadb_idle
}

there=
for r in $recorders; do
	command -v "$r" >/dev/null || [ "$r" = chaincap ] || { echo "left out: $r is not installed"; continue; }
	there="$there $r"
done

# guest CPUS POSSIBLE: "" for the default
guest() {
	CPUS=$1 POSSIBLE=$2 KERNELS=linux-image-amd64 GUEST=kernels/guest/start.sh TEST_SECONDS=1200 \
		BOOT_SECONDS=1500 TOOLS=${there/chaincap/} \
		sh "$here/../tests/kernels/run.sh" "$O" >"$dir/log" || cat "$dir/log" >&2
	sed -n 's/^ *note: //p' "$dir/log"
}
possible=${POSSIBLE:-} cpus=${CPUS:-}
if [ "$possible$cpus" ]; then
	rounds=3 heading=CPUs what='guests of qemu, by software emulation of one CPU at a time'
	for n in $possible; do guest "" "$n"; done
	for n in $cpus; do guest "$n" ""; done
else
	heading=load what="kernel $(uname -r), $(nproc) CPUs, busy threads $((busy * $(nproc)))"
	case " $loads " in *" database "*)
		if [ "$(mariadb_missing)" ]; then
			echo "left out: database: no $(mariadb_missing | tr '\n' ' ')" >&2
			loads=${loads/database/}
		else
			mariadb_start
		fi
		;;
	esac
	for load in $loads; do
		for round in $(seq "$rounds"); do
			for r in $there; do
				load "$load"
				took=$(start_of "$r") && echo "$load $r $took"
				unload
			done
			[ ! -t 2 ] || printf '\r%s, round %d of %d' "$load" "$round" "$rounds" >&2
		done
	done
fi >"$dir/all"
[ ! -t 2 ] || printf '\r\033[K' >&2

echo "rounds $rounds, $what, $(date +%F)"
printf '%-8s %-11s %8s %8s %8s %8s %8s %8s\n' "$heading" recorder begins worst finished worst both worst
sort -V "$dir/all" | awk '
	{ key = $1 " " $2 }
	key != last { if (last) tell(); last = key; n = 0 }
	{ n++; both[n] = $3 + 0; begin[n] = $4; finish[n] = $5 }
	END { if (last) tell() }
	function sort_n(v,    i, j, t) {
		for (i = 2; i <= n; i++)
			for (j = i; j > 1 && v[j] + 0 < v[j - 1] + 0; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
	}
	function figures(v) {
		sort_n(v)
		if (v[1] == "")
			return sprintf("%8s %8s", "-", "-")
		return sprintf("%8.2f %8.2f", n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2, v[n])
	}
	function tell(    part) {
		split(last, part, " ")
		printf "%-8s %-11s %s %s %s\n", part[1], part[2], figures(begin), figures(finish), figures(both)
	}'
