# shellcheck shell=sh disable=SC2154 # services is the sourcing script's
# SPDX-License-Identifier: GPL-2.0-or-later
# catalogue.js, with what it takes for its functions to have names.
service_start() {
	! lacks node cc || return 77
	service_build visitors ../services/client.c ../services/client_http.c || return 1
	# It writes logs into the folder in which it runs.
	service_run env -C "$dir" node --perf-basic-prof --interpreted-frames-native-stack \
		"$(realpath "$services/catalogue.js")"
}
service_end() {
	[ -z "$service_pid" ] || rm -f "/tmp/perf-$service_pid.map"
}
service_load() {
	service_ask -c 3 -s "$1" "$service_port" '/price/{}'
}
