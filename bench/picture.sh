#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The whole use: a busy MariaDB is recorded for some seconds, and drawn as a chain graph. What that takes
# from the command line to the picture, with chaincap and with perf, whose text chainwalk reads as well.
#   bench/picture.sh BUILD_DIR [ROUNDS]
#   WINDOW=2         seconds that are recorded
#   RECORDERS="chaincap perf perf-dwarf"   perf-dwarf is perf record --call-graph dwarf, and perf script
#                    unwinds the stacks that it copied
# Medians of ROUNDS (3), the recorders in turn. The database is idle while the picture is made.
set -eu
export LC_ALL=C # the decimal point
# shellcheck source=bench/mariadb.sh
. "$(dirname "$0")/mariadb.sh"
O=$(cd "$1" && pwd)
rounds=${2:-3}
recorders=${RECORDERS:-chaincap perf perf-dwarf}
window=${WINDOW:-2}
dir=$(mktemp -d "${TMPDIR:-/var/tmp}/bench-picture.XXXXXX")
export dir O
clean_up() {
	mariadb_stop
	rm -rf "$dir"
}
# shellcheck source=bench/begin.sh
. "$(dirname "$0")/begin.sh"
for tool in $(mariadb_missing) perf; do
	command -v "$tool" >/dev/null || { echo "bench: no $tool here" >&2; exit 1; }
done
[ -x "$O/bench/cost" ] || make -s -C "$(dirname "$0")/.." O="$O" "$O/bench/cost"

# took WHAT COMMAND...: its line "WHAT WALL CPU MEMORY_KIB".
took() {
	echo "$1 $("$O/bench/cost" "${@:2}" 2>"$dir/err")" || { tail -n 3 "$dir/err" >&2; exit 1; }
}

# record RECORDER, draw RECORDER
record() {
	case $1 in
	chaincap) took record "$O/chaincap" -q -o "$dir/trace" "$window" ;;
	perf) took record perf record -q -a -g -e sched:sched_switch,sched:sched_waking -o "$dir/trace" sleep "$window" ;;
	perf-dwarf) took record perf record -q -a --call-graph dwarf -e sched:sched_switch,sched:sched_waking \
		-o "$dir/trace" sleep "$window" ;;
	esac
}
# shellcheck disable=SC2016 # expanded by the shell that is measured
draw() {
	case $1 in
	chaincap) took draw sh -c '"$O/chainwalk" -q "$dir/trace" | "$O/flamegraph" -o "$dir/svg"' ;;
	*) took draw sh -c 'perf script --ns --no-inline -i "$dir/trace" | "$O/chainwalk" -q - | "$O/flamegraph" -o "$dir/svg"' ;;
	esac
}

mariadb_start
order=$recorders
for round in $(seq "$rounds"); do
	for r in $order; do
		mariadb_busy
		{ record "$r"; mariadb_idle; } >"$dir/cost"
		echo "size $(stat -c %s "$dir/trace")" >>"$dir/cost"
		draw "$r" >>"$dir/cost"
		[ -s "$dir/svg" ] || { echo "bench: $r: no picture" >&2; exit 1; }
		sed "s/^/$r /" "$dir/cost"
		rm -f "$dir/trace" "$dir/trace.old" "$dir/svg"
	done
	# shellcheck disable=SC2086 # words
	order=$(rotated "$round" $recorders)
	[ ! -t 2 ] || printf '\rround %d of %d' "$round" "$rounds" >&2
done >"$dir/all"
[ ! -t 2 ] || printf '\r\033[K' >&2

echo "rounds $rounds, $window s of MariaDB, kernel $(uname -r), $(nproc) CPUs, $(date +%F), load $(cut -d' ' -f1 /proc/loadavg)"
awk -v recorders="$recorders" -v window="$window" "$(cat "$(dirname "$0")/median.awk")"'
function put(key, value) { list[key] = list[key] " " value }
$2 == "size" { put($1 " mib", $3 / 1048576) }
$2 == "record" { put($1 " around", $3 - window); recorder_cpu = $4 }
$2 == "draw" {
	put($1 " draw", $3)
	put($1 " cpu", recorder_cpu + $4)
	put($1 " memory", $5 / 1024)
}
END {
	format = "%-12s %9s %15s %16s %9s %12s\n"
	printf format, "recorder", "trace MiB", "start and end s", "trace to picture", "CPU s", "memory MiB"
	n = split(recorders, r, " ")
	for (i = 1; i <= n; i++)
		printf format, r[i], sprintf("%.1f", median(list[r[i] " mib"])), sprintf("%.2f", median(list[r[i] " around"])),
			sprintf("%.2f", median(list[r[i] " draw"])), sprintf("%.2f", median(list[r[i] " cpu"])),
			sprintf("%.0f", median(list[r[i] " memory"]))
	for (i = 2; i <= n; i++)
		printf "%s: from its end to the picture %.3f times the seconds of %s, and %.3f times the CPU time\n", r[1],
			median(list[r[1] " draw"]) / median(list[r[i] " draw"]), r[i],
			median(list[r[1] " cpu"]) / median(list[r[i] " cpu"])
}' "$dir/all"
