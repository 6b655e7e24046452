# shellcheck shell=sh disable=SC2154 # services is the sourcing script's
# SPDX-License-Identifier: GPL-2.0-or-later
# catalogue.js; $node_options: what it is run with.
service_start() {
	! lacks node cc || return 77
	service_build visitors ../services/client.c ../services/client_http.c || return 1
	# It may write logs into the folder in which it runs.
	# shellcheck disable=SC2086 # several
	service_run env -C "$dir" node ${node_options-} "$(realpath "$services/catalogue.js")"
}
service_end() {
	[ -z "$service_pid" ] || rm -f "/tmp/perf-$service_pid.map"
}
service_load() {
	service_ask -c 3 -s "$1" "$service_port" '/price/{}'
}
