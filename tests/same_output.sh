#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Guards clean-ups: what chainwalk writes must not change by one byte.
#   same_output.sh BUILD_DIR >LIST       a checksum for each format, trace and set of options
#   same_output.sh OLD_BUILD NEW_BUILD   compares two builds; prints the cases that differ, exit 1
# The report embeds the scripts and the style of its page: use two builds with the same ones, or
# leave it out with FORMATS="folded tree ...". TRACES="file ..." picks traces.
set -eu
data=$(cd "$(dirname "$0")/data" && pwd)
formats=${FORMATS:-folded causes tree json threads objects io hist wakers events info csv pprof otlp perfetto html}
traces=${TRACES:-$data/*.bin}
LC_ALL=C
export LC_ALL

# One set of options a line.
options() {
	cat <<-'END'

		--depth=0
		--depth=1
		--depth=2 --unit=ns
		--depth=30
		--mode=classic
		--mode=classic --depth=2 --blocked-stacks
		--state=all
		--state=all --unit=ns
		--state=blocked
		--state=runnable
		--state=preempted
		--state=preempted,S
		--state=D
		--blocked-stacks
		--blocked-stacks --annotate
		--annotate --no-delim
		--no-ends
		--no-ends --no-delim -K
		-K
		-U
		--view=wakeup
		--view=wakeup --annotate -U
		--no-idle
		--no-kthreads --no-idle
		--min-wait=1ms
		--min-wait=100us --max-wait=3ms
		--from=0.01 --to=0.03
		--from=0.005
		--within=read --depth=3
		--without=futex
		-c alpha -c ping -c disk
		--top=5
		--top=3 --unit=ns --state=all
		--by-name
		--objects --unit=ns
		--no-objects --plain-ends
		--class=tcp,file --objects
		--root=class
		--who-ran --state=all
		--fold-repeats
		-v
	END
}

# A line a case: checksum of standard output, exit status, what was run.
sums() {
	for trace in $traces; do
		for format in $formats; do
			options | while IFS= read -r set; do
				# shellcheck disable=SC2086 # a list of options
				sum=$({ "$1/chainwalk" --format="$format" $set "$trace" 2>/dev/null &&
					echo 0 || echo $?; } | cksum)
				echo "$sum $format ${trace##*/} $set"
			done
		done
	done
	# Several traces at once.
	for format in $formats; do
		for root in "" --root=host --root=trace; do
			# shellcheck disable=SC2086 # nothing, or an option
			sum=$(cd "$data" && { "$1/chainwalk" --format="$format" $root relay.bin zombie.bin 2>/dev/null &&
				echo 0 || echo $?; } | cksum)
			echo "$sum $format several $root"
		done
	done
}

case $# in
1) sums "$(cd "$1" && pwd)" ;;
2)
	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
	sums "$(cd "$1" && pwd)" >"$tmp/old" &
	sums "$(cd "$2" && pwd)" >"$tmp/new"
	wait
	if diff "$tmp/old" "$tmp/new"; then
		echo "$(wc -l <"$tmp/new") outputs, all the same"
	else
		exit 1
	fi
	;;
*) echo "usage: $0 BUILD_DIR | OLD_BUILD NEW_BUILD" >&2; exit 2 ;;
esac
