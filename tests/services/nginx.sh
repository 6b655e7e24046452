# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# A file from nginx, for ab with connections that stay. A slow one lets 400 requests pass in a second.
# nginx_serve TEXT: an nginx with this location.
nginx_serve() {
	service_free_port
	mkdir "$dir/nginx"
	cat >"$dir/nginx/conf" <<-END
		daemon off; user root; pid $dir/nginx/pid; worker_processes 1; error_log $dir/nginx/log;
		events { worker_connections 200; }
		http {
			access_log off;
			$2
			server { listen 127.0.0.1:$service_port; location / { $1 } }
		}
	END
	nginx -c "$dir/nginx/conf" >"$dir/nginx.log" 2>&1 &
	server_kept="$server_kept $!"
	until_there 10 curl -so "$dir/got" "http://127.0.0.1:$service_port/price/1"
}
# nginx_load REQUESTS: of ab, whose table has a line for each percent, in ms.
nginx_load() {
	service_until_done ab -q -k -c 8 -n "$1" -e "$dir/percents" "http://127.0.0.1:$service_port/price/1" >"$dir/ab.log" 2>&1 &&
		awk -F , -v count="$1" '
			$1 + 0 == 50 { p50 = $2 } $1 + 0 == 90 { p90 = $2 } $1 + 0 == 99 { p99 = $2 } { max = $2 }
			END { printf "count %.0f\np50_us %.1f\np90_us %.1f\np99_us %.1f\nmax_us %.1f\n", count,
				p50 * 1000, p90 * 1000, p99 * 1000, max * 1000 }' "$dir/percents" >"$dir/figures"
}
service_start() {
	! lacks nginx curl ab || return 77
	mkdir -p "$dir/files/price" && head -c 3000 /dev/zero >"$dir/files/price/1" && nginx_serve \
		"root $dir/files;${service_slow:+ limit_req zone=all burst=100;}" 'limit_req_zone $binary_remote_addr zone=all:1m rate=400r/s;'
}
service_load() {
	if [ "$service_slow" ]; then nginx_load $((350 * $1)); else nginx_load $((5000 * $1)); fi
}
