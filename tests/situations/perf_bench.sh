# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# Eighty processes that send each other messages want the CPUs at a time; without the cause it is two.
service_start() { ! lacks perf || return 77; }
service_load() {
	set -- messaging -g 2 -l $((600 * $1))
	[ ! "$service_healthy" ] || set -- pipe -l 20000
	service_until_done perf bench sched "$@" >"$dir/figures"
}
