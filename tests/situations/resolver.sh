# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# A name server answers one question after the other, and somebody else floods it.
service_start() {
	! lacks cc || return 77
	service_build names ../workload/slow/names.c
}
service_load() { service_until_done "$dir/names" ${service_healthy:+--healthy} >"$dir/figures"; }
