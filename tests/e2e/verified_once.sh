#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The kernel verifies what records a switch or a waking with its stacks once, which takes most of the CPU time
# of the start: what is attached to the three tracepoints is small, and goes on to one program.
. "$(dirname "$0")/lib.sh"
needs_bpf
PATH=$PATH:/usr/sbin
command -v bpftool >/dev/null || skip "no bpftool"

"$cap" -q -o "$tmp/trace" 20 2>"$tmp/err" &
recorder=$!
started="$started $recorder"
wait_for "chaincap records" 15 has_bytes "$tmp/trace" 2000
bpftool prog show >"$tmp/shown" || fail "bpftool: exit $?"
kill -INT $recorder
wait $recorder
expect_exit "chaincap" 0 $?

# "TYPE NAME BYTES" of each of the recorder's programs.
awk -v mine="chaincap($recorder)" '
	/^[0-9]+: / { type = $2; name = $4 }
	$1 == "xlated" { bytes = $2 + 0 }
	$1 == "pids" && index($0, mine) { print type, name, bytes }' "$tmp/shown" >"$tmp/programs"
[ -s "$tmp/programs" ] || skip "this bpftool does not say whose the programs are"
large=$(awk '$1 == "raw_tracepoint" && $3 > 10000 { print $2 }' "$tmp/programs")
expect "large programs at tracepoints" on_stacks "$large"
# Those that go on to it are there, too.
awk '$1 == "raw_tracepoint" && $3 < 2000' "$tmp/programs" >"$tmp/small"
expect_at_least "small ones" 3 "$(wc -l <"$tmp/small")"
