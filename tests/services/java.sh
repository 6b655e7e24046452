# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# Orders.java: whoever fills the log compresses it under its monitor. The healthy one's log is empty.
service_start() {
	! lacks java javac cc || return 77
	service_build visitors client.c client_http.c || return 1
	javac -d "$dir" "$services/Orders.java" 2>"$dir/build.log" || return 1
	# else an answer's two writes wait for each other
	service_run java -Dsun.net.httpserver.nodelay=true -cp "$dir" Orders "$([ "$service_healthy" ] && echo 0 || echo 2)"
}
service_load() {
	service_ask -s "$1" "$service_port" '/order/{}'
}
