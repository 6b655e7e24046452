#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# However many CPUs there can be, the recorder waits for no grace period for each of them: it prints how
# long the start takes, three times, with as many as this machine can have (POSSIBLE=200 for run.sh); and
# how long that of other recorders takes, as far as they are here (TOOLS).
. "$(dirname "$0")/../../e2e/lib.sh"
needs_bpf
dir=$tmp clock='cat /proc/uptime'
. "$(dirname "$0")/../start_of.sh"
cpus=$(grep -c '^processor' /proc/cpuinfo)/$(($(sed 's/.*-//' /sys/devices/system/cpu/possible) + 1))
for recorder in chaincap offcputime bpftrace perf; do
	[ $recorder = chaincap ] || command -v $recorder >/dev/null || continue
	for _ in 1 2 3; do
		took=$(start_of $recorder 2>"$tmp/why") || fail "$(cat "$tmp/why")"
		echo "note: $cpus $recorder $took"
	done
done
"$cap" -o "$tmp/trace" 1 2>"$tmp/err"
expect_exit "chaincap" 0 $?
read_info "$tmp/trace"
expect "events in the log and lost" "$counted" $((events + lost))
