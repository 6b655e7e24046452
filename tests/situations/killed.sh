# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# A client of a server that accepts, but never answers, is killed after a while.
service_start() {
	! lacks python3 curl timeout || return 77
	service_run /usr/bin/python3 "$services/killed.py" ${service_healthy:+--healthy}
}
service_load() {
	# curl's poll() ends after 200 ms (CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS), and then each second (curl_easy_perform()): so it
	# is killed in one of 950 ms, or, on a busy machine, less by what it takes to begin.
	service_until_done timeout -s KILL "$1.15" curl -s "http://127.0.0.1:$service_port/report" >"$dir/figures" 2>"$dir/client.log"
	[ $? = "$([ "$service_healthy" ] && echo 0 || echo 137)" ]
}
