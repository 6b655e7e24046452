#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# flamegraph against flamegraph.pl on the same files in the same run: elapsed and CPU time and peak
# memory, the best of several rounds in which both run, one after the other (one round where
# flamegraph.pl takes long). On a busy machine go by CPU time.
#
#     FLAMEGRAPH_PL=path/to/flamegraph.pl bench/render.sh BUILD_DIR [LINES...]    (10000 100000 1000000)
#
# Without flamegraph.pl the rows are our own only. FULL=1 runs it above 100 000 lines, too: minutes, 12 GB.
set -eu
LC_ALL=C
export LC_ALL
build=${1:?usage: bench/render.sh BUILD_DIR [LINES...]}
shift
here=$(dirname "$0")
pl=${FLAMEGRAPH_PL:-$(command -v flamegraph.pl || true)}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT INT TERM

# The least of each column of the lines "elapsed CPU KiB".
least() {
	awk '
		NR == 1 || $1 < wall { wall = $1 }
		NR == 1 || $2 < cpu { cpu = $2 }
		NR == 1 || $3 < kib { kib = $3 }
		END { if (NR) print wall, cpu, kib; else exit 1 }' "$1"
}

mib() {
	awk "BEGIN { printf \"%.1f\", $1 / 1024 }"
}

printf '%9s %5s  %-13s %8s %8s %8s  %s\n' lines MB tool seconds CPU 'peak MB' 'against flamegraph.pl'
[ $# -gt 0 ] || set -- 10000 100000 1000000
for lines in "$@"; do
	python3 "$here/render_input.py" "$lines" >"$dir/in"
	mb=$(($(wc -c <"$dir/in") / 1000000))
	rounds=5 theirs=
	[ "$lines" -le 20000 ] || rounds=1
	if [ -n "$pl" ] && { [ "$lines" -le 100000 ] || [ -n "${FULL:-}" ]; }; then
		theirs=yes
	fi
	: >"$dir/ours"
	: >"$dir/theirs"
	for _ in $(seq $rounds); do
		for _ in 1 2 3; do
			"$build/bench/cost" "$build/flamegraph" "$dir/in" >>"$dir/ours"
		done
		[ -z "$theirs" ] || "$build/bench/cost" perl "$pl" "$dir/in" >>"$dir/theirs"
	done
	# shellcheck disable=SC2046 # it prints three words
	set -- $(least "$dir/ours")
	ours=$1 cpu=$2 kib=$3 note=
	if [ -n "$theirs" ]; then
		# shellcheck disable=SC2046
		set -- $(least "$dir/theirs")
		printf '%9d %5d  %-13s %8.3f %8.3f %8.1f\n' "$lines" $mb flamegraph.pl "$1" "$2" "$(mib "$3")"
		note=$(echo "$1 $ours $2 $cpu $3 $kib" | awk '{
			printf "%.0f times as fast (%.0f by CPU), %.1f %% of the memory", $1 / $2, $3 / $4, 100 * $6 / $5 }')
	fi
	printf '%9d %5d  %-13s %8.3f %8.3f %8.1f  %s\n' "$lines" $mb flamegraph "$ours" "$cpu" "$(mib "$kib")" "$note"
done
