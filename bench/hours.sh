#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a long recording takes over time: memory, descriptors and CPU time of the recorder and of the
# processes that it started, and what it lost, beside a load that forks, execs, maps and unmaps
# libraries, makes and ends threads, and compiles code while it runs (perf maps that grow).
#   bench/hours.sh BUILD_DIR [SECONDS [OPTION...]]
#   SECONDS   3600 by default; a line each EVERY seconds (SECONDS / 30, at least 10)
#   OPTION    for chaincap, such as --flight=30s: it then writes a trace with each line
#   PACE=200  programs and libraries a second, about
# Flat is what grows by 5 % at most over the last half, by the line that fits its samples best; the
# first half fills what is bounded. The other processes come and go, one by one: flat is what has at
# most 5 % more in the last half than in the first.
set -eu
export LC_ALL=C
O=$(cd "$1" && pwd)
seconds=${2:-3600}
shift $(($# < 2 ? $# : 2))
every=${EVERY:-$((seconds / 30 > 10 ? seconds / 30 : 10))}
pace=${PACE:-200}
dir=$(mktemp -d)
started=
clean_up() {
	for pid in $started; do kill "$pid" 2>/dev/null || true; done
	wait 2>/dev/null || true
	[ ! -e "$dir/compiled" ] || sed 's|.*|/tmp/perf-&.map|' "$dir/compiled" | xargs rm -f
	rm -rf "$dir"
}
# shellcheck source=bench/begin.sh
. "$(dirname "$0")/begin.sh"
pause=$(awk "BEGIN { printf \"%.4f\n\", 3 / $pace }")

# ---- the load -----------------------------------------------------------------------------------
# Programs that end at once: one from the system, and copies that are deleted while they run.
programs() {
	while :; do
		/bin/true
		cp /bin/true "$dir/brief.$$" && "$dir/brief.$$"
		rm -f "$dir/brief.$$"
		(:)
		sleep "$pause"
	done
}

# Libraries that come and go, each a file of its own that is deleted at once, and threads.
cat >"$dir/libraries.py" <<'END_PY'
import _ctypes, glob, os, shutil, sys, threading, time
pause = float(sys.argv[1])
folder = sys.argv[2]
# Those that can be unloaded: they have no threads and register nothing.
found = [p for n in ("z.so.1", "bz2.so.1", "lzma.so.5", "expat.so.1", "uuid.so.1")
         for p in glob.glob("/usr/lib/*/lib" + n) + glob.glob("/lib/*/lib" + n)]
if not found:
    sys.exit("no library to load")
lock = threading.Lock()
def work():
    with lock:
        time.sleep(0.0005)
i = 0
while True:
    handles = []
    for _ in range(3):
        i += 1
        copy = "%s/library-%d.so" % (folder, i)
        shutil.copy(found[i % len(found)], copy)
        handles.append(_ctypes.dlopen(copy, 1))
        os.unlink(copy)
    t = threading.Thread(target=work)
    t.start()
    t.join()
    for h in handles:
        _ctypes.dlclose(h)
    time.sleep(pause)
END_PY

# Functions that did not exist before, compiled when they have run often.
cat >"$dir/compiles.js" <<'END_JS'
// Its perf map is to be removed in the end.
require("fs").appendFileSync("compiled", process.pid + "\n");
let n = 0;
function turn() {
	const f = new Function("a", `let s = ${n}; for (let i = 0; i < a; i++) s = (s * 31 + i) | 0; return s;`);
	for (let i = 0; i < 3000; i++) f(20);
	n++;
	require("fs").readFile("/proc/self/stat", () => setTimeout(turn, 20));
}
turn();
END_JS
# Started anew each minute, as such programs are.
compiles() {
	cd "$dir"
	while :; do timeout 60 node --perf-basic-prof-only-functions "$dir/compiles.js"; done
}

programs 2>/dev/null &
started="$started $!"
left_out=
if command -v python3 >/dev/null; then
	python3 "$dir/libraries.py" "$pause" "$dir" &
	started="$started $!"
else
	left_out="$left_out libraries (no python3)"
fi
if command -v node >/dev/null; then
	compiles >/dev/null 2>&1 &
	started="$started $!"
else
	left_out="$left_out compiled code (no node)"
fi

# ---- the recorder -------------------------------------------------------------------------------
flight=
case " $* " in *" --flight"*) flight=yes ;; esac
"$O/chaincap" -v "$@" -o "$dir/trace" ${flight:+--max-dumps=100000} 2>"$dir/err" &
recorder=$!
started="$recorder $started"

tree() {
	echo "$recorder"
	for p in $(cat /proc/$recorder/task/$recorder/children 2>/dev/null); do
		echo "$p"
		tr ' ' '\n' <"/proc/$p/task/$p/children" 2>/dev/null | grep . || true
	done
}
ticks=$(getconf CLK_TCK)
# sample: MiB of the recorder and of the others, descriptors of all, maps, seconds of CPU.
sample() {
	mine=0 others=0 files=0 cpu=0
	for p in $(tree); do
		kib=$(awk '$1 == "RssAnon:" { print $2 }' "/proc/$p/status" 2>/dev/null) || continue
		[ "$p" = "$recorder" ] && mine=$kib || others=$((others + ${kib:-0}))
		# shellcheck disable=SC2012 # numbers
		files=$((files + $(ls "/proc/$p/fd" 2>/dev/null | wc -l)))
		cpu=$(awk -v so_far="$cpu" '{ printf "%.0f\n", so_far + $14 + $15 + $16 + $17 }' "/proc/$p/stat" 2>/dev/null || echo "$cpu")
	done
	maps=$(wc -l <"/proc/$recorder/maps")
	# shellcheck disable=SC2012
	bytes=$(cat "$dir"/trace* 2>/dev/null | wc -c)
}

echo "seconds $seconds, options: ${*:-none}, kernel $(uname -r), $(nproc) CPUs, $(date +%F)"
[ -z "$left_out" ] || echo "left out:$left_out"
printf '%8s %9s %9s %7s %7s %9s %9s\n' second anon_MiB others files maps cpu_% trace_MiB
begin=$(date +%s) before_cpu=0 before=$begin
while kill -0 $recorder 2>/dev/null && [ $(($(date +%s) - begin)) -lt "$seconds" ]; do
	sleep "$every"
	now=$(date +%s)
	sample
	echo "$((now - begin)) $mine $others $files $maps $cpu $bytes" >>"$dir/samples"
	awk -v t=$((now - begin)) -v m="$mine" -v o="$others" -v f="$files" -v n="$maps" \
		-v c=$((cpu - before_cpu)) -v s=$(((now - before) * ticks)) -v b="$bytes" 'BEGIN {
			printf "%8d %9.1f %9.1f %7d %7d %9.2f %9.1f\n", t, m / 1024, o / 1024, f, n, 100 * c / s, b / 1048576 }'
	before_cpu=$cpu before=$now
	if [ "$flight" ]; then
		rm -f "$dir"/trace?* # all but the last one
		kill -USR1 $recorder
	fi
done
kill -INT $recorder 2>/dev/null || true
wait $recorder && status=0 || status=$?

echo "over the last half:"
awk '{ t[NR] = $1; mine[NR] = $2 / 1024; others[NR] = $3 / 1024; files[NR] = $4; maps[NR] = $5 }
	# By the method of least squares: where the line begins and ends.
	function judge(what, unit, v,    i, n, first, mt, mv, tt, tv, growth, from, to) {
		first = int(NR / 2) + 1
		n = NR - first + 1
		for (i = first; i <= NR; i++) {
			mt += t[i] / n
			mv += v[i] / n
		}
		for (i = first; i <= NR; i++) {
			tt += (t[i] - mt) ^ 2
			tv += (t[i] - mt) * (v[i] - mv)
		}
		from = mv + tv / tt * (t[first] - mt)
		to = mv + tv / tt * (t[NR] - mt)
		growth = from > 0 ? 100 * (to - from) / from : 0
		printf "%s from %.1f%s to %.1f%s, %+.1f %%: %s\n", what, from, unit, to, unit, growth,
			(growth > 5 ? "grows" : "flat")
	}
	function judge_most(what, unit, v,    i, most, growth) {
		for (i = 1; i <= NR; i++)
			if (v[i] > most[i > NR / 2])
				most[i > NR / 2] = v[i]
		growth = most[0] > 0 ? 100 * (most[1] - most[0]) / most[0] : 0
		printf "%s at most %.1f%s, in the first half %.1f%s, %+.1f %%: %s\n", what, most[1], unit, most[0], unit,
			growth, (growth > 5 ? "grows" : "flat")
	}
	END {
		if (NR < 4) { print "too few lines"; exit }
		judge("memory of the recorder", " MiB", mine)
		judge_most("memory of the others", " MiB", others)
		judge("descriptors", "", files)
		judge("mappings of the recorder", "", maps)
	}' "$dir/samples"
last=$(find "$dir" -name 'trace*' -size +0 | sort | tail -n 1)
echo "lost by tenths of the time of ${last##*/} (events, then mappings in all):"
"$O/chainwalk" -q --format=info "$last" >"$dir/info" 2>&1 || true
span=$(awk '$1 == "duration_s:" { print $2 }' "$dir/info")
"$O/chainwalk" -q --format=events "$last" 2>/dev/null | awk -v span="$span" '
	$3 == "lost" { part[int($1 * 10 / span)] += $4 }
	END { for (i = 0; i < 10; i++) printf "%.0f ", part[i]; print "" }'
grep -E '^(events|lost|mappings_lost|accounted|complete)' "$dir/info" || true
tail -n 12 "$dir/err" | grep -v '^chaincap: [0-9]* CPUs' || true
exit $status
