# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# connections.rs: exports keep connections of a pool while they ask somebody else.
service_start() {
	! lacks rustc g++ cc || return 77
	service_compile rust connections && service_upstream carrier || return 1
	service_carrier=$service_port
	service_upstream store || return 1
	service_run "$dir/connections" "$service_port" "$service_carrier" ${service_healthy:+--healthy}
}
service_load() { service_ask -c 24 -r 3 -s "$1" "$service_port" /item /export 700; }
