# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# nginx before the service "python". One request of fifty has to wait in nginx, which lets 20 of them pass a second.
# shellcheck source=tests/services/nginx.sh
. "$services/nginx.sh"
service_start() {
	! lacks nginx curl ab python3 || return 77
	service_run /usr/bin/python3 "$services/price_list.py" --healthy || return 1
	nginx_serve 'limit_req zone=all burst=100; proxy_pass http://list; proxy_http_version 1.1; proxy_set_header Connection "";' "
		upstream list { server 127.0.0.1:$service_port; keepalive 8; }"'
		split_clients $request_id $slow { 2% yes; * ""; }
		limit_req_zone $slow zone=all:1m rate=20r/s;'
}
service_load() {
	nginx_load $((500 * $1))
}
