# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# node_pool.js: quotes keep connections of a pool while they ask somebody else.
service_start() {
	! lacks node g++ cc || return 77
	service_upstream carrier || return 1
	service_carrier=$service_port
	service_upstream store || return 1
	service_run node "$services/node_pool.js" "$service_port" "$service_carrier" ${service_healthy:+--healthy}
}
service_load() { service_ask -c 24 -r 4 -s "$1" "$service_port" /price /quote 700; }
