#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# How fast chainwalk is and what memory it takes: reading, linking and folding at depth 6; and the first screen
# (-f causes) and the report (-f html) beside that.
#   bench/engine.sh BUILD_DIR [ROUNDS]
#   MILLIONS="1 3 10"   events of the made traces, in millions (FULL=1: and 100)
# Made traces, with and without a thousand idle threads; on one core and on all. Then workloads recorded by chaincap and
# perf at the same time, against perf sched timehist -w, and a MariaDB (need root; left out without). Medians of ROUNDS,
# 5 if left out; views of one trace by turns.
# Events a second are given by CPU time, which other load on the machine disturbs least, and by the
# clock on the wall.
set -eu
export LC_ALL=C # the decimal point
O=$(cd "$1" && pwd)
rounds=${2:-5}
sizes="${MILLIONS:-1 3 10 ${FULL:+100}}"
dir=$(mktemp -d "${TMPDIR:-/tmp}/bench-engine.XXXXXX")
# shellcheck source=bench/mariadb.sh
. "$(dirname "$0")/mariadb.sh"
trap 'mariadb_stop; rm -rf "$dir"' EXIT
# A CPU that this process may use.
core=$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')
cores=$(nproc)

median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# Runs a command ROUNDS times; leaves medians in wall, cpu (s) and rss (KiB).
measure() {
	: >"$dir/rounds"
	for _ in $(seq "$rounds"); do
		"$O/bench/cost" "$@" >>"$dir/rounds"
	done
	wall=$(cut -d' ' -f1 "$dir/rounds" | median)
	cpu=$(cut -d' ' -f2 "$dir/rounds" | median)
	rss=$(cut -d' ' -f3 "$dir/rounds" | median)
}

calc() { awk "BEGIN { printf \"$1\", $2 }"; }

# column N FILE: the median of a column.
column() { cut -d' ' -f"$1" "$2" | median; }

# by_turns TRACE: the views of a trace, each on one core and on all, one after the other in each round. Prints what they
# cost beside the folded lines. Times on the wall say something only where nothing else runs.
by_turns() {
	local of one all
	rm -f "$dir"/turn.*
	for _ in $(seq "$rounds"); do
		for of in folded causes html; do
			"$O/bench/cost" taskset -c "$core" "$O/chainwalk" -q -f $of "$1" >>"$dir/turn.$of.one"
			"$O/bench/cost" "$O/chainwalk" -q -f $of "$1" >>"$dir/turn.$of.all"
		done
	done
	for of in folded causes html; do
		one=$dir/turn.$of.one all=$dir/turn.$of.all
		printf '   -f %-7s %6.2f s of CPU on one core, %5.2f times the folded lines; on the wall %6.2f s, on %d cores %6.2f s, %.2f times as fast; %.0f MiB\n' \
			$of "$(column 2 "$one")" "$(calc %f "$(column 2 "$one") / $(column 2 "$dir/turn.folded.one")")" \
			"$(column 1 "$one")" "$cores" "$(column 1 "$all")" \
			"$(calc %f "$(column 1 "$one") / $(column 1 "$all")")" "$(calc %f "$(column 3 "$one") / 1024")"
	done
}

machine_load() { echo "   load of the machine: $(cut -d' ' -f1-3 /proc/loadavg)"; }

echo "== made traces: a server with 393 threads, depth 6, medians of $rounds"
printf '%-22s %10s %10s %9s %9s %9s %9s\n' trace "CPU s" "wall s" "Mev/s" "Mev/s" "bytes/ev" "wall s"
printf '%-22s %10s %10s %9s %9s %9s %9s\n' "(million events)" "1 core" "1 core" "by CPU" "by wall" "peak" "$cores cores"
for size in $sizes; do
	for idle in 0 1000; do
		trace=$dir/made.bin
		"$O/bench/generate" --events "$(calc %.0f "$size * 1e6")" --idle $idle "$trace"
		measure taskset -c "$core" "$O/chainwalk" -q "$trace"
		one_cpu=$cpu one_wall=$wall one_rss=$rss
		measure "$O/chainwalk" -q "$trace"
		name="$size"
		[ $idle = 0 ] || name="$size + $idle idle"
		printf '%-22s %10.2f %10.2f %9s %9s %9s %9.2f\n' "$name" "$one_cpu" "$one_wall" \
			"$(calc %.2f "$size / $one_cpu")" "$(calc %.2f "$size / $one_wall")" \
			"$(calc %.1f "$one_rss * 1024 / $size / 1e6")" "$wall"
		if [ $idle = 0 ]; then
			base=$one_cpu base_rss=$one_rss
			echo "   $cores cores: $(calc %.2f "$one_wall / $wall") times as fast as one," \
				"peak $(calc %.1f "$rss * 1024 / $size / 1e6") bytes/event," \
				"$(calc %.2f "$rss / 1048576") GiB"
			by_turns "$trace"
			machine_load
		else
			echo "   idle threads: $(calc %.2f "$one_cpu / $base") times the cost of the" \
				"same without them, $(calc %.2f "$one_rss / $base_rss") times the memory"
		fi
		rm -f "$trace"
	done
done

if [ "$(id -u)" != 0 ] || ! command -v perf >/dev/null; then
	echo "== recorded traces: left out, needs root and perf"
	exit 0
fi
echo "== recorded by chaincap and perf at once, read on one core: CPU time, medians; and on all, by the wall"
printf '%-10s %9s %12s %8s %9s %11s %7s %10s %10s %10s\n' workload events "chainwalk s" "Mev/s" "perf ev." \
	"timehist s" ratio "per event" "$cores cores s" ratio
for load in "messaging -g 10 -l 2000" "pipe -l 400000"; do
	"$O/chaincap" -q -o "$dir/t.bin" -- perf record -q -a -g -o "$dir/p.data" \
		-e sched:sched_switch -e sched:sched_wakeup -e sched:sched_waking \
		-e sched:sched_wakeup_new -- perf bench sched $load >"$dir/out" 2>&1 ||
		{ cat "$dir/out" >&2; exit 1; }
	events=$("$O/chainwalk" -q -f info "$dir/t.bin" | sed -n 's/^events: //p')
	measure taskset -c "$core" "$O/chainwalk" -q --all "$dir/t.bin"
	ours=$cpu
	measure "$O/chainwalk" -q --all "$dir/t.bin"
	ours_wall=$wall
	perf_events=$(perf report -i "$dir/p.data" --stats 2>/dev/null |
		awk '$1 == "SAMPLE" && $2 == "events:" { print $3; exit }')
	all=$rounds
	rounds=$(((rounds + 1) / 2)) # it takes long
	measure taskset -c "$core" perf sched timehist -w -i "$dir/p.data" 2>"$dir/err"
	rounds=$all
	printf '%-10s %9d %12.3f %8.2f %9d %11.2f %6.1fx %9.1fx %10.3f %9.1fx\n' "${load%% *}" "$events" "$ours" \
		"$(calc %f "$events / $ours / 1e6")" "$perf_events" "$cpu" "$(calc %f "$cpu / $ours")" \
		"$(calc %f "($cpu / $perf_events) / ($ours / $events)")" "$ours_wall" \
		"$(calc %f "$wall / $ours_wall")"
	rm -f "$dir/p.data"
	by_turns "$dir/t.bin"
done
missing=$(mariadb_missing)
if [ -n "$missing" ]; then
	echo "== MariaDB: left out, without $(echo "$missing" | tr '\n' ' ')"
	exit 0
fi
export dir
mariadb_start
mariadb_busy
"$O/chaincap" -q -o "$dir/t.bin" "${WINDOW:-4}"
mariadb_stop
echo "== MariaDB, sysbench oltp_read_only, 8 threads, ${WINDOW:-4} s, with requests:" \
	"$("$O/chainwalk" -q -f info "$dir/t.bin" | sed -n 's/^events: //p') events"
by_turns "$dir/t.bin"
machine_load
