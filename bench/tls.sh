#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What it costs to record what requests on connections of TLS ask for: requests a second that nginx answers to ab, which
# keeps its connections, without a recorder, with one, and with one that has --tls, in turn; medians of ROUNDS (7).
#   bench/tls.sh BUILD_DIR [ROUNDS]
#   WINDOW=2    seconds of each
set -eu
export LC_ALL=C # the decimal point
O=$(cd "$1" && pwd)
rounds=${2:-7} window=${WINDOW:-2}
dir=$(mktemp -d)
server=''
clean_up() {
	[ ! "$server" ] || kill "$server"
	wait
	rm -rf "$dir"
}
# shellcheck source=bench/begin.sh
. "$(dirname "$0")/begin.sh"
chmod 755 "$dir"
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$dir/key" -out "$dir/cert" -subj /CN=localhost -days 2 2>/dev/null
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >"$dir/nginx.conf" <<END
worker_processes 1;
daemon off;
pid $dir/pid;
error_log $dir/errors;
events { }
http {
	access_log off;
	keepalive_requests 1000000;
	client_body_temp_path $dir; proxy_temp_path $dir; fastcgi_temp_path $dir; uwsgi_temp_path $dir; scgi_temp_path $dir;
	server {
		listen 127.0.0.1:$port ssl;
		ssl_certificate $dir/cert; ssl_certificate_key $dir/key;
		location / { return 200 "ok"; }
	}
}
END
nginx -p "$dir" -c "$dir/nginx.conf" 2>"$dir/told" &
server=$!
for _ in $(seq 100); do
	! curl -sk "https://127.0.0.1:$port/" >/dev/null || break
	sleep 0.1
done

# answers MODE: requests a second while it records.
answers() {
	local recorder=''
	if [ "$1" != none ]; then
		: >"$dir/err"
		# shellcheck disable=SC2046 # an option, or none
		"$O/chaincap" -v -o "$dir/trace" $([ "$1" = recorded ] || echo --tls) 2>"$dir/err" &
		recorder=$!
		until grep -q 'ring buffers' "$dir/err"; do
			kill -0 $recorder
			sleep 0.1
		done
	fi
	ab -q -k -c 4 -t "$window" -n 10000000 "https://127.0.0.1:$port/cart" 2>"$dir/err" | awk '/^Requests per second/ { print $4 }'
	[ ! "$recorder" ] || { kill -INT $recorder; wait $recorder; }
}
for round in $(seq "$rounds"); do
	for mode in $(rotated "$round" none recorded tls); do
		echo "$mode $(answers "$mode")"
	done
done >"$dir/all"
echo "rounds $rounds of $window s, kernel $(uname -r), $(nproc) CPUs, $(date +%F), load $(cut -d' ' -f1 /proc/loadavg)"
awk "$(cat "$(dirname "$0")/median.awk")"'
{ list[$1] = list[$1] " " $2 }
END {
	none = median(list["none"])
	n = split("none recorded tls", mode, " ")
	split("no recorder,chaincap,chaincap --tls", name, ",")
	for (i = 1; i <= n; i++) {
		here = median(list[mode[i]])
		printf "%-16s %8.0f requests/s %7.2f us each %6.1f %% fewer\n", name[i], here, 1e6 / here, 100 * (1 - here / none)
	}
}' "$dir/all"
