#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Functions of Node.js with --perf-prof have the names that its jitdump gives them, which chaincap finds
# because the process maps it: there is no perf map.
# Beside another: it compares names of its own program.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v node >/dev/null || skip "needs node"
cd "$tmp" || exit 1
cat >load.js <<-EOF2
	const cell = new Int32Array(new SharedArrayBuffer(4));
	function takesNaps() { Atomics.wait(cell, 0, 0, 2); }
	for (let i = 0; i < 300; i++) takesNaps();
EOF2
# Compiled at the first call, with a frame pointer.
timeout 300 "$cap" -v --no-node -o trace -- node --perf-prof --always-sparkplug load.js >told 2>err
expect_exit "chaincap -- node --perf-prof" 0 $?
timeout 300 "$walk" -v --format=events -c node trace >events 2>/dev/null
dump=$(echo jit-*.dump)
[ -s "$dump" ] || skip "this node writes no jitdump"
grep -q "[a-zA-Z]*:.*takesNaps.*load.js.*$dump" events || fail "the function of load.js has no name; generated code:
$(grep -c "$dump" events) frames in $dump
$(grep "$dump" events | head -3)
$(cat err)"
named=$(grep -cE " (JS|Function|LazyCompile):.*$dump" events) all=$(grep -c "$dump" events)
echo "note: $named of $all frames in generated code are named"
[ "$named" -ge $((all * 9 / 10)) ] || fail "few names: $named of $all"
