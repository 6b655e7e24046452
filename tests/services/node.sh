# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# logins.js: now and then six users log in at once, which fills libuv's pool of four threads. The healthy one
# does two logins at a time.
service_start() {
	! lacks node cc || return 77
	service_build visitors client.c client_http.c || return 1
	service_run node "$services/logins.js" ${service_healthy:+--healthy}
}
service_load() {
	"$dir/visitors" -c 6 -e 1200 -s "$1" -l "$dir/logins" "$service_port" /login >"$dir/logins.log" 2>&1 &
	service_logins=$!
	service_ask -s "$1" -l "$dir/settings" "$service_port" /settings && wait $service_logins &&
		cat "$dir/settings" "$dir/logins" >"$dir/latencies_ns" && service_figures 1000 "$dir/latencies_ns"
}
