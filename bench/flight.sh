#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What it costs the recorder itself to keep events in memory instead of writing them, and to look for
# long waits: its own CPU time per event, under a pair of threads that switch as fast as they can. Each
# round does all of them, one after the other; medians of the rounds. flight.sh BUILD_DIR [ROUNDS [SECONDS]]
set -eu
export LC_ALL=C # the decimal point
O=$(cd "${1:?usage: $0 BUILD_DIR [ROUNDS [SECONDS]]}" && pwd)
rounds=${2:-5} seconds=${3:-4}
tmp=$(mktemp -d)
load=
trap '[ -z "$load" ] || kill "$load" 2>/dev/null; rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
taskset -c 0 "$O/chainload" pingpong --hops pipe --work 0 --rounds 1000000000 --seconds 3600 >/dev/null &
load=$!

# run NAME OPTION...: appends CPU ns per event of the recording, and what it kept or wrote per event
run() {
	name=$1
	shift
	"$O/chaincap" -v -o "$tmp/trace" "$@" "$seconds" 2>"$tmp/err"
	kernel=$(sed -n 's/.*kernel stacks: \([0-9]*\) known without a walk, \([0-9]*\) walked.*/\1 \2/p' "$tmp/err")
	cpu=$(sed -n 's/.*recorder: \([0-9.]*\) s CPU.*/\1/p' "$tmp/err")
	# each event has a kernel stack, but for switches away from the idle thread
	echo "$name $kernel $cpu" | awk '{ printf "%s %.0f\n", $1, $4 * 1e9 / ($2 + $3) }' >>"$tmp/figures"
}

for _ in $(seq "$rounds"); do
	run plain
	run flight --flight 2s
	run trigger --flight 2s --trigger-wait 1s -c '^nobody$'
done
echo "recorder's own CPU time per kernel stack recorded, ns: median of $rounds (least - most)"
for name in plain flight trigger; do
	awk -v name=$name '$1 == name { print $2 }' "$tmp/figures" | sort -n | awk -v name=$name '
		{ v[NR] = $1 }
		END { printf "%-8s %6.0f  (%.0f - %.0f)\n", name, v[int((NR + 1) / 2)], v[1], v[NR] }'
done
