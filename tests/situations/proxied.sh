# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# nginx hands requests on to a program that takes long to make its answer.
. "$services/../services/nginx.sh"
service_start() {
	! lacks python3 curl nginx ab || return 77
	service_run /usr/bin/python3 "$services/proxied.py" ${service_healthy:+--healthy} || return 1
	nginx_serve "proxy_pass http://127.0.0.1:$service_port;" ''
}
service_load() {
	service_until_done timeout $(($1 + 5)) ab -q -c 4 -t "$1" -n 1000000 "http://127.0.0.1:$service_port/report" >"$dir/figures" 2>&1
}
