#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A CPU that was offline when the recording began, and comes online in it, has no records of mappings:
# the trace says so. Its events are all there. One that goes offline and comes back has its records
# again from then on, which names programs that have ended before anybody could ask; and the trace says
# that some were lost.
. "$(dirname "$0")/../../e2e/lib.sh"
needs_bpf
online=/sys/devices/system/cpu/cpu1/online
echo 0 >$online || fail "cpu1 cannot be taken offline"
"$cap" -o "$tmp/still" 2 2>"$tmp/err"
expect_exit "chaincap with a CPU offline" 0 $?
"$cap" -o "$tmp/trace" 6 2>"$tmp/err" &
started="$started $!"
while [ ! -s "$tmp/trace" ] && kill -0 $! 2>/dev/null; do sleep 0.2; done
sleep 2
echo 1 >$online || fail "cpu1 cannot be brought online"
taskset -c 1 "$load" relay --rounds 2 >/dev/null
wait $!
expect_exit "chaincap with a CPU that comes online" 0 $?
read_info "$tmp/still"
expect "mappings lost with a CPU offline all along" 0 "$(info_figure mappings_lost)"
read_info "$tmp/trace"
expect "mappings lost, at least, for the CPU that came online" 1 "$(info_figure mappings_lost)"
expect "events lost with a CPU that came online" 0 "$lost"
expect "events in the log" "$counted" "$events"
"$walk" -q --format=events "$tmp/trace" | grep -q '\[001\]' || fail "no events of the CPU that came online"

cp "$load" "$tmp/brief"
"$cap" -o "$tmp/cycle" 2>"$tmp/err" &
recorder=$!
started="$started $recorder"
while [ ! -s "$tmp/cycle" ] && kill -0 $recorder 2>/dev/null; do sleep 0.2; done
# Until the rules of its code are read, its stacks are cut.
"$tmp/brief" relay --rounds 20 >/dev/null
sleep 1
echo 0 >$online || fail "cpu1 cannot be taken offline"
echo 1 >$online || fail "cpu1 cannot be brought online again"
sleep 2 # emulated, the recorder takes most of a CPU
for _ in 1 2 3 4 5 6 7 8 9 10; do
	taskset -c 1 "$tmp/brief" relay --rounds 2 >>"$tmp/told"
done
rm "$tmp/brief" # so that only a record of its mapping can name it
kill -INT $recorder
wait $recorder
expect_exit "chaincap with a CPU that goes and comes back" 0 $?
read_info "$tmp/cycle"
expect "mappings lost, at least, for the CPU that came back" 1 "$(info_figure mappings_lost)"
expect "events lost with a CPU that came back" 0 "$lost"
"$walk" -v -U --format=events "$tmp/cycle" 2>/dev/null >"$tmp/events"
# A thread of each has functions in that file.
awk 'NR == FNR { alpha[$3] = $1 == "thread" && $2 == "alpha"; next }
	/^ / { split($4, who, "/"); tid = $3 == "switch" ? who[2] : ""; next }
	alpha[tid] && /\/brief\)/ && !seen[tid]++ { n++ }
	END { printf "%.0f\n", n }' "$tmp/told" "$tmp/events" >"$tmp/named"
expect "programs that ran on the CPU that came back, and are known" 10 "$(cat "$tmp/named")"
