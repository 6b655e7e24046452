#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Exports take the options that have a meaning in them, and refuse all others before anything is written.
. "$(dirname "$0")/lib.sh"
trace=$(dirname "$0")/../data/relay.bin

takes() {
	timeout 300 "$walk" -q --format "$@" -o "$tmp/out" "$trace" >"$tmp/said" 2>"$tmp/err"
	expect_exit "chainwalk --format=$*" 0 $?
	[ -s "$tmp/out" ] || fail "chainwalk --format=$*: nothing written"
	[ ! -s "$tmp/said" ] && [ ! -s "$tmp/err" ] || fail "chainwalk --format=$* says: $(head -3 "$tmp/said" "$tmp/err")"
	rm "$tmp/out"
}
refuses() {
	timeout 300 "$walk" -q --format "$@" -o "$tmp/out" "$trace" >"$tmp/said" 2>"$tmp/err"
	expect_exit "chainwalk --format=$*" 2 $?
	grep -q "has no meaning with --format=$1" "$tmp/err" || fail "chainwalk --format=$*: $(cat "$tmp/err")"
	[ ! -e "$tmp/out" ] || fail "chainwalk --format=$* was refused and left a file"
}

for format in csv pprof otlp perfetto; do
	takes $format
	for option in --pid=26049 --tid=26050 '--comm=a.*' --within=futex --without=futex --from=0.01 --to=0.05 --min-wait=1ms \
		--max-wait=1s --state=all --state=D --state=blocked --no-kthreads --no-idle -K -U; do
		takes $format "$option"
	done
	for option in --unit=us --unit=ns --view=wakeup --by-name; do
		refuses $format "$option"
	done
	for option in --depth=1 --mode=classic; do
		if [ $format = perfetto ]; then refuses $format $option; else takes $format $option; fi
	done
	for option in --no-ends --no-delim --annotate --blocked-stacks; do
		case $format in
		pprof | otlp) takes $format $option ;;
		*) refuses $format $option ;;
		esac
	done
	if [ $format = perfetto ]; then refuses $format --top=3; else takes $format --top=3; fi
	timeout 300 "$walk" -q --format=$format -o "$tmp/out" "$trace" "$trace" 2>"$tmp/err"
	expect_exit "chainwalk --format=$format of two traces" 2 $?
	# an output that cannot be written is an error, not a file cut short
	timeout 300 "$walk" -q --format=$format "$trace" >/dev/full 2>"$tmp/err"
	expect_exit "chainwalk --format=$format >/dev/full" 1 $?
	# and a reader that has seen enough is none
	timeout 300 "$walk" -q --format=$format "$trace" 2>"$tmp/err" | head -c 1 >/dev/null
	expect "chainwalk --format=$format | head -c 1" "" "$(cat "$tmp/err")"
	# the same bytes each time
	timeout 300 "$walk" -q --format=$format -o "$tmp/one" "$trace"
	timeout 300 "$walk" -q --format=$format -o "$tmp/two" "$trace"
	cmp -s "$tmp/one" "$tmp/two" || fail "--format=$format: two runs differ"
done
