# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# handler.py: some answers of a web server take a pause of 80 ms.
service_start() {
	! lacks python3 curl || return 77
	service_run /usr/bin/python3 "$services/handler.py" ${service_healthy:+--healthy}
}
service_load() {
	for path in $(seq $(($1 * 10))); do echo "url = http://127.0.0.1:$service_port/$path"; echo "output = /dev/null"; done >"$dir/urls"
	service_until_done curl -s -K "$dir/urls" >"$dir/figures" 2>"$dir/client.log"
}
