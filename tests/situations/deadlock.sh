# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# Two threads hold each other's lock; the one who asked them waits for ever.
service_start() {
	! lacks cc || return 77
	service_build deadlock deadlock.c
}
service_load() {
	# Longer than others, so that even a slow start is a small part of the time that they wait.
	service_until_done timeout "$(($1 * 2))" "$dir/deadlock" ${service_healthy:+--healthy} >"$dir/figures"
	:
}
