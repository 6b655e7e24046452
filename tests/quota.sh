# shellcheck shell=sh disable=SC2034
# SPDX-License-Identifier: GPL-2.0-or-later
# quota_group US: a control group with so much CPU time in each 100 ms, in $group, for whoever called to remove; or not
# 0, and $why_not.
group=''
quota_group() {
	quota_cpu=
	for quota_folder in $(awk '$3 == "cgroup2" || ($3 == "cgroup" && $4 ~ /(^|,)cpu(,|$)/) { print $2 }' /proc/mounts); do
		if grep -qw cpu "$quota_folder/cgroup.subtree_control" 2>/dev/null || [ -e "$quota_folder/cpu.cfs_quota_us" ]; then
			quota_cpu=$quota_folder
			break
		fi
	done
	[ "$quota_cpu" ] || { why_not="no control group hierarchy with a CPU controller"; return 1; }
	group=$quota_cpu/chain-e2e.$$
	mkdir "$group" 2>/dev/null || { group='' why_not="cannot make a control group below $quota_cpu"; return 1; }
	if [ -e "$group/cpu.max" ]; then
		echo "$1 100000" >"$group/cpu.max" || { why_not="cannot set a quota"; return 1; }
	else
		{ echo 100000 >"$group/cpu.cfs_period_us" && echo "$1" >"$group/cpu.cfs_quota_us"; } 2>/dev/null ||
			{ why_not="cannot set a quota (CONFIG_CFS_BANDWIDTH)"; return 1; }
	fi
}
# Whether this kernel adds up for how long each run queue was throttled, as Linux does since 6.6.
quota_ends_known() {
	uname -r | awk -F '[.-]' '{ exit !($1 > 6 || ($1 == 6 && $2 >= 6)) }'
}
# quota_end: removes it when its last process is gone, which may be a moment after that was waited for.
quota_end() {
	rmdir "$group" 2>/dev/null || { sleep 0.5; rmdir "$group"; }
}
