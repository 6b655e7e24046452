# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# price_list.py: a thread of the server keeps the interpreter's lock.
service_start() {
	! lacks python3 cc || return 77
	service_build visitors client.c client_http.c || return 1
	service_run /usr/bin/python3 "$services/price_list.py" ${service_healthy:+--healthy}
}
service_load() {
	service_ask -s "$1" "$service_port" '/price/{}'
}
