#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What it costs to record how far TCP connections between machines are, by which traces of several machines are joined:
# redis-server in a network namespace of its own, redis-benchmark in another one, with a pair of network devices between
# them, recorded by chaincap and by the same without these events, which is built for that. Both are started before; then one
# after the other records for a moment, TURNS (60) times. Medians of these, and of the differences of two that follow each
# other, with the standard error, by the quartiles.
#   bench/streams.sh BUILD_DIR [TURNS]
#   CLIENTS="1 50"   connections, each of which asks when it is answered
#   WINDOW=0.3       seconds that count, SETTLE=0.1 seconds after the switch, before them
# For each command that the server counts: the run time of the BPF programs by the kernel's own measure (which itself is some
# 40 ns of each run), and bytes of the trace; then both for each of these events: one for each waking by data, at either
# end, and one for each answer. Both ends are on this machine.
set -eu
[ "${1:-}" = --apart ] || exec unshare -n -m "${BASH:-bash}" "$0" --apart "$@"
shift
# shellcheck source=bench/run_time.sh
WORKLOADS=none
. "$(dirname "$0")/run_time.sh"
# shellcheck source=bench/loads.sh
. "$(dirname "$0")/loads.sh"
# shellcheck source=bench/switch.sh
. "$(dirname "$0")/switch.sh"
O=$(cd "$1" && pwd)
turns=${2:-60}
window=${WINDOW:-0.3}
settle=${SETTLE:-0.1}
other=
declare -A recorder handle # of "with" and "without": processes, and what they are switched by
clean_up() {
	stop_recorders
	run_times_off
	load_stop
	[ -z "$other" ] || kill "$other" 2>/dev/null || true
	rm -rf "$dir"
}
for tool in $(load_missing redis) ip nsenter make bpftool perl; do
	command -v "$tool" >/dev/null || { echo "bench: no $tool here" >&2; exit 1; }
done

# patch FILE AFTER LINE: of the copy, which has to have that place once
patch() {
	[ "$(grep -cF "$2" "$dir/source/$1")" = 1 ] || { echo "bench: $1 has changed: $2" >&2; exit 1; }
	sed -i "\\|$(echo "$2" | sed 's/[][*.]/\\&/g')|a $3" "$dir/source/$1"
}
# build_without: $dir/source/build/chaincap
build_without() {
	mkdir "$dir/source"
	tar -C "$(dirname "$0")/.." --exclude='./build*' --exclude=./.git -cf - . | tar -C "$dir/source" -xf -
	patch bpf/ready.h 'case WIRE_CALL_FD:' 'return 0;'
	patch bpf/ready.h '__u64 inode = (__u64)FIELD(file, file, f_inode), socket, sk;' 'if (file) return 0;'
	patch bpf/ready.h '__u64 to, from;' 'if (sk) return true;'
	make -C "$dir/source" O=build build/chaincap >"$dir/out" 2>&1 || { cat "$dir/out" >&2; exit 1; }
}
build_without

ip link add west type veth peer name east
unshare -n sleep 86400 &
other=$!
until [ "$(readlink /proc/$other/ns/net)" != "$(readlink /proc/$$/ns/net)" ]; do sleep 0.1; done
ip link set east netns $other
ip addr add 10.77.0.1/24 dev west
ip link set west up
load_there="nsenter -t $other -n"
$load_there ip addr add 10.77.0.2/24 dev east
$load_there ip link set east up
load_address=10.77.0.2

# start WITH CHAINCAP: leaves it off. From the server's namespace, else connections that are there already have no requests.
start() {
	# shellcheck disable=SC2086 # words
	$load_there "$2" -v -F 0 -o "$dir/$1.trace" 2>"$dir/$1.err" &
	recorder[$1]=$!
	load_until grep -q 'ring buffers' "$dir/$1.err"
	handle[$1]=$(map_of ${recorder[$1]})
	switch_chaincap "${handle[$1]}" "$switched_off"
}
stop_recorders() {
	for pid in "${recorder[@]}"; do kill "$pid" && wait "$pid"; done 2>/dev/null || true
	recorder=()
}

# now WITH: the recorder's CPU time in ns, and its programs.
now() {
	cat "/proc/${recorder[$1]}/task"/*/schedstat | awk '{ ns += $1 } END { printf "recorder %.0f\n", ns }'
	program_times "${recorder[$1]}"
}
# measure WITH: lines "WITH WHAT AMOUNT" of the next WINDOW, for each command.
measure() {
	local from
	sleep "$settle"
	load_count
	from=$count
	now "$1" >"$dir/before"
	sleep "$window"
	load_count
	now "$1" >"$dir/after"
	awk -v with="$1" -v commands=$((count - from)) '
		NR == FNR { amount[$1] = $2; next }
		{ printf "%s %s %.3f\n", with, $1, ($2 - amount[$1]) / commands }
		$1 ~ /^on_/ { all += $2 - amount[$1] }
		END { printf "%s programs %.3f\n", with, all / commands }' "$dir/before" "$dir/after"
}
# recorded WITH: the same of the whole trace: bytes and events, for each answer.
recorded() {
	"$O/chainwalk" -q -f info "$dir/$1.trace" | awk -v with="$1" -v bytes="$(stat -c %s "$dir/$1.trace")" '
		{ sub(/:$/, "", $1); n[$1] = $2 }
		END {
			answers = n["requests"] + n["requests_left_out"]
			printf "%s bytes %.3f\n%s events %.4f\n%s lost %.0f\n", with, bytes / answers, with, n["streams"] / answers, with, n["lost"] + n["more_lost"]
		}'
}

echo "turns $turns, $window s each, kernel $(uname -r), $(nproc) CPUs, $(date +%F), load $(cut -d' ' -f1 /proc/loadavg)"
for load_clients in ${CLIENTS:-1 50}; do
	load_start redis
	load_busy
	run_times_on
	start with "$O/chaincap"
	start without "$dir/source/build/chaincap"
	for turn in $(seq "$turns"); do
		for with in $(rotated "$turn" with without); do
			switch_chaincap "${handle[$with]}" "$switched_on"
			measure "$with"
			switch_chaincap "${handle[$with]}" "$switched_off"
		done
		[ ! -t 2 ] || printf '\r%d connections, turn %d of %d ' "$load_clients" "$turn" "$turns" >&2
	done >"$dir/all"
	[ ! -t 2 ] || printf '\r\033[K' >&2
	run_times_off
	stop_recorders
	load_stop
	for with in with without; do recorded $with; done >>"$dir/all"
	awk -v clients="$load_clients" "$(cat "$(dirname "$0")/median.awk")"'
		function row(name, key, digits,    a, b, v, n, i, more, error) {
			n = split(amounts["with " key], a, " ")
			split(amounts["without " key], b, " ")
			for (i = 1; i <= n; i++)
				more = more " " a[i] - b[i]
			sorted(more, v)
			if (n > 1)
				error = sprintf("(+- %.0f)", 0.93 * (v[n + 1 - int((n + 3) / 4)] - v[int((n + 3) / 4)]) / sqrt(n))
			printf "  %-34s %9." digits "f %9." digits "f %9." digits "f %10s\n", name, median(amounts["with " key]),
				median(amounts["without " key]), median(more), error
			return median(more)
		}
		{ amounts[$1 " " $2] = amounts[$1 " " $2] " " $3 }
		$2 == "lost" { lost += $3 }
		END {
			printf "\n%.0f connections; %.0f events lost\n", clients, lost
			printf "  %-34s %9s %9s %9s\n", "for each command", "with", "without", "more"
			ns = row("programs, ns", "programs", 0)
			row("  of these wakings (on_waking)", "on_waking", 0)
			row("  writes (on_send)", "on_send", 0)
			row("the recorder, ns of CPU time", "recorder", 0)
			bytes = row("trace, bytes", "bytes", 1)
			events = median(amounts["with events"])
			if (events)
				printf "  %.2f events; for each of them %.0f ns and %.1f bytes\n", events, ns / events, bytes / events
		}' "$dir/all"
done
