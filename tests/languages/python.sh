# shellcheck shell=sh disable=SC2154 # services is the sourcing script's
# SPDX-License-Identifier: GPL-2.0-or-later
# catalogue.py, with what it takes for its functions to have names.
service_start() {
	! lacks python3 cc || return 77
	service_build visitors ../services/client.c ../services/client_http.c || return 1
	service_run /usr/bin/python3 "$services/catalogue.py"
}
service_load() {
	service_ask -c 3 -s "$1" "$service_port" '/price/{}'
}
