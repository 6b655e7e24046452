#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Whether the functions in stacks of Python, PHP and Ruby are those in which the programs say they are (tests/stacks/paths.*):
# how many waits, how many different stacks, and how many of these are wrong; and of how much of the threads' time the
# stacks have functions of the language.
#   bench/paths.sh BUILD_DIR [SECONDS]
#   PYTHONS="python3 ..."   interpreters to try
set -eu
export LC_ALL=C
O=$(cd "$1" && pwd)
seconds=${2:-60}
stacks=$(cd "$(dirname "$0")/../tests/stacks" && pwd)
dir=$(mktemp -d)
started=
trap '[ -z "$started" ] || kill $started 2>/dev/null || true; rm -rf "$dir"' EXIT
# judge WHAT SOURCE PID...
judge() {
	local what=$1 source=$2 waits
	shift 2
	waits=$("$O/chainwalk" -q --format=csv -p "$1" "$dir/trace" | tail -n +2 | wc -l)
	"$O/chainwalk" -q --unit=ns -p "$1" -U -d 0 --no-ends "$dir/trace" >"$dir/folded"
	printf '%-34s %8d waits, ' "$what" "$waits"
	python3 "$stacks/paths_judge.py" "$source" "$dir/folded" | tail -n 1
}
record() {
	"$@" &
	started=$!
	sleep 1
	"$O/chaincap" -q -o "$dir/trace" "$seconds"
	kill "$started"
	wait "$started" 2>/dev/null || true
}
echo "kernel $(uname -r), $(nproc) CPUs, $(date +%F), load $(cut -d' ' -f1 /proc/loadavg), $seconds s each"
for python in ${PYTHONS:-python3}; do
	record "$python" "$stacks/paths.py" 1
	judge "$("$python" --version)" "$stacks/paths.py" "$started"
done
if command -v php >/dev/null; then
	record php "$stacks/paths.php" 1
	judge "PHP $(php -r 'echo PHP_VERSION;')" "$stacks/paths.php" "$started"
fi
if command -v ruby >/dev/null; then
	record ruby "$stacks/paths.rb" 1
	judge "Ruby $(ruby -e 'print RUBY_VERSION')" "$stacks/paths.rb" "$started"
fi
