#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Requests at servers as distributions have them are as many as their clients count: nginx with connections
# that are kept and with one for each request, with TLS, and with files that sendfile() writes; redis over TCP
# and a unix socket; Python's HTTP server.
# Beside another: it counts requests at ports of its own.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v curl >/dev/null || skip "no curl"
chmod 755 "$tmp"

# free_port: one that nobody listens at now.
free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# listens PORT
listens() {
	curl -s -o /dev/null --max-time 2 "telnet://127.0.0.1:$1" </dev/null
	[ $? != 7 ] # could not connect
}

# fetch NAME N URL [OPTION...]: so many times; $answers, which curl counts. In $tmp/NAME is the trace.
fetch() {
	name=$1 url="$3?[1-$2]"
	shift 3
	timeout 300 "$cap" -q -F 0 -o "$tmp/$name" -- curl -s -k "$@" -o /dev/null -w '%{http_code} %{num_connects}\n' "$url" \
		>"$tmp/told" 2>"$tmp/err"
	expect_exit "chaincap -- curl $url" 0 $?
	answers=$(grep -c '^200 ' "$tmp/told")
	connects=$(awk '{ n += $2 } END { printf "%.0f", n }' "$tmp/told")
}

ran=
# ---- nginx --------------------------------------------------------------------------------------
if command -v nginx >/dev/null && command -v python3 >/dev/null && command -v openssl >/dev/null; then
	ran="$ran nginx"
	port=$(free_port)
	tls=$((port + 1))
	mkdir "$tmp/nginx"
	echo hello >"$tmp/nginx/small"
	head -c 3000000 /dev/zero >"$tmp/nginx/large"
	openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=localhost -keyout "$tmp/key" -out "$tmp/cert" 2>"$tmp/err" ||
		fail "openssl req: $(cat "$tmp/err")"
	cat >"$tmp/nginx.conf" <<-EOF
		daemon off;
		worker_processes 2;
		pid $tmp/nginx.pid;
		error_log $tmp/nginx.log;
		events { }
		http {
			access_log off;
			sendfile on;
			client_body_temp_path $tmp/nginx; proxy_temp_path $tmp/nginx; fastcgi_temp_path $tmp/nginx;
			uwsgi_temp_path $tmp/nginx; scgi_temp_path $tmp/nginx;
			server {
				listen 127.0.0.1:$port;
				listen 127.0.0.1:$tls ssl;
				ssl_certificate $tmp/cert;
				ssl_certificate_key $tmp/key;
				root $tmp/nginx;
			}
		}
	EOF
	nginx -c "$tmp/nginx.conf" 2>"$tmp/nginx.err" &
	started="$started $!"
	wait_for "nginx listens" 20 listens "$port"

	fetch kept 200 "http://127.0.0.1:$port/small"
	requests_at "$tmp/kept" "tcp :$port"
	expect_requests "nginx, connection kept: requests" "$answers" request
	expect_requests "nginx, connection kept: first ones" "$connects" request ' first'

	fetch closed 60 "http://127.0.0.1:$port/small" -H 'Connection: close'
	requests_at "$tmp/closed" "tcp :$port"
	expect "nginx, a connection each: connections" "$answers" "$connects"
	expect_requests "nginx, a connection each: requests" "$answers" request
	expect_requests "nginx, a connection each: first ones" "$connects" request ' first'

	fetch large 20 "http://127.0.0.1:$port/large"
	requests_at "$tmp/large" "tcp :$port"
	expect_requests "nginx, large files: requests" "$answers" request
	# What the last event of each request says.
	written=$(awk '
		{ for (i = 1; i < NF - 1; i++) if ($(i + 1) == "bytes" && $(i + 2) == "written") bytes = $i }
		$3 == "request" { sum += last }
		{ last = bytes }
		END { printf "%.0f", sum + last }' "$tmp/requests")
	expect_at_least "nginx, large files: bytes written" 60000000 "$written" "$tmp/requests"
	expect_at_most "nginx, large files: bytes written" 60020000 "$written" "$tmp/requests"

	# The handshake is a request, too: the first one of its connection, or two.
	fetch tls 100 "https://127.0.0.1:$tls/small"
	requests_at "$tmp/tls" "tcp :$tls"
	expect_requests "nginx, TLS: first ones" "$connects" request ' first'
	expect_at_least "nginx, TLS: requests" $((answers + connects)) "$(requests_of request)" "$tmp/told"
	expect_at_most "nginx, TLS: requests" $((answers + 2 * connects)) "$(requests_of request)" "$tmp/told"
fi

# ---- redis --------------------------------------------------------------------------------------
if command -v redis-server >/dev/null && command -v redis-benchmark >/dev/null && command -v python3 >/dev/null; then
	ran="$ran redis"
	port=$(free_port)
	redis-server --port "$port" --bind 127.0.0.1 --unixsocket "$tmp/redis" --save '' --dir "$tmp" >"$tmp/redis.log" &
	started="$started $!"
	wait_for "redis listens" 20 redis-cli -p "$port" ping
	# count_benchmark WHAT ENDPOINT OPTION...: its 5000 requests, and one or two of each connection before these.
	count_benchmark() {
		what=$1 endpoint=$2
		shift 2
		timeout 300 "$cap" -q -F 0 -o "$tmp/trace" -- redis-benchmark "$@" -c 4 -n 5000 -t get --csv \
			>"$tmp/told" 2>"$tmp/err"
		expect_exit "chaincap -- redis-benchmark $*" 0 $?
		requests_at "$tmp/trace" "$endpoint"
		expect "redis, $what: requests of 36 bytes" 5000 "$(requests_of request ' 36 bytes read, 5 bytes written')"
		expect_at_most "redis, $what: other requests" 2 $(($(requests_of request) - 5000)) "$tmp/requests"
	}
	# How many a CPU can do in a second is not known: each is recorded, or counted as left out.
	timeout 300 "$cap" -F 0 -o "$tmp/trace" -- redis-benchmark -s "$tmp/redis" -c 4 -P 2 -n 200000 -t get --csv \
		>"$tmp/told" 2>"$tmp/err.cap"
	expect_exit "chaincap -- redis-benchmark -n 200000" 0 $?
	requests_at "$tmp/trace" "unix $tmp/redis"
	left_out=$(info_figure requests_left_out)
	expect "redis, fast: requests of 72 bytes, two each, and those left out" 100000 \
		$(($(requests_of request ' 72 bytes read, 10 bytes written') + ${left_out:-0}))
	expect "redis, fast: left out, as chaincap says" "${left_out:-}" \
		"$(awk '/ requests were not recorded: / { print $2 }' "$tmp/err.cap")"
	echo "note: redis, fast: ${left_out:-0} requests left out"
	count_benchmark TCP "tcp :$port" -p "$port"
	count_benchmark "unix socket" "unix $tmp/redis" -s "$tmp/redis"
fi

# ---- Python -------------------------------------------------------------------------------------
if command -v python3 >/dev/null; then
	ran="$ran python3"
	port=$(free_port)
	mkdir "$tmp/www"
	echo hello >"$tmp/www/index.html"
	python3 -m http.server --bind 127.0.0.1 --directory "$tmp/www" "$port" >"$tmp/www.log" 2>&1 &
	started="$started $!"
	wait_for "Python listens" 20 listens "$port"
	fetch python 60 "http://127.0.0.1:$port/index.html"
	requests_at "$tmp/python" "tcp :$port"
	expect_requests "Python: requests" "$answers" request
fi
[ "$ran" ] || skip "no server is installed"
