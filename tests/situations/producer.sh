# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# producer.c: three consumers wait for records that one thread makes slowly.
service_start() {
	! lacks cc || return 77
	service_build producer producer.c
}
service_load() { service_until_done "$dir/producer" "$1" ${service_healthy:+--healthy} >"$dir/figures"; }
