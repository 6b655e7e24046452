#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A program that only computes, in a control group with a fifth of a CPU: the first screen says that it was
# throttled, and where.
# Beside another: it judges what a control group of its own waits for.
. "$(dirname "$0")/lib.sh"
needs_bpf
make_quota 20000
build_slow quota
# Others want the CPU, too: that is not why it stands still. In version 1, the memory hierarchy has another group for
# it, which is deeper than the one with the quota.
other=
for folder in $(awk '$3 == "cgroup" && $4 ~ /(^|,)memory(,|$)/ { print $2 }' /proc/mounts); do
	other=$folder/chain-e2e.$$.memory
	mkdir -p "$other/inner"
done
cat >"$tmp/load" <<'END'
for group in "$1" ${2:+"$2/inner"}; do
	echo $$ >"$group/cgroup.procs" || exit 1
done
exec taskset -c 0 "$3"
END
taskset -c 0 sh -c 'while :; do :; done' &
hog=$!
first_screen sh "$tmp/load" "$group" "$other" "$tmp/quota"
kill $hog
wait $hog 2>/dev/null
[ -z "$other" ] || rmdir "$other/inner" "$other"
throttled=$(awk '$1 == "throttled_time" { printf "%.0f\n", $2 }
	$1 == "throttled_usec" { printf "%.0f\n", $2 * 1000 }' "$group/cpu.stat")
if quota_ends_known; then
	row="/[0-9]+ was throttled.*: the quota of its control group /${group##*/} was used up"
	has "cruncher$row"
	# A part of it may have been that of the shell, before the program began. Thousands have a space between.
	told=$(ROW=$row awk 'match($0, /% +[0-9 ]+\.[0-9][0-9][0-9]/) && $0 ~ ENVIRON["ROW"] {
		ms = substr($0, RSTART + 1, RLENGTH - 1)
		gsub(/ /, "", ms)
		sum += ms } END { printf "%.0f\n", 1000000 * sum }' "$tmp/screen")
	expect_near "time for which its quota was used up, by cpu.stat" "$throttled" "$told" 15 "$tmp/screen"
else # the kernel does not say until when: others had the CPU
	has 'cruncher/[0-9]+ (was throttled|had no CPU).* the quota of its control group was used up'
fi
