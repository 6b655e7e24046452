#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Whether the functions in stacks of Python, PHP, Ruby, Java and Node.js are those in which the programs say they are
# (tests/stacks/paths.*), in recordings of SECONDS (60): how many waits, how many different stacks, and how many of these are
# wrong; and of how much of the threads' time the stacks have functions of the language. Java also with its first compiler
# alone, and interpreted alone; Node.js also without compiling functions into their callers. Exit status 1 if one is wrong.
#   bench/paths.sh BUILD_DIR [SECONDS]
#   PYTHONS="python3 ..."   interpreters to try
#   ONLY=Java               those that match
#   STACKS=100000           of each so many different stacks, in as many recordings as that takes
set -eu
export LC_ALL=C
O=$(cd "$1" && pwd)
seconds=${2:-60}
stacks=$(cd "$(dirname "$0")/../tests/stacks" && pwd)
wanted=${STACKS:-1}
dir=$(mktemp -d)
started=
end_program() {
	[ -z "$started" ] || { kill "$started" && wait "$started"; } 2>/dev/null || true
	started=
}
clean_up() {
	end_program
	rm -rf "$dir"
}
# shellcheck source=bench/begin.sh
. "$(dirname "$0")/begin.sh"
failed=0

# judge SOURCE [whole]: the process that was started; a line of figures to $dir/all
judge() {
	"$O/chainwalk" -q --format=csv -p "$started" "$dir/trace" | tail -n +2 | wc -l >>"$dir/waits"
	"$O/chainwalk" -q --unit=ns -p "$started" --from 0.3 -U -d 0 --no-ends "$dir/trace" >"$dir/folded"
	python3 "$stacks/paths_judge.py" "$stacks/$1" "$dir/folded" ${2+"$2"} >"$dir/judged" || true
	if grep '^wrong: ' "$dir/judged" >"$dir/wrong"; then
		failed=1
		head -n 3 "$dir/wrong" | cut -c 1-900 >&2
	fi
	tail -n 1 "$dir/judged" >>"$dir/all"
}
# tell WHAT SOURCE WHOLE COMMAND...: WHOLE: no stack may lack a function, or ""
tell() {
	local what=$1 source=$2 whole=$3 seen=0
	shift 3
	[[ $what =~ ${ONLY:-.} ]] || return 0
	"$@" >"$dir/out" &
	started=$!
	sleep 3
	: >"$dir/all"
	: >"$dir/waits"
	while [ $seen -lt "$wanted" ]; do
		"$O/chaincap" -q -o "$dir/trace" "$seconds"
		judge "$source" ${whole:+"$whole"}
		[ "$(awk 'END { printf "%.0f", $2 }' "$dir/all")" -gt 0 ] || break # there are none
		seen=$(awk '{ n += $2 } END { printf "%.0f", n }' "$dir/all")
	done
	end_program
	awk -v what="$what" -v waits="$(awk '{ n += $1 } END { printf "%.0f", n }' "$dir/waits")" '
		function of(word) { return match($0, " " word " [0-9.]+") ? substr($0, RSTART + length(word) + 2, RLENGTH) + 0 : 0 }
		{ stacks += $2; right += of("right") + of("their way"); lacking += of("some"); wrong += of("wrong")
		  without += of("without"); named += of("frames") * $2 }
		END { printf "%-30s %9s %8d %8d %8d %8d %8d %8.2f\n", what, waits, stacks, right, lacking, without, wrong,
			stacks ? named / stacks : 0 }' "$dir/all"
}
echo "kernel $(uname -r), $(nproc) CPUs, $(date +%F), load $(cut -d' ' -f1 /proc/loadavg), $seconds s each"
printf '%-30s %9s %8s %8s %8s %8s %8s %8s\n' program waits stacks right "lack one" "lack all" wrong "named, %"
for python in ${PYTHONS:-python3}; do
	tell "$("$python" --version)" paths.py whole "$python" "$stacks/paths.py" $$
done
if command -v php >/dev/null; then
	tell "PHP $(php -r 'echo PHP_VERSION;')" paths.php whole php "$stacks/paths.php" $$
fi
if command -v ruby >/dev/null; then
	tell "Ruby $(ruby -e 'print RUBY_VERSION')" paths.rb whole ruby "$stacks/paths.rb" $$
fi
if command -v javac >/dev/null && javac -d "$dir" "$stacks/Paths.java"; then
	version=$(java -version 2>&1 | sed -n '1s/.*"\(.*\)".*/\1/p')
	tell "Java $version" Paths.java whole java -cp "$dir" Paths $$
	tell "Java, first compiler" Paths.java whole java -XX:TieredStopAtLevel=1 -cp "$dir" Paths $$
	tell "Java, interpreted" Paths.java whole java -Xint -cp "$dir" Paths $$
fi
if command -v node >/dev/null; then
	tell "Node.js $(node --version)" paths.js "" node "$stacks/paths.js" $$
	tell "Node.js --no-turbo-inlining" paths.js whole node --no-turbo-inlining "$stacks/paths.js" $$
fi
exit $failed
