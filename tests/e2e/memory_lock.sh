#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A process whose memory lock is held, as one does that lets a page be written to a file system of its
# own, costs its own stacks: no event is lost, and the recording ends in time.
# Beside another: its bounds are for a recorder that hangs.
. "$(dirname "$0")/lib.sh"
needs_bpf
serve_deaf nobody
"$build/hold_lock" "$tmp/dead/program" >"$tmp/held" 2>"$tmp/err" &
holder=$!
started="$started $holder"
wait_for "the file is mapped" 10 grep -q ready "$tmp/held"
# Reading the process's memory waits for the lock.
is_held() {
	timeout 0.5 head -c 8 "/proc/$holder/pagemap" >/dev/null 2>&1
	[ $? = 124 ]
}
wait_for "the lock is held" 10 is_held
busy 600
busy=$!
started="$started $busy"
before=$(date +%s%N)
timeout 300 "$cap" -v --buffer-size 64M -o "$tmp/trace" 2 2>"$tmp/err"
expect_exit "chaincap beside a process whose memory lock is held" 0 $?
took=$((($(date +%s%N) - before) / 1000000))
is_held || fail "the lock is held no more: no test"
read_info "$tmp/trace"
echo "note: $events events, $lost lost; the recorder took $took ms for 2 s"
expect "events lost" 0 "$lost"
expect_at_most "ms from begin to end" 20000 $took "$tmp/err"
# What the process did is there, if not from where.
"$walk" -q --format=events "$tmp/trace" >"$tmp/events"
expect_at_least "switches of the process with the lock" 100 "$(grep -c " hold_lock/[0-9]* . -> " "$tmp/events")"
# The recorder's look at other programs has not suffered.
"$walk" -q "$tmp/trace" >"$tmp/folded"
grep -q '^p[io]ng;.*;pong_runs;' "$tmp/folded" || fail "a program elsewhere has no names:
$(grep '^p[io]ng;' "$tmp/folded" | head -3)"
# Without its server the file system gives up, and the lock is given back.
kill $server $busy
wait_for "the lock is free" 10 head -c 8 "/proc/$holder/pagemap"
kill $holder
wait_for "umount" 10 unmounts
mounted=''
