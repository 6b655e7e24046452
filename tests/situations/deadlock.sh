# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# Two threads hold each other's lock; the one who asked them waits for ever.
service_start() {
	! lacks cc || return 77
	service_build deadlock deadlock.c
}
service_load() {
	service_until_done timeout "$1" "$dir/deadlock" ${service_healthy:+--healthy} >"$dir/figures"
	:
}
