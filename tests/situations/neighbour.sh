# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# neighbour.rb: another program of its control group uses up the quota of both.
# shellcheck source=tests/quota.sh
. "$services/../quota.sh"
service_start() {
	! lacks ruby xz cc || return 77
	quota_group 40000 || { server_lacks=$why_not; return 77; }
	(
		[ "$service_healthy" ] || { sh -c 'echo $PPID' >"$group/cgroup.procs"; }
		while sleep 0.3; do
			head -c 24000000 /dev/zero | xz -T1 -0 >/dev/null
		done
	) &
	server_kept="$server_kept $!"
	service_run sh -c 'echo $$ >"$0/cgroup.procs"; exec ruby "$1"' "$group" "$services/neighbour.rb"
}
service_load() { service_ask -c 6 -t 15 -s "$1" "$service_port" '/near/{}'; }
service_end() { [ -z "$group" ] || quota_end; }
