#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A control group with a quota: the time for which the kernel says that it was throttled is preempted time of the
# thread in it, marked as throttled, and no other thread's; and who had the CPU is the group's quota, by its name.
# Beside another: it judges what a control group of its own waits for.
. "$(dirname "$0")/lib.sh"
needs_bpf
make_quota 5000
# The shell joins the group and is the only one in it. For half of the time there is another one outside, which is
# preempted without a quota.
cat >"$tmp/load" <<'END'
taskset -c 0 timeout 1.5 sha256sum /dev/zero &
taskset -c 0 sh -c 'echo $$ >"$0/cgroup.procs" && exec timeout 3 gzip -c /dev/zero' "$1" >/dev/null
wait
END
timeout 300 "$cap" -o "$tmp/trace" -- sh "$tmp/load" "$group" >"$tmp/out" 2>"$tmp/err"
expect_exit "chaincap -- gzip in a group" 0 $?
throttled=$(awk '$1 == "throttled_time" { printf "%.0f\n", $2 }
	$1 == "throttled_usec" { printf "%.0f\n", $2 * 1000 }' "$group/cpu.stat")
expect_at_least "time throttled, by cpu.stat" 1000000000 "$throttled" "$group/cpu.stat"

marked() {
	walk_json=$(timeout 300 "$walk" -q --format=json --state=preempted -c "$1" "$tmp/trace" 2>"$tmp/err")
	printf '%s\n' "$walk_json" | awk '/"flags":\[[^]]*"throttled"/ && match($0, /"preempted":[0-9]+/) {
		sum += substr($0, RSTART + 12, RLENGTH - 12)
	} END { printf "%.0f\n", sum }'
}
expect_near "preempted time of gzip that is marked" "$throttled" "$(marked '^gzip$')" 30 "$group/cpu.stat"
expect "preempted time of sha256sum that is marked" 0 "$(marked '^sha256sum$')"
# The quota is the reason for as long as the kernel says, whoever had the CPU meanwhile: one half of the time
# sha256sum, nobody the other half. What differs is from the kernel's clock to the thread's own way off the CPU.
walk_to "$tmp/folded" --state=preempted --who-ran -c '^gzip$' "$tmp/trace"
name=/${group##*/}
by_quota=$(weight_of ";\\[preempted\\];\\[throttled $name\\] [0-9]+\$" "$tmp/folded")
idle=$(weight_of ';\[preempted\];\[idle CPU\] [0-9]+$' "$tmp/folded")
echo "note: gzip had no CPU while: throttled $by_quota ns, idle $idle ns; cpu.stat $throttled ns"
if quota_ends_known; then
	expect_near "time for which its quota was used up" "$throttled" "$by_quota" 3 "$tmp/folded"
fi
expect_at_most "time for which the CPU was only idle" $((throttled / 20)) "$idle" "$tmp/folded"
