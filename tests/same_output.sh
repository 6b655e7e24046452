#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Guards clean-ups: what chainwalk writes must not change by one byte, nor what it says on standard error.
#   same_output.sh BUILD_DIR >LIST       a checksum for each format, trace and set of options
#   same_output.sh OLD_BUILD NEW_BUILD   compares two builds; prints the cases that differ, exit 1
# The report embeds the scripts and the style of its page: use two builds with the same ones, or
# leave it out with FORMATS="folded tree ...". TRACES="file ..." picks traces. LARGE="file ..." are
# those that get a few sets of options only.
set -eu
data=$(cd "$(dirname "$0")/data" && pwd)
perf=$data/../fuzz/corpus/perf_data
formats=${FORMATS:-folded causes requests tree json threads objects io hist wakers events info csv rows rowbinary sqlite pprof otlp perfetto html}
traces=${TRACES-$data/*.bin}
large=${LARGE-$data/services/*.bin $perf/file $perf/pipe}
LC_ALL=C
export LC_ALL
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# One set of options a line; first those that large traces get, too.
options_few() {
	cat <<-'END'

		-v
		--requests
		--requests --wide --top=4
		--requests --json
		--json
		--wide
		--native
		--state=all --who-ran --unit=ns
		--root=class --objects --fold-repeats
	END
}

options() {
	options_few
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
		--show=1
		--by-name
		--objects --unit=ns
		--no-objects --plain-ends
		--class=tcp,file --objects
		--root=class
		--who-ran --state=all
		--fold-repeats
	END
}

# sum BUILD NAME FORMAT ARGUMENT...: a line: checksum of what is written and said, exit status, what was run.
sum() {
	build=$1 name=$2 format=$3 said=$1.said
	shift 3
	case " $* " in *" -v "*) said=/dev/null ;; esac # it tells the speed
	[ "$format" != sqlite ] || set -- -o "$build.db" "$@"
	"$build/chainwalk" --format="$format" "$@" >"$build.out" 2>"$said" && status=0 || status=$?
	[ ! -e "$build.db" ] || mv "$build.db" "$build.out"
	echo "$(cat "$build.out" "$said" | cksum) $status $format $name"
}

# sums BUILD SETS TRACE...: BUILD is a folder with chainwalk, beside which there is room.
sums() {
	build=$1 sets=$2
	shift 2
	for trace; do
		for format in $formats; do
			"$sets" | while IFS= read -r set; do
				# shellcheck disable=SC2086 # a list of options
				sum "$build" "${trace##*/} $set" "$format" $set "$trace"
			done
		done
	done
}

all_sums() {
	mkdir "$tmp/$1"
	cp "$2/chainwalk" "$tmp/$1"
	cd "$data"
	# shellcheck disable=SC2086 # lists of files
	{
		sums "$tmp/$1" options $traces
		sums "$tmp/$1" options_few $large
		for format in $formats; do
			for root in "" --root=host --root=trace; do
				sum "$tmp/$1" "several $root" "$format" $root relay.bin zombie.bin
			done
		done
	} >"$tmp/$1.list"
}

case $# in
1)
	all_sums one "$1"
	cat "$tmp/one.list"
	;;
2)
	all_sums old "$1" &
	all_sums new "$2"
	wait
	if diff "$tmp/old.list" "$tmp/new.list"; then
		echo "$(wc -l <"$tmp/new.list") outputs, all the same"
	else
		exit 1
	fi
	;;
*) echo "usage: $0 BUILD_DIR | OLD_BUILD NEW_BUILD" >&2; exit 2 ;;
esac
