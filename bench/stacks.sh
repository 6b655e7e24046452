#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# User stacks of real programs, frame for frame: what perf, offcputime and chaincap find of the stacks
# that eu-stack finds in the same threads during the same sleep. Prints the table in docs/comparison.md.
#   bench/stacks.sh BUILD_DIR
#   PROGRAMS="mariadb postgresql redis nginx apache node java python chainload"
#                    which; what is not installed is left out by name
#   KEEP=DIR         copies a line for each thread there, with the frame where it first differs
# Each program is used lightly, and then stopped (SIGSTOP), so that all of its threads leave their CPUs
# once more, with the stacks of their sleeps. All recorders run at that time and see that switch; eu-stack
# looks at the stopped threads; then they go on, which ends the sleep that offcputime adds up. chainload is
# the tests' own program, built by gcc -O2 -fomit-frame-pointer.
# The columns: frames at their place, counted from the leaf; frames in the right order, although others
# between them are missing; threads whose stack equals that of eu-stack.
#   perf -g          perf record -g -e sched:sched_switch
#   perf dwarf       perf record --call-graph dwarf -e sched:sched_switch: 8 KiB of each stack
#   offcputime       of libbpf-tools, bpf_get_stackid()
set -u
export LC_ALL=C
O=$(cd "$1" && pwd) || exit 2
stacks=$(cd "$(dirname "$0")/../tests/stacks" && pwd)
# shellcheck source=tests/stacks/servers.sh
. "$stacks/servers.sh"
programs=${PROGRAMS:-$servers_all chainload}
recorders="perf perf-dwarf offcputime chaincap"
dir=$(mktemp -d)
chmod 755 "$dir"
recording=
clean_up() {
	# shellcheck disable=SC2086 # lists
	kill -CONT $server_pids 2>/dev/null
	# shellcheck disable=SC2086
	kill $recording 2>/dev/null
	server_stop
	rm -rf "$dir"
}
# shellcheck source=bench/begin.sh
. "$(dirname "$0")/begin.sh"
for tool in eu-stack python3 perf offcputime; do
	if ! command -v $tool >/dev/null; then
		echo "bench: no $tool here (Debian: elfutils, python3, linux-perf, libbpf-tools)" >&2
		exit 1
	fi
done

start() {
	[ "$1" = chainload ] || { server_start "$1"; return; }
	mkdir "$dir/chainload"
	"$O/chainload-nofp" relay --rounds 1000000 --seconds 60 >"$dir/chainload/log" &
	server_pids=$! server_kept=$!
	sleep 0.5
}

# record NAME COMMAND...: in the background; $! is its process, which end_recording ends.
record() {
	into=$1
	shift
	"$@" >"$dir/$into.out" 2>"$dir/$into.err" &
	recording="$recording $!"
}
end_recording() {
	for pid; do
		kill -INT "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
}

# look: records the program's threads while they stop: $dir/truth, and $dir/RECORDER.stacks.
look() {
	pids=$(echo $server_pids | tr ' ' ',') recording=
	record offcputime offcputime -v --stack-storage-size 65536 60
	still=$!
	record perf perf record -q -g -e sched:sched_switch -p "$pids" -o "$dir/perf.data"
	record perf-dwarf perf record -q --call-graph dwarf -e sched:sched_switch -p "$pids" -o "$dir/perf-dwarf.data"
	record chaincap "$O/chaincap" -v -o "$dir/trace" 60
	until_there 20 grep -q 'ring buffers' "$dir/chaincap.err"
	sleep 2
	# shellcheck disable=SC2086 # lists
	{
		kill -STOP $server_pids
		sleep 0.5
		end_recording ${recording#" $still"}
		python3 "$stacks/compare.py" ask "$dir/truth" $server_pids
		kill -CONT $server_pids
	}
	sleep 0.5
	end_recording "$still"
	recording=
	for r in perf perf-dwarf; do
		perf script -i "$dir/$r.data" -F tid,trace,ip,dso --no-inline >"$dir/$r.stacks" 2>"$dir/$r.err"
	done
	mv "$dir/offcputime.out" "$dir/offcputime.stacks"
	# shellcheck disable=SC2046 # a list
	"$O/chainwalk" -v --native -U --format=events $(printf -- '-p %s ' $server_pids) "$dir/trace" >"$dir/chaincap.stacks" 2>"$dir/chainwalk.err"
}

# row PROGRAM THREADS FRAMES, and for each recorder FOUND ORDER WHOLE
row() {
	line="| $1 | $2 | $3 |"
	shift 3
	while [ $# -gt 0 ]; do
		line="$line $1 | $2 | $3 |"
		shift 3
	done
	echo "$line"
}

echo "| program | threads | frames | perf -g | | | perf dwarf | | | offcputime | | | chaincap | | |"
echo "| --- | ---: | ---: |$(for _ in $recorders; do printf ' ---: | ---: | ---: |'; done)"
echo "| | | |$(for _ in $recorders; do printf ' place | order | whole |'; done)"
total=
for program in $programs; do
	if ! start "$program"; then
		echo "left out: $program: ${server_lacks:-does it start? $(tail -n 1 "$dir/$program/log")}" >&2
		server_stop
		continue
	fi
	# A thread that a busy machine did not let leave its CPU in time was not recorded by any: once more.
	for _ in 1 2 3; do
		look
		figures='' missing=0
		for r in $recorders; do
			case $r in chaincap) kind=events ;; *) kind=$r ;; esac
			python3 "$stacks/compare.py" judge "$dir/truth" "$kind" "$dir/$r.stacks" >"$dir/$program.$r"
			read -r _ threads _ recorded _ _ _ same _ frames _ found _ order _ <<<"$(grep '^threads ' "$dir/$program.$r")"
			figures="$figures $found $order $same"
			[ "$r" = offcputime ] || missing=$((missing + threads - recorded))
		done
		[ $missing -gt 0 ] || break
	done
	server_stop
	[ -z "${KEEP:-}" ] || cp "$dir/$program".* "$KEEP"
	# shellcheck disable=SC2086 # a list
	row "$program" $threads $frames $figures
	total="$total
$threads $frames $figures"
done
# shellcheck disable=SC2046 # a list
row all $(awk 'NF { for (i = 1; i <= NF; i++) sum[i] += $i; n = NF }
	END { for (i = 1; i <= n; i++) printf "%.0f ", sum[i] }' <<<"$total")
echo "kernel $(uname -r), $(perf --version), $(date +%F)"
