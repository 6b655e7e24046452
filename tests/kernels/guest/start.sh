#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# However many CPUs there can be, the recorder waits for no grace period for each of them: it prints how
# long the start takes with as many as this machine can have (POSSIBLE=200 for run.sh).
. "$(dirname "$0")/../../e2e/lib.sh"
needs_bpf
ms() { awk '{ printf "%.0f\n", $1 * 1000 }' "$@"; }
possible=$(sed 's/.*-//' /sys/devices/system/cpu/possible)
online=$(grep -c '^processor' /proc/cpuinfo)
for _ in 1 2 3; do
	from=$(ms /proc/uptime)
	"$cap" -v -o "$tmp/trace" -- cat /proc/uptime >"$tmp/out" 2>"$tmp/err"
	expect_exit "chaincap" 0 $?
	to=$(ms /proc/uptime)
	begin=$(ms "$tmp/out")
	echo "note: $online CPUs of $((possible + 1)): begins after $((begin - from)) ms, finished after $((to - begin)) ms"
done
read_info "$tmp/trace"
expect "events in the log and lost" "$counted" $((events + lost))
