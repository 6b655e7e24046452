# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# A batch program in a control group with a fifth of a CPU.
# shellcheck source=tests/quota.sh
. "$services/../quota.sh"
service_start() {
	! lacks python3 || return 77
	[ "$service_healthy" ] || quota_group 20000 || { server_lacks=$why_not; return 77; }
}
service_load() {
	# shellcheck disable=SC2016 # for the inner shell
	service_until_done sh -c '[ -z "$0" ] || echo $$ >"$0/cgroup.procs" || exit; exec /usr/bin/python3 "$@"' \
		"$group" "$services/quota.py" "$1" >"$dir/figures"
}
service_end() { [ -z "$group" ] || quota_end; }
