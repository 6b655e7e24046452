# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# Catalogue.java
service_start() {
	! lacks java javac cc || return 77
	service_build visitors ../services/client.c ../services/client_http.c || return 1
	javac -d "$dir" "$services/Catalogue.java" 2>"$dir/build.log" || return 1
	# else an answer's two writes wait for each other
	service_run java -Dsun.net.httpserver.nodelay=true -cp "$dir" Catalogue
}
service_end() {
	[ -z "$service_pid" ] || rm -f "/tmp/perf-$service_pid.map"
}
service_load() {
	service_ask -c 3 -s "$1" "$service_port" '/price/{}'
}
