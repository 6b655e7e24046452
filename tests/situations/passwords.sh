# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# passwords.js: an event loop computes while others ask it.
service_start() {
	! lacks node cc || return 77
	service_run node "$services/passwords.js" ${service_healthy:+--healthy}
}
service_load() { service_ask -c 12 -s "$1" "$service_port" /page /login 350; }
