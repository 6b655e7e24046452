#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A recorder that begins a trace each minute, for hours: its memory and that of its BPF maps at the start, in the
# middle and at the end; how far from the clock's minute traces begin; its CPU time; and what it costs a pair of
# threads that switch as fast as they can, between two recordings and in all.
#   bench/every.sh BUILD_DIR [SECONDS [OPTION...]]
#   SECONDS   7200 by default; a line each EVERY seconds (SECONDS / 24, at least 10)
#   OPTION    in place of --every=60s --for=1s --keep=256M
#   ROUNDS=5  of measuring what it costs, of 2 seconds each: without a recorder, with one between recordings, with one
#             that records
# When a trace begins is told by a program that changes its name all the time, and notes the time of the clock when it
# does: the first new name in a trace is that many nanoseconds from its beginning. CPU time is that of the threads
# that switch, by the kernel's account, for each of their switches: other work of the machine is not in it, but for
# what it takes of caches, which on a busy machine is more than what is measured. How long the recorder's BPF programs
# ran, on all CPUs, is by the kernel's own measure (sysctl kernel.bpf_stats_enabled), which costs some 40 ns a run.
set -eu
export LC_ALL=C
O=$(cd "$1" && pwd)
seconds=${2:-7200}
shift $(($# < 2 ? $# : 2))
[ $# -gt 0 ] || set -- --every=60s --for=1s --keep=256M
every=${EVERY:-$((seconds / 24 > 10 ? seconds / 24 : 10))}
rounds=${ROUNDS:-5}
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d "${TMPDIR:-/var/tmp}/bench-every.XXXXXX")
started=
stats_enabled=$(sysctl -n kernel.bpf_stats_enabled)
clean_up() {
	for pid in $started; do kill "$pid" 2>/dev/null || true; done
	wait 2>/dev/null || true
	sysctl -q kernel.bpf_stats_enabled="$stats_enabled"
	rm -rf "$dir"
}
# shellcheck source=bench/begin.sh
. "$here/begin.sh"
mkdir "$dir/traces" "$dir/other"

echo "seconds $seconds, options: $*, kernel $(uname -r), $(nproc) CPUs, load $(cut -d ' ' -f 1 /proc/loadavg), $(date -u '+%F %T')"

# ---- what it costs who switches -----------------------------------------------------------------
# switch_ns [PID]: CPU time of a switch of the pair, ns; with a recorder, how long its BPF programs ran in a second, us,
# and how often
switch_ns() {
	taskset -c 0 "$O/chainload" pingpong --hops pipe --work 0 --rounds 1000000000 --seconds 60 >/dev/null &
	local pair=$! before after
	sleep 0.3
	before="$(pair_sums $pair) $(bpf_sums "${1:-}")"
	sleep 2
	after="$(pair_sums $pair) $(bpf_sums "${1:-}")"
	kill $pair
	wait $pair 2>/dev/null || true
	echo "$before $after" | awk '{ printf "%.0f %.3f %.0f\n", ($5 - $1) / ($6 - $2), ($7 - $3) / 2000, ($8 - $4) / 2 }'
}
# bpf_sums PID: how long the BPF programs of this recorder ran, ns, and how often
bpf_sums() {
	cat /proc/"${1:-none}"/fdinfo/* 2>/dev/null | awk '
		# Links have the number of their program, too.
		$1 == "prog_id:" { id = $2 }
		$1 == "run_time_ns:" { is_new = !(id in seen); seen[id]; if (is_new) ns += $2 }
		$1 == "run_cnt:" && is_new { n += $2 }
		END { printf "%.0f %.0f\n", ns, n }'
}
# pair_sums PID: ns on a CPU, and switches, of its threads
pair_sums() {
	cat /proc/"$1"/task/*/schedstat /proc/"$1"/task/*/status | awk '
		NF == 3 && $1 + 0 > 0 { ns += $1 }
		/ctxt_switches/ { n += $2 }
		END { printf "%.0f %.0f\n", ns, n }'
}
# with_recorder OPTION...: switch_ns beside such a recorder
with_recorder() {
	"$O/chaincap" -v "$@" 2>"$dir/other.err" &
	local recorder=$!
	started="$recorder $started"
	until grep -q 'kept in memory' "$dir/other.err" || ! kill -0 $recorder 2>/dev/null; do sleep 0.1; done
	sleep 1
	switch_ns $recorder
	kill -INT $recorder
	wait $recorder || true
}
sysctl -q kernel.bpf_stats_enabled=1
for _ in $(seq "$rounds"); do
	echo "without $(switch_ns)"
	echo "between $(with_recorder -o "$dir/other" --every=1440min --for=1s)"
	echo "recording $(with_recorder -o "$dir/other/trace" --flight=1s)"
	rm -f "$dir"/other/*
done >"$dir/costs"
sysctl -q kernel.bpf_stats_enabled="$stats_enabled"
cat "$here/median.awk" - >"$dir/costs.awk" <<'END_AWK'
{ all[$1] = all[$1] " " $2; us[$1] = us[$1] " " $3; runs[$1] = runs[$1] " " $4 }
END {
	none = median(all["without"])
	between = median(all["between"])
	recording = median(all["recording"])
	printf "CPU time of a switch, ns: without a recorder %.0f, between recordings %.0f (%.3f), recording %.0f (%.3f)\n", \
		none, between, between / none, recording, recording / none
	printf "between recordings: %.3f of what recording adds; in all, with 1 s of 60: %.4f of the time without\n", \
		(between - none) / (recording - none), (59 * between + recording) / 60 / none
	printf "BPF programs, us in a second (runs): between recordings %.3f (%.0f), recording %.3f (%.0f)\n", \
		median(us["between"]), median(runs["between"]), median(us["recording"]), median(runs["recording"])
	print "single figures of switches, in their order:"
	for (what in all)
		print "  " what ":" all[what]
}
END_AWK
awk -f "$dir/costs.awk" "$dir/costs"

# ---- hours --------------------------------------------------------------------------------------
cat >"$dir/ticker.py" <<'END_PY'
import os, sys, time
n = 0
name = "t%d." % (os.getpid() % 1000000)
with open(sys.argv[1], "w", buffering=1) as log:
    while True:
        # Around whole seconds only, as recordings begin at those.
        now = time.time()
        rest = now % 1
        if 0.3 < rest < 0.97:
            time.sleep(0.97 - rest)
        n += 1
        at = time.time_ns()
        with open("/proc/self/comm", "w") as f:
            f.write(name + str(n))
        log.write("%s%d %d\n" % (name, n, at))
        time.sleep(0.002)
END_PY
python3 "$dir/ticker.py" "$dir/ticks" &
started="$started $!"

"$O/chaincap" -v "$@" -o "$dir/traces" 2>"$dir/err" &
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
# sample: KiB of the recorder and of all its processes, of BPF maps, descriptors, CPU time in ticks.
sample() {
	mine=$(awk '$1 == "RssAnon:" { print $2 }' "/proc/$recorder/status")
	# Processes may end meanwhile: what is left of them is added up.
	# shellcheck disable=SC2046 # numbers
	all=$(cat $(tree | sed 's|.*|/proc/&/status|') 2>/dev/null | awk '$1 == "RssAnon:" { sum += $2 } END { printf "%.0f\n", sum }')
	# shellcheck disable=SC2046
	cpu=$(cat $(tree | sed 's|.*|/proc/&/stat|') 2>/dev/null | awk '{ sub(/.*\) /, ""); sum += $12 + $13 + $14 + $15 } END { printf "%.0f\n", sum }')
	maps=$(cat /proc/$recorder/fdinfo/* 2>/dev/null | awk '
		$1 == "memlock:" { bytes = $2 }
		$1 == "map_id:" && !($2 in seen) { seen[$2]; sum += bytes }
		END { printf "%.0f\n", sum / 1024 }')
	# shellcheck disable=SC2012 # numbers
	files=$(ls "/proc/$recorder/fd" 2>/dev/null | wc -l)
}
# offset TRACE: how many us after a whole second it begins, as the program tells that changes its name
offset() {
	"$O/chainwalk" -q --format=events "$1" 2>/dev/null | awk '
		NR == FNR { at[$1] = $2; next }
		$3 == "rename" && $NF in at { printf "%.0f %s\n", $1 * 1e9, at[$NF]; exit }' "$dir/ticks" - |
		awk '{
			# Numbers of 19 digits: seconds apart from nanoseconds.
			ns = substr($2, length($2) - 8) - $1
			while (ns < -5e8) ns += 1e9
			while (ns > 5e8) ns -= 1e9
			printf "%.0f\n", ns / 1000
		}'
}

printf '%8s %9s %9s %9s %6s %7s %7s\n' second anon_MiB all_MiB maps_MiB files traces cpu_%
begin=$(date +%s) before_cpu=0 before=$begin first_cpu=
while kill -0 $recorder 2>/dev/null && [ $(($(date +%s) - begin)) -lt "$seconds" ]; do
	sleep "$every"
	now=$(date +%s)
	sample
	first_cpu=${first_cpu:-$cpu}
	[ -n "${first:-}" ] || first=$now
	# shellcheck disable=SC2012
	n=$(ls "$dir/traces" | wc -l)
	echo "$((now - begin)) $mine $all $maps $files" >>"$dir/samples"
	awk -v t=$((now - begin)) -v m="$mine" -v a="$all" -v b="$maps" -v f="$files" -v n="$n" \
		-v c=$((cpu - before_cpu)) -v s=$(((now - before) * ticks)) 'BEGIN {
			printf "%8d %9.1f %9.1f %9.1f %6d %7d %7.2f\n", t, m / 1024, a / 1024, b / 1024, f, n, s ? 100 * c / s : 0 }'
	before_cpu=$cpu before=$now
	for trace in "$dir"/traces/*.bin; do
		[ -e "$trace" ] || continue
		! grep -qs "^${trace##*/} " "$dir/offsets" || continue
		us=$(offset "$trace")
		[ -z "$us" ] || echo "${trace##*/} $us" >>"$dir/offsets"
	done
done
kill -INT $recorder 2>/dev/null || true
wait $recorder && status=0 || status=$?
echo "$cpu $first_cpu $((now - first)) $ticks" | awk '$3 > 0 {
	printf "CPU time of the recorder and its processes: %.1f s an hour (after the first line)\n", ($1 - $2) / $4 / $3 * 3600 }'
awk '{ t[NR] = $1; mine[NR] = $2; all[NR] = $3; maps[NR] = $4 }
	END {
		m = int((NR + 1) / 2)
		printf "MiB of the recorder, of all its processes, of its BPF maps: first line %.1f %.1f %.1f, middle %.1f %.1f %.1f, end %.1f %.1f %.1f\n", \
			mine[1] / 1024, all[1] / 1024, maps[1] / 1024, mine[m] / 1024, all[m] / 1024, maps[m] / 1024, \
			mine[NR] / 1024, all[NR] / 1024, maps[NR] / 1024 }' "$dir/samples"
cat "$here/median.awk" - >"$dir/offsets.awk" <<'END_AWK'
{ us = $2 < 0 ? -$2 : $2; list = list " " us; most = us > most ? us : most; n++ }
END { if (n) printf "beginning of %d traces: %.0f us from the clock (median), %.0f us at most\n", n, median(list), most }
END_AWK
[ ! -e "$dir/offsets" ] || awk -f "$dir/offsets.awk" "$dir/offsets"
echo "recordings not made, and other remarks:"
grep -v -e ' events, ' -e 'names: kernel' -e interpreters -e 'has no names' "$dir/err" | sort | uniq -c | sort -rn | head -n 12
exit "$status"
