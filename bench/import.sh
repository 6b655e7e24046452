#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# How long it takes to read text of perf script, against the perf script that made the text; and to read perf's own
# file, against perf script and chainwalk in a pipe.
#   bench/import.sh BUILD_DIR [ROUNDS]
# Two workloads are recorded by perf with call chains (needs root). Then, in turns, perf script writes
# its text to a file and chainwalk reads that: only reads it (--format=info), and makes folded lines of
# it at depth 6, three times a round each. The least of ROUNDS, 3 if left out (other load on the machine
# can only add), of CPU time (user and system) and of the time on the wall. Ratios are of these: of perf script, and in
# the last line of the pipe above it.
set -eu
export LC_ALL=C # the decimal point
O=$(cd "$1" && pwd)
rounds=${2:-3}
dir=$(mktemp -d "${TMPDIR:-/tmp}/bench-import.XXXXXX")
trap 'rm -rf "$dir"' EXIT
if [ "$(id -u)" != 0 ] || ! command -v perf >/dev/null; then
	echo "needs root, and perf" >&2
	exit 1
fi

# FIELD of the lines of FILE: 1 wall, 2 CPU.
least() { cut -d' ' -f"$1" "$2" | sort -n | head -1; }
calc() { awk "BEGIN { printf \"$1\", $2 }"; }

# row WHAT FILE [OTHER]: its times, and how many times as long the other takes.
row() {
	printf '  %-34s %8.3f %8.3f' "$1" "$(least 2 "$2")" "$(least 1 "$2")"
	[ -z "${3:-}" ] || printf ' %7.1fx %7.1fx' \
		"$(calc %f "$(least 2 "$3") / $(least 2 "$2")")" "$(calc %f "$(least 1 "$3") / $(least 1 "$2")")"
	echo
}

printf '%-36s %8s %8s %8s %8s\n' "" "CPU s" "wall s" "CPU" "wall"
for load in "messaging -g 10 -l 200" "pipe -l 40000"; do
	# shellcheck disable=SC2086 # words
	perf record -q -a -g -m 4096 -e sched:sched_switch,sched:sched_waking -o "$dir/data" \
		-- perf bench sched $load >"$dir/out" 2>&1 || { cat "$dir/out" >&2; exit 1; }
	: >"$dir/script"
	: >"$dir/info"
	: >"$dir/folded"
	: >"$dir/pipe"
	: >"$dir/direct"
	for _ in $(seq "$rounds"); do
		"$O/bench/cost" sh -c "exec perf script --ns -i $dir/data >$dir/text 2>/dev/null" >>"$dir/script"
		for _ in 1 2 3; do
			"$O/bench/cost" "$O/chainwalk" -q --format=info "$dir/text" >>"$dir/info"
			"$O/bench/cost" "$O/chainwalk" -q "$dir/text" >>"$dir/folded"
			"$O/bench/cost" "$O/chainwalk" -q "$dir/data" >>"$dir/direct"
		done
		"$O/bench/cost" sh -c "perf script --ns -i $dir/data 2>/dev/null | $O/chainwalk -q - >/dev/null" >>"$dir/pipe"
	done
	printf '%s: %s events, %s MB of text\n' "${load%% *}" \
		"$("$O/chainwalk" -q --format=info "$dir/text" | sed -n 's/^events: //p')" \
		"$(($(wc -c <"$dir/text") / 1000000))"
	row "perf script" "$dir/script"
	row "chainwalk --format=info" "$dir/info" "$dir/script"
	row "chainwalk (folded, depth 6)" "$dir/folded" "$dir/script"
	row "perf script | chainwalk" "$dir/pipe"
	row "chainwalk perf.data" "$dir/direct" "$dir/pipe"
done
