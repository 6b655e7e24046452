# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# upstreams.rb: exports take long, and the two connections by which others ask, too.
service_start() {
	! lacks ruby g++ cc || return 77
	service_upstream store || return 1
	service_run ruby "$services/upstreams.rb" "$service_port" ${service_healthy:+--healthy}
}
service_load() { service_ask -c 24 -r 2 -s "$1" "$service_port" /price /export 700; }
