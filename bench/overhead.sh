#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What recording costs, beside other recorders, in one run: every recorder in turn, compared with the mean of
# the same work without one just before and just after it, ROUNDS times; medians of these, and quartiles.
#   bench/overhead.sh [-i] BUILD_DIR [ROUNDS]
#   -i               installs what is missing of the workloads and recorders below (apt-get)
#   WORKLOADS="pipe messaging mariadb"   what is measured
#   RECORDERS="chaincap chaincap-F0 chaincap-K perf perf-dwarf bpftrace offcputime wakeuptime"
#                    by what; what is not installed is left out by name; also chaincap-no-objects,
#                    chaincap-no-block, chaincap-no-irq; chaincap@DIR is that of another build
# pipe: perf bench sched pipe on one CPU, the recorder free to use the others; an operation is two
# switches and one waking. messaging: perf bench sched messaging, all CPUs. mariadb: sysbench
# oltp_read_only with 8 threads on a server of its own, all CPUs; it goes on while recorders come and
# go, and its seconds are those of 6000 transactions at the rate of WINDOW seconds (5).
# A recorder's start is not measured: chaincap's takes half a second of CPU time.
# chaincap samples running threads, too, chaincap-F0 does not: the difference is what samples cost.
# chaincap, perf record -g and bpftrace take kernel and user stack at every switch and waking,
# offcputime and wakeuptime (libbpf-tools) one stack of either sort for some of them. chaincap unwinds
# by .eh_frame, perf, bpftrace and the other two by frame pointers; perf-dwarf is perf record
# --call-graph dwarf, which copies 8 KiB of stack for each event, to be unwound later.
set -eu
export LC_ALL=C # the decimal point
# shellcheck source=bench/mariadb.sh
. "$(dirname "$0")/mariadb.sh"
install=
[ "${1:-}" != -i ] || { install=1; shift; }
O=$(cd "$1" && pwd)
rounds=${2:-5}
workloads=${WORKLOADS:-pipe messaging mariadb}
recorders=${RECORDERS:-chaincap chaincap-F0 chaincap-K perf perf-dwarf bpftrace offcputime wakeuptime}
export loops=${LOOPS:-200000} groups=${GROUPS_OF_40:-10} window=${WINDOW:-5}
transactions=6000
dir=$(mktemp -d)
export dir
recording='' recorder_pid=''
clean_up() {
	[ -z "$recorder_pid" ] || kill "$recorder_pid" 2>/dev/null || true
	mariadb_stop
	rm -rf "$dir"
}
# shellcheck source=bench/begin.sh
. "$(dirname "$0")/begin.sh"
for other in chaincap perf bpftrace offcputime wakeuptime; do
	if pgrep -x "$other" >"$dir/others"; then
		echo "bench: $other is running (pid $(tr '\n' ' ' <"$dir/others")): nothing would come out" >&2
		exit 1
	fi
done
if [ "$install" ]; then
	apt-get -q update >/dev/null
	DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends linux-perf \
		mariadb-server sysbench bpftrace libbpf-tools >/dev/null
fi

# Each prints the seconds that the same work took.
pipe() { taskset -c 0 perf bench --format simple sched pipe -l "$loops"; }
messaging() { perf bench --format simple sched messaging -g "$groups" -l 400; }
mariadb() { calc "$transactions / $(mariadb_rate "$window")"; }

# what_runs PROGRAM: false, having said so, if it is not installed. The same names are python scripts elsewhere.
what_runs() {
	command -v "$1" >/dev/null || { echo "left out: $2: no $1 here (-i installs it)"; return 1; }
}
keep=
for w in $workloads; do
	case $w in
	mariadb) for tool in $(mariadb_missing); do what_runs "$tool" "$w" && continue; continue 2; done ;;
	*) what_runs perf "$w" || continue ;;
	esac
	keep="$keep $w"
done
workloads=$keep keep=
for r in $recorders; do
	case $r in
	chaincap*) ;;
	*) what_runs "${r%-dwarf}" "$r" || continue ;;
	esac
	keep="$keep $r"
done
recorders=$keep
[ -x "$O/bench/cost" ] || make -s -C "$(dirname "$0")/.." O="$O" "$O/bench/cost"

# used PID FIELD...: CPU seconds in those fields of /proc/PID/stat, counted behind the name (14: its own
# user time, 16: that of children that have ended); 0 if there is no PID.
used() {
	local pid=$1
	shift
	[ "$pid" ] || { echo 0; return; }
	sed 's/.*) //' "/proc/$pid/stat" | awk -v fields="$*" -v tick="$(getconf CLK_TCK)" '
		{ n = split(fields, f, " "); for (i = 1; i <= n; i++) t += $(f[i] - 2); printf "%.2f\n", t / tick }'
}

# cpu_now: of the workload and the server.
cpu_now() { calc "$(used $$ 16 17)+$(used "${mariadb_pid:-}" 14 15)+$(used "${mariadb_client:-}" 14 15)"; }

# measure WORKLOAD: sets seconds, and the CPU seconds that this work took: cpu the workload and the server,
# own the recorder.
measure() {
	local from cpu_from own_from share=1
	cpu_from=$(cpu_now)
	own_from=$(used "$recorder_pid" 14 15)
	from=$(date +%s.%N)
	$1 >"$dir/seconds" # not in a subshell: its children are counted
	seconds=$(cat "$dir/seconds")
	[ "$1" != mariadb ] || share=$(calc "$seconds / ($(date +%s.%N) - $from)")
	own=$(calc "($(used "$recorder_pid" 14 15) - $own_from) * $share")
	cpu=$(calc "($(cpu_now) - $cpu_from) * $share")
}

calc() { awk "BEGIN { printf \"%.6f\", $1 }"; }

# start RECORDER: in the background; what it took is in $dir/cost in the end.
start() {
	local settle=0.7 bpftrace='tracepoint:sched:sched_switch { @off[kstack, ustack, comm] = count(); }
		tracepoint:sched:sched_waking { @waker[kstack, ustack, comm] = count(); }'
	case $1 in
	chaincap) set -- "$O/chaincap" -v -o "$dir/trace" ;;
	chaincap-F0) set -- "$O/chaincap" -v -F 0 -o "$dir/trace" ;;
	chaincap@*) set -- "${1#*@}/chaincap" -v -o "$dir/trace" ;;
	chaincap-K) set -- "$O/chaincap" -v -K -o "$dir/trace" ;;
	chaincap-no-objects) set -- "$O/chaincap" -v --no-objects -o "$dir/trace" ;;
	chaincap-no-irq) set -- "$O/chaincap" -v --no-irq -o "$dir/trace" ;;
	chaincap-no-block) set -- "$O/chaincap" -v --no-block -o "$dir/trace" ;;
	perf-dwarf) set -- perf record -q -a --call-graph dwarf -e sched:sched_switch -e sched:sched_waking -o "$dir/trace" ;;
	perf) set -- perf record -q -a -g -e sched:sched_switch -e sched:sched_waking -o "$dir/trace" ;;
	bpftrace) settle=3; set -- bpftrace -e "$bpftrace" ;;
	*) settle=2; set -- "$1" ;;
	esac
	"$O/bench/cost" "$@" >"$dir/cost" 2>"$dir/err" &
	recording=$!
	[ "$workload" != mariadb ] || settle=$settle+2 # the CPUs are taken
	sleep "$(calc "$settle")"
	for _ in $(seq 50); do
		recorder_pid=$(ps -o pid= --ppid $recording | tr -d ' ')
		[ -z "$recorder_pid" ] || break
		sleep 0.1
	done
	[ "$recorder_pid" ] || { echo "bench: $1 does not run: $(tail -n 3 "$dir/err")" >&2; exit 1; }
}

# stop RECORDER: sets events, bytes, lost, and mib, late (s from the end until it has finished; some 30 at most).
stop() {
	local from
	events=0 bytes=0 lost=0
	from=$(date +%s.%N)
	kill -INT "$recorder_pid"
	for _ in $(seq 600); do
		kill -0 $recording 2>/dev/null || break
		sleep 0.05
	done
	kill -KILL "$recorder_pid" 2>/dev/null || true
	late=$(calc "$(date +%s.%N) - $from")
	wait $recording 2>/dev/null || true
	recorder_pid=
	read -r _ _ mib <"$dir/cost"
	mib=$((mib / 1024))
	case $1 in
	chaincap*)
		events=$(sed -n 's/^chaincap: \([0-9]*\) events.*/\1/p' "$dir/err")
		lost=$(sed -n 's/.* \([0-9]*\) lost.*/\1/p' "$dir/err")
		bytes=$(stat -c %s "$dir/trace")
		;;
	perf*)
		bytes=$(stat -c %s "$dir/trace")
		timeout 60 perf report -i "$dir/trace" --stats >"$dir/stats" 2>/dev/null || true
		# perf 6.1 prints a block for all and one for each event: the first one counts.
		events=$(awk '/SAMPLE events:/ { print $3; exit }' "$dir/stats")
		lost=$(awk '/LOST events:/ { n = $3; exit } END { printf "%.0f\n", n }' "$dir/stats")
		;;
	esac
	rm -f "$dir/trace" # some GB of perf-dwarf, which would be written while the next one is measured
}

case " $workloads " in *" mariadb "*) mariadb_start ;; esac
for w in $workloads; do [ "$w" = mariadb ] || measure "$w"; done # warm up
order=$recorders
for round in $(seq "$rounds"); do
	for workload in $workloads; do
		[ "$workload" != mariadb ] || mariadb_busy
		measure "$workload"
		for recorder in $order; do
			seconds_before=$seconds cpu_before=$cpu
			start "$recorder"
			measure "$workload"
			stop "$recorder"
			recorded="$seconds $cpu ${events:-0} $bytes ${lost:-0} $own $mib $late"
			measure "$workload"
			echo "$recorder $workload $(calc "($seconds_before + $seconds) / 2") $(calc "($cpu_before + $cpu) / 2") $recorded"
		done
		mariadb_idle
	done
	# shellcheck disable=SC2086 # words
	order=$(rotated "$round" $recorders)
	[ ! -t 2 ] || printf '\rround %d of %d' "$round" "$rounds" >&2
done >"$dir/all"
[ ! -t 2 ] || printf '\r\033[K' >&2

echo "rounds $rounds, pipe loops $loops, window $window s, kernel $(uname -r), $(nproc) CPUs, $(date +%F), load $(cut -d' ' -f1 /proc/loadavg)"
awk -v loops="$loops" -v workloads="$workloads" -v recorders="$recorders" "$(cat "$(dirname "$0")/median.awk")"'
function middle(key) { return median(list[key]) }
function quartiles(key,    n, v) {
	n = sorted(list[key], v)
	return sprintf("%.0f..%.0f", v[int((n + 3) / 4)], v[n + 1 - int((n + 3) / 4)])
}
function lost(key) { return (1 - 1 / (1 + middle(key "slower") / 100)) * 100 } # percent of the work
function put(key, value) { list[key] = list[key] " " value }
{
	key = $1 " " $2 " "
	put("none " $2, $3)
	put(key "s", $5)
	put(key "slower", ($5 / $3 - 1) * 100)
	put(key "cpu", (($6 + $10) / $4 - 1) * 100) # the work and the recorder
	put(key "ns", ($5 - $3) * 1e9 / (loops * 3))
	if ($7 > 0) { # perf report cannot read some traces of its own
		put(key "b", $8 / $7)
		put(key "l", $9)
	}
	put(key "own", $10)
	put(key "mib", $11)
	put(key "late", $12)
}
END {
	n = split(recorders, rec, " ")
	m = split(workloads, work, " ")
	format = "%-10s %-11s %8s %7s %10s %9s %9s %9s %6s %8s %5s %9s\n"
	printf format, "workload", "recorder", "seconds", "slower", "quartiles", "more CPU", "ns/event", "B/event", "lost", "own CPU", "MiB", "finish s"
	for (w = 1; w <= m; w++) {
		printf format, work[w], "none", sprintf("%.3f", middle("none " work[w])), "", "", "", "", "", "", "", "", ""
		for (r = 1; r <= n; r++) {
			key = rec[r] " " work[w] " "
			is_log = (key "b") in list
			printf format, work[w], rec[r], sprintf("%.3f", middle(key "s")),
				sprintf("%.0f%%", middle(key "slower")), quartiles(key "slower"),
				sprintf("%.0f%%", middle(key "cpu")),
				work[w] == "pipe" ? sprintf("%.0f", middle(key "ns")) : "-",
				is_log ? sprintf("%.1f", middle(key "b")) : "-", is_log ? middle(key "l") : "-",
				sprintf("%.2f", middle(key "own")), middle(key "mib"), sprintf("%.2f", middle(key "late"))
		}
		key = "chaincap " work[w] " "
		if (!((key "s") in list))
			continue
		for (r = 1; r <= n; r++) {
			other = rec[r] " " work[w] " "
			if (rec[r] !~ /@/)
				continue
			if (work[w] == "pipe")
				ratio = ratio sprintf("pipe: %s adds %.2f times what chaincap adds to an event\n", rec[r],
					middle(other "ns") / middle(key "ns"))
			else
				ratio = ratio sprintf("%s: %s loses %.0f %%, chaincap %.0f %%\n", work[w], rec[r], lost(other), lost(key))
		}
		for (p = 1; p <= 2; p++) {
			peer = p == 1 ? "perf" : "perf-dwarf"
			if (!((peer " " work[w] " s") in list))
				continue
			ratio = ratio sprintf("%s: chaincap ", work[w])
			if (work[w] == "pipe")
				ratio = ratio sprintf("adds %.2f times what %s adds to an event\n",
					middle(key "ns") / middle(peer " pipe ns"), peer)
			else
				ratio = ratio sprintf("loses %.0f %%, %.2f times what %s loses; by CPU time %.2f times\n",
					lost(key), lost(key) / lost(peer " " work[w] " "), peer,
					middle(key "cpu") / middle(peer " " work[w] " cpu"))
		}
	}
	printf "%s", ratio
}' "$dir/all"
