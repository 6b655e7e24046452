#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A CPU that was offline when the recording began, and comes online in it, has no records of mappings:
# the trace says so. Its events are all there.
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
expect "events lost" 0 "$lost"
expect "events in the log" "$counted" "$events"
"$walk" -q --format=events "$tmp/trace" | grep -q '\[001\]' || fail "no events of the CPU that came online"
