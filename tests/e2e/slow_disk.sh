#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# An output that takes far less than the machine makes: chaincap waits for it, what does not fit into the
# rings meanwhile is counted as lost, memory does not grow, and nothing of the trace is out of order.
# Beside another: what others run takes some of the memory, and the bounds have room for that.
. "$(dirname "$0")/lib.sh"
needs_bpf
mkfifo "$tmp/out"
busy 600
load_pid=$!
# Many threads, which get much of the CPUs however busy the machine is.
"$load" convoy --threads 40 --work 0 --rounds 1000000000 --seconds 600 >/dev/null 2>&1 &
load_pid="$load_pid $!"
started="$started $load_pid"
timeout 300 "$cap" -o - --buffer-size 256K 6 >"$tmp/out" 2>"$tmp/err.cap" &
recorder=$!
started="$started $recorder"

# A disk of 30 KB/s, until there is a file "fast".
{
	while [ ! -e "$tmp/fast" ]; do
		dd bs=3K count=1 iflag=fullblock 2>/dev/null
		sleep 0.1
	done
	cat
} <"$tmp/out" >"$tmp/trace" &
disk=$!
started="$started $disk"

# memory: what chaincap itself has used at most, in KiB (its parent is timeout).
memory() {
	awk '$1 == "VmHWM:" { print $2 }' "/proc/$(pgrep -P $recorder chaincap)/status"
}
sleep 3
early=$(memory)
sleep 4 # it is past its time, and still kept waiting
late=$(memory)
kill -0 $recorder || fail "it has ended, though the disk cannot have taken all of it: the test is too gentle
$(cat "$tmp/err.cap")"
# shellcheck disable=SC2086 # two
kill $load_pid
: >"$tmp/fast"
wait $recorder
cp "$tmp/err.cap" "$tmp/err"
expect_exit "chaincap onto a slow disk" 0 $?
wait $disk
read_info "$tmp/trace"
expect_at_least "events lost" 1000 "$lost" "$tmp/info"
expect "events in the log and lost" "$counted" $((events + lost))
grep -q '^complete: yes' "$tmp/info" || fail "the trace is not complete
$(cat "$tmp/info")"
only_plain memory
expect_at_most "KiB of memory, at most" $((64 * 1024)) "$late"
expect_at_most "KiB of memory more after four seconds more" 8192 $((late - early))
echo "note: $events events, $lost lost; at most $early KiB of memory after 3 s, $late after 7 s"
