# shellcheck shell=sh disable=SC2034,SC2154
# SPDX-License-Identifier: GPL-2.0-or-later
# fpm.php: PHP-FPM behind nginx keeps a user's session locked while it asks a carrier.
service_start() {
	for fpm in /usr/sbin/php-fpm*; do
		[ -x "$fpm" ] && break
	done
	! lacks nginx curl g++ cc "$fpm" || return 77
	service_upstream carrier && mkdir -m 777 "$dir/sessions" && cp "$services/fpm.php" "$dir" || return 1
	carrier=$service_port
	cat >"$dir/fpm.conf" <<-END
		[global]
		error_log = $dir/fpm.log
		daemonize = no
		[www]
		user = nobody
		listen = $dir/fpm.sock
		listen.mode = 0666
		pm = static
		pm.max_children = 9
	END
	"$fpm" -F -y "$dir/fpm.conf" >"$dir/fpm.out" 2>&1 &
	server_kept="$server_kept $!"
	until_there 10 test -S "$dir/fpm.sock" || return 1
	service_free_port
	cat >"$dir/nginx.conf" <<-END
		daemon off; user root; pid $dir/nginx.pid; worker_processes 1; error_log $dir/nginx.log;
		events { worker_connections 200; }
		http {
			access_log off; keepalive_requests 1000000;
			server {
				listen 127.0.0.1:$service_port;
				location / {
					fastcgi_pass unix:$dir/fpm.sock;
					fastcgi_param SCRIPT_FILENAME $dir/fpm.php;
					fastcgi_param REQUEST_URI \$request_uri;
					fastcgi_param REQUEST_METHOD \$request_method;
					fastcgi_param SESSIONS $dir/sessions;
					fastcgi_param CARRIER $carrier;
					fastcgi_param HEALTHY "$service_healthy";
				}
			}
		}
	END
	nginx -c "$dir/nginx.conf" >"$dir/nginx.out" 2>&1 &
	server_kept="$server_kept $!"
	until_there 10 curl -sfo "$dir/got" "http://127.0.0.1:$service_port/badge/9"
}
service_load() { service_ask -c 8 -t 15 -s "$1" "$service_port" '/badge/{}' /quote/5 600; }
