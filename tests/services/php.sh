# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# stock.php: one process keeps a file locked in which the others look.
service_start() {
	! lacks php cc || return 77
	service_build visitors client.c client_http.c || return 1
	service_run php "$services/stock.php" "$dir/stock" ${service_healthy:+--healthy}
}
service_load() {
	service_ask -c 6 -s "$1" "$service_port" '/stock/{}'
}
