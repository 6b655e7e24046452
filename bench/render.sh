#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# flamegraph against flamegraph.pl on the same files in the same run: time (best of 3; one run of
# flamegraph.pl where it takes long) and peak memory.
#
#     FLAMEGRAPH_PL=path/to/flamegraph.pl bench/render.sh BUILD_DIR [LINES...]    (10000 100000 1000000)
#
# Without flamegraph.pl the rows are our own only. Above 100 000 lines it is not run: minutes, GBs.
set -eu
build=${1:?usage: bench/render.sh BUILD_DIR [LINES...]}
shift
here=$(dirname "$0")
pl=${FLAMEGRAPH_PL:-$(command -v flamegraph.pl || true)}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT INT TERM

# Seconds and KiB of the best of $1 runs of the rest.
best() {
	python3 - "$@" <<'PY'
import os, sys, time
runs, cmd = int(sys.argv[1]), sys.argv[2:]
best = None
for _ in range(runs):
    begin = time.monotonic()
    pid = os.fork()
    if not pid:
        null = os.open("/dev/null", os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        os.execvp(cmd[0], cmd)
    _, status, usage = os.wait4(pid, 0)
    if status:
        sys.exit(f"{cmd[0]} failed")
    took = time.monotonic() - begin
    if best is None or took < best[0]:
        best = took, usage.ru_maxrss
print("%.3f %d" % best)
PY
}

mib() {
	awk "BEGIN { print $1 / 1024 }"
}

printf '%9s %8s  %-14s %9s %9s  %s\n' lines MB tool seconds 'peak MB' 'against flamegraph.pl'
[ $# -gt 0 ] || set -- 10000 100000 1000000
for lines in "$@"; do
	python3 "$here/render_input.py" "$lines" >"$dir/in"
	mb=$(($(wc -c <"$dir/in") / 1000000))
	# shellcheck disable=SC2046 # it prints two words
	set -- $(best 3 "$build/flamegraph" "$dir/in")
	ours=$1 ours_kb=$2 note=
	if [ -n "$pl" ] && [ "$lines" -le 100000 ]; then
		runs=3
		[ "$lines" -le 20000 ] || runs=1
		# shellcheck disable=SC2046
		set -- $(best $runs perl "$pl" "$dir/in")
		printf '%9d %8d  %-14s %9.3f %9.1f\n' "$lines" $mb flamegraph.pl "$1" "$(mib "$2")"
		note=$(echo "$1 $ours $2 $ours_kb" | awk '{ printf "%.0f times as fast, %.1f %% of the memory", $1 / $2, 100 * $4 / $3 }')
	fi
	printf '%9d %8d  %-14s %9.3f %9.1f  %s\n' "$lines" $mb flamegraph "$ours" "$(mib "$ours_kb")" "$note"
done
