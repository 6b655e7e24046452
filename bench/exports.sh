#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the formats for other programs cost, beside folded lines of the same trace:
#   bench/exports.sh BUILD_DIR [ROUNDS]
#   MILLIONS="1 10"   events of the traces, in millions
# Made traces, read on one core, medians of ROUNDS, 3 if left out. CPU time is
# what other load on the machine disturbs least.
set -eu
export LC_ALL=C # the decimal point
O=$(cd "$1" && pwd)
rounds=${2:-3}
dir=$(mktemp -d "${TMPDIR:-/tmp}/bench-exports.XXXXXX")
trap 'rm -rf "$dir"' EXIT
# A CPU that this process may use.
core=$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')

median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

for size in ${MILLIONS:-1 10}; do
	"$O/bench/generate" --events "$(awk "BEGIN { printf \"%.0f\", $size * 1e6 }")" "$dir/trace"
	echo "== $size million events, one core, medians of $rounds"
	printf '%-12s %8s %8s %10s %12s %14s\n' format "CPU s" "wall s" "peak MiB" "bytes/event" "CPU of folded"
	folded=
	for format in folded pprof otlp perfetto csv; do
		: >"$dir/rounds"
		for _ in $(seq "$rounds"); do
			"$O/bench/cost" taskset -c "$core" "$O/chainwalk" -q --format=$format -o "$dir/out" "$dir/trace" \
				>>"$dir/rounds"
		done
		cpu=$(cut -d' ' -f2 "$dir/rounds" | median)
		folded=${folded:-$cpu}
		awk -v f=$format -v cpu="$cpu" -v wall="$(cut -d' ' -f1 "$dir/rounds" | median)" \
			-v rss="$(cut -d' ' -f3 "$dir/rounds" | median)" -v bytes="$(wc -c <"$dir/out")" -v n=$size \
			-v folded="$folded" 'BEGIN { printf "%-12s %8.2f %8.2f %10.0f %12.1f %12.1f x\n",
				f, cpu, wall, rss / 1024, bytes / n / 1e6, cpu / folded }'
		rm -f "$dir/out"
	done
done
