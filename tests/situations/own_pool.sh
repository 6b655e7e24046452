# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# own_pool.cc: a pool's threads wait for what they gave to the same pool.
service_start() {
	! lacks g++ cc || return 77
	service_compile c++ own_pool || return 1
	service_run "$dir/own_pool" ${service_healthy:+--healthy}
}
service_load() { service_ask -c 4 -t 30 -r 6 -s "$1" "$service_port" '/page/{}' '/page/{}' 400; }
