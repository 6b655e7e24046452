# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# loop.lua: an event loop waits for a ledger.
service_start() {
	! lacks lua5.4 g++ cc || return 77
	service_upstream ledger || return 1
	service_run lua5.4 "$services/loop.lua" "$service_port" ${service_healthy:+--healthy}
}
service_load() { service_ask -c 12 -s "$1" "$service_port" /profile /consent 350; }
