#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# How long a recorder takes from its command line until it records, and from its end until it has
# finished: on an idle machine, and with BUSY threads for each CPU that never sleep. Every recorder in
# turn, ROUNDS times; medians, and the worst.
#   bench/start.sh BUILD_DIR [ROUNDS]
#   RECORDERS="chaincap offcputime bpftrace perf"   what is not installed is left out by name
#   BUSY=8                                          threads for each CPU; 0: idle only
#   POSSIBLE="2 64 200"                             instead: by how many CPUs there can be, in guests of
#                                                   qemu with two of them, by software emulation
#   CPUS="2 8 32"                                   likewise: by how many there are; the emulation runs
#                                                   one at a time, so what counts is how it grows
# "begins" is when the command that is to be recorded is let go; a shell that prints the time is that
# command, so its own start is included. The recording then lasts a second. "both" is all the rest of
# the time, for offcputime, which does not say when it begins, too.
set -eu
export LC_ALL=C # the decimal point
O=$(cd "$1" && pwd)
rounds=${2:-5}
recorders=${RECORDERS:-chaincap offcputime bpftrace perf}
busy=${BUSY:-8}
dir=$(mktemp -d)
hogs=
clean_up() {
	for pid in $hogs; do kill "$pid" 2>/dev/null || true; done
	rm -rf "$dir"
}
# shellcheck source=bench/begin.sh
. "$(dirname "$0")/begin.sh"

# guest CPUS POSSIBLE: "" for the default
guest() {
	CPUS=$1 POSSIBLE=$2 KERNELS=linux-image-amd64 GUEST=kernels/guest/start.sh \
		sh "$(dirname "$0")/../tests/kernels/run.sh" "$O" >"$dir/log" || cat "$dir/log" >&2
	sed -n 's/^ *note: //p' "$dir/log"
}
possible=${POSSIBLE:-} cpus=${CPUS:-}
if [ "$possible$cpus" ]; then
	for n in $possible; do guest "" "$n"; done
	for n in $cpus; do guest "$n" ""; done
	exit
fi

now() { date +%s.%N; }
calc() { awk "BEGIN { printf \"%.9f\\n\", $1 }"; }
load() {
	[ "$1" = busy ] || return 0
	for _ in $(seq $((busy * $(nproc)))); do
		timeout 60 sh -c 'while :; do :; done' &
		hogs="$hogs $!"
	done
	sleep 0.5
}
unload() {
	for pid in $hogs; do
		kill "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	hogs=
}

# run RECORDER: $dir/begin and $dir/last are written when it records, and a second later.
run() {
	# shellcheck disable=SC2016 # the recorded shell expands it
	local command='date +%s.%N >"$dir/begin"; sleep 1; date +%s.%N >"$dir/last"'
	export dir
	case $1 in
	chaincap) "$O/chaincap" -q -o "$dir/trace" -- sh -c "$command" ;;
	perf) perf record -q -a -g -e sched:sched_switch -e sched:sched_waking -o "$dir/trace" -- sh -c "$command" ;;
	bpftrace)
		echo "$command" >"$dir/command"
		bpftrace -c "/bin/sh $dir/command" -e 'tracepoint:sched:sched_switch { @off[kstack, ustack, comm] = count(); }
			tracepoint:sched:sched_waking { @wake[kstack, ustack, comm] = count(); }' >/dev/null
		;;
	# It does not say when it begins, and knows no command.
	offcputime) offcputime 1 ;;
	esac >"$dir/out" 2>"$dir/err"
}

for r in $recorders; do
	command -v "$r" >/dev/null || [ "$r" = chaincap ] || { echo "left out: $r is not installed"; continue; }
	there="${there:-} $r"
done
for load in idle busy; do
	[ $load = idle ] || [ "$busy" -gt 0 ] || continue
	for round in $(seq "$rounds"); do
		for r in $there; do
			load $load
			rm -f "$dir/begin" "$dir/last"
			from=$(now)
			run "$r" || true
			to=$(now)
			unload
			both=$(calc "$to - $from - 1")
			if [ -s "$dir/last" ]; then
				echo "$load $r $both $(calc "$(cat "$dir/begin") - $from") $(calc "$to - $(cat "$dir/last")")"
			elif [ "$r" = offcputime ]; then
				echo "$load $r $both"
			else
				echo "bench: $r: $(tail -n 1 "$dir/err")" >&2
			fi
		done
		[ ! -t 2 ] || printf '\r%s, round %d of %d' "$load" "$round" "$rounds" >&2
	done
done >"$dir/all"
[ ! -t 2 ] || printf '\r\033[K' >&2

echo "rounds $rounds, kernel $(uname -r), $(nproc) CPUs, busy threads $((busy * $(nproc))), $(date +%F)"
printf '%-6s %-11s %8s %8s %8s %8s %8s %8s\n' load recorder begins worst finished worst both worst
sort "$dir/all" | awk '
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
		printf "%-6s %-11s %s %s %s\n", part[1], part[2], figures(begin), figures(finish), figures(both)
	}'
