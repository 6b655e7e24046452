#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Without memory chainwalk and flamegraph say so in one line and exit 1, wherever it ends, and no part of the output is
# left as if it were whole; or what is written is what it always is.
. "$(dirname "$0")/lib.sh"
is_sanitized && skip "the sanitizers want their malloc() to come before all others"
[ -e "$build/no_memory.so" ] || fail "no $build/no_memory.so: make unit builds it"
data=$(dirname "$0")/../data

# ends_well OUTPUT COMMAND...: COMMAND writes its result to the file OUTPUT; memory ends at some sixty places.
ends_well() {
	out=$1
	shift
	rm -f "$out"
	timeout 300 env NO_MEMORY_COUNT="$tmp/count" LD_PRELOAD="$build/no_memory.so" "$@" >"$tmp/said" 2>&1
	expect_exit "$*" 0 $?
	mv "$out" "$tmp/whole"
	all=$(cat "$tmp/count") from=1 ended=0
	while [ "$from" -le "$all" ]; do
		timeout 300 env NO_MEMORY_FROM=$from LD_PRELOAD="$build/no_memory.so" "$@" >"$tmp/said" 2>"$tmp/err"
		status=$?
		if [ $status -eq 0 ]; then
			cmp -s "$out" "$tmp/whole" || fail "$*: without memory from $from of $all on: exit 0 and another output"
		else
			[ $status -eq 1 ] || fail "$*: without memory from $from of $all on: exit $status: $(cat "$tmp/err")"
			[ ! -e "$out" ] || fail "$*: without memory from $from of $all on: a part of the output is left"
			grep -q '^[a-z]*: out of memory: ' "$tmp/err" ||
				fail "$*: without memory from $from of $all on: $(cat "$tmp/err")"
			# The page's graphs are made by several threads.
			sort -u -o "$tmp/err" "$tmp/err"
			expect_one_line "$* without memory from $from of $all on"
			ended=$((ended + 1))
		fi
		rm -f "$out"
		from=$((from + 1 + from / 8))
	done
	[ $ended -gt 20 ] || fail "$*: memory ended $ended times only, of $all allocations"
}

for format in folded causes tree json csv objects html perfetto pprof; do
	ends_well "$tmp/out.$format" "$walk" -q -f $format -o "$tmp/out.$format" "$data/relay.bin"
done
"$walk" -q -f folded --state=all -o "$tmp/folded" "$data/shop.bin" || fail "chainwalk fails"
ends_well "$tmp/svg" "$flame" -o "$tmp/svg" "$tmp/folded"

# A limit as a shell or a container sets it: the first one under which the program starts is too low for the trace.
limit=16000 status=127
while [ $status -eq 127 ] && [ $limit -lt 400000 ]; do
	limit=$((limit + 4000))
	prlimit --as=$((limit * 1024)) "$walk" -q -f html -o "$tmp/limited" "$data/services/node.bin" >"$tmp/said" 2>"$tmp/err"
	status=$?
done
expect_exit "chainwalk with $limit KiB of addresses" 1 $status
grep -q '^chainwalk: out of memory: ' "$tmp/err" || fail "$limit KiB: $(cat "$tmp/err")"
[ ! -e "$tmp/limited" ] || fail "$limit KiB: a part of the output is left"
