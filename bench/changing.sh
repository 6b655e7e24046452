#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What code that changes costs the recorder's processes: the CPU time that they take while a JVM makes, compiles and unloads
# classes all the time (Changing.java), with Java's frames and without (--no-java), in turn; medians of ROUNDS (5), in percent
# of a CPU.
#   bench/changing.sh BUILD_DIR [ROUNDS] [SECONDS]
set -eu
export LC_ALL=C
O=$(cd "$1" && pwd)
rounds=${2:-5}
seconds=${3:-10}
bench=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d)
clean_up() { rm -rf "$dir"; }
# shellcheck source=bench/begin.sh
. "$bench/begin.sh"
command -v javac >/dev/null || { echo "bench: no javac" >&2; exit 1; }
javac -d "$dir" "$bench/Changing.java"

# cpu_of PID: ns of CPU that the process and those below it have taken, those that ended included
cpu_of() {
	local pid
	awk '{ sub(/.*\) /, ""); printf "%.0f\n", ($12 + $13 + $14 + $15) * 1e7 }' "/proc/$1/stat" 2>/dev/null || true
	for pid in $(cat /proc/"$1"/task/*/children 2>/dev/null); do cpu_of "$pid"; done
}
total() { cpu_of "$1" | awk '{ n += $1 } END { printf "%.0f\n", n }'; }

for round in $(seq "$rounds"); do
	for with in yes no; do
		option=
		[ $with = yes ] || option=--no-java
		java -cp "$dir" Changing $((seconds + 6)) >"$dir/said" &
		program=$!
		until grep -qs ready "$dir/said"; do sleep 0.1; done
		# shellcheck disable=SC2086 # none, or an option
		"$O/chaincap" -v $option -o "$dir/trace" 2>"$dir/err" &
		recorder=$!
		until grep -q 'ring buffers' "$dir/err"; do sleep 0.1; done
		sleep 2 # it has found out what runs
		before=$(total $recorder)
		sleep "$seconds"
		after=$(total $recorder)
		kill -INT $recorder
		wait $recorder
		wait $program
		echo "$with $(((after - before) / seconds)) $(sed -n 's/.*compiled \([0-9]*\) ms, unloaded \([0-9]*\) classes.*/\1 \2/p' "$dir/said")"
	done
	[ ! -t 2 ] || printf '\rround %d of %d ' "$round" "$rounds" >&2
done >"$dir/all"
[ ! -t 2 ] || printf '\r\033[K' >&2
echo "rounds $rounds of $seconds s, kernel $(uname -r), $(nproc) CPUs, $(date +%F), load $(cut -d' ' -f1 /proc/loadavg)"
awk -v seconds=$((seconds + 6)) "$(cat "$bench/median.awk")"'
{ ns[$1] = ns[$1] " " $2; ms[$1] = ms[$1] " " $3; classes[$1] = classes[$1] " " $4 }
END {
	printf "%-12s %16s %14s %16s\n", "", "percent of a CPU", "ms compiling/s", "classes unloaded/s"
	printf "%-12s %16.2f %14.0f %16.0f\n", "with Java", median(ns["yes"]) / 1e7, median(ms["yes"]) / seconds, median(classes["yes"]) / seconds
	printf "%-12s %16.2f %14.0f %16.0f\n", "--no-java", median(ns["no"]) / 1e7, median(ms["no"]) / seconds, median(classes["no"]) / seconds
	printf "%-12s %16.2f\n", "more", (median(ns["yes"]) - median(ns["no"])) / 1e7
}' "$dir/all"
