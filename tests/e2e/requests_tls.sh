#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --tls: each route of a server that speaks TLS by OpenSSL has as many requests as its access log: nginx, and Python's ssl,
# whatever somebody does who calls functions of such names with what is not so. Nothing that is somebody's own is in a
# trace; without the option none of it is looked at. What a server reads as a client is no request of its own.
# Beside another: it counts requests at ports of its own.
. "$(dirname "$0")/lib.sh"
needs_usual "requests at sockets"
for program in python3 openssl curl nginx cc; do
	command -v $program >/dev/null || skip "no $program"
done
ldconfig -p | grep -q 'libssl\.so' || skip "no libssl"
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$tmp/key" -out "$tmp/cert" -subj /CN=localhost -days 2 2>/dev/null ||
	skip "openssl makes no certificate"
chmod 755 "$tmp"
secrets='queryzzsecret|headerzzsecret|pathzzsecret|liezzsecret'
free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

python3 "$(dirname "$0")/../tools/http_server.py" "$tmp/cert" "$tmp/key" >"$tmp/python" &
started="$started $!"
wait_for "the server in Python listens" 10 [ -s "$tmp/python" ]
python=$(cat "$tmp/python") port=$(free_port) port2=$(free_port)
mkdir "$tmp/nginx"
cat >"$tmp/nginx.conf" <<END
worker_processes 2;
daemon off;
pid $tmp/nginx/pid;
error_log $tmp/nginx/errors;
events { }
http {
	log_format asked '\$request_method \$uri';
	access_log $tmp/nginx/log asked;
	client_body_temp_path $tmp/nginx; proxy_temp_path $tmp/nginx; fastcgi_temp_path $tmp/nginx;
	uwsgi_temp_path $tmp/nginx; scgi_temp_path $tmp/nginx;
	ssl_certificate $tmp/cert; ssl_certificate_key $tmp/key;
	server { listen 127.0.0.1:$port ssl; location / { return 200 "ok"; } location /behind/ { proxy_pass https://127.0.0.1:$python; } }
	server { listen 127.0.0.1:$port2 ssl http2; location / { return 200 "ok"; } }
}
END
nginx -p "$tmp/nginx" -c "$tmp/nginx.conf" >"$tmp/nginx/told" 2>&1 &
started="$started $!"
wait_for "nginx listens" 10 curl -sk "https://127.0.0.1:$port/first"

cc -O1 -shared -fPIC -DLIBRARY -o "$tmp/libssl.so.9" "$(dirname "$0")/../attacks/tls_liar.c" -Wl,-soname,libssl.so.9 || fail "cc"
cc -O1 -pthread -o "$tmp/tls_liar" "$(dirname "$0")/../attacks/tls_liar.c" "$tmp/libssl.so.9" -Wl,-rpath,"$tmp" || fail "cc"
nice "$tmp/tls_liar" >"$tmp/liar" &
started="$started $!"
wait_for "somebody lies" 10 [ -s "$tmp/liar" ]

# record [OPTION]: in $tmp/trace, while both servers are asked: thirty times for each route, by three connections.
record() {
	: >"$tmp/nginx/log"
	# shellcheck disable=SC2086 # an option, or none
	"$cap" -v -F 0 ${1-} -o "$tmp/trace" 2>"$tmp/err" &
	recorder=$!
	started="$started $recorder"
	wait_for "chaincap records" 60 grep -q 'ring buffers' "$tmp/err"
	# Who comes later is seen, too.
	python3 "$(dirname "$0")/../tools/http_server.py" "$tmp/cert" "$tmp/key" >"$tmp/later" &
	started="$started $!"
	wait_for "a later server listens" 10 [ -s "$tmp/later" ]
	curl -sk "https://127.0.0.1:$(cat "$tmp/later")/cart?[1-30]"
	for user in 1 2 3; do
		for at in "$port" "$python"; do
			curl -sk -H "Cookie: headerzzsecret" "https://127.0.0.1:$at/cart?queryzzsecret=[1-30]" \
				"https://127.0.0.1:$at/users/${user}[10-39]" "https://127.0.0.1:$at/pathzzsecret$user"
			[ "$at" = "$python" ] || curl -sk "https://127.0.0.1:$at/behind/${user}[10-39]"
		done >"$tmp/asked"
		curl -sk --http2 "https://127.0.0.1:$port2/streams?[1-10]" >"$tmp/asked"
	done
	kill -INT "$recorder"
	wait "$recorder"
	expect_exit "chaincap ${1-}" 0 $?
	if grep -aqE "$secrets" "$tmp/trace"; then
		fail "the trace has $(grep -aoE "$secrets" "$tmp/trace" | head -n 1)"
	fi
}
# routed ROUTE: how many requests have this route, which is a regular expression.
routed() { requests_of request ", route $1,"; }

record --tls
for at in "$port" "$python"; do
	requests_at "$tmp/trace" "tcp :$at"
	expect "requests for the cart at :$at" 90 "$(routed 'GET /cart')"
	expect "requests for users at :$at" 90 "$(routed 'GET /users/\*')"
	expect "requests from behind, at :$at" 90 "$(routed 'GET /behind/\*')"
	expect "requests that are something else at :$at" 0 "$(awk '$3 == "request"' "$tmp/requests" |
		grep -cvE 'route (GET /(cart|users/\*|behind/\*|\*)|\[TLS( handshake)?\]),')"
done
requests_at "$tmp/trace" "tcp :$(cat "$tmp/later")"
expect "requests to who came later" 30 "$(routed 'GET /(cart|\*)')"
requests_at "$tmp/trace" "tcp :$(cat "$tmp/liar")"
expect_at_least "what the liar says that it is asked for" 1 "$(routed 'GET /\*')" "$tmp/requests"
expect "what nginx wrote of the cart" 90 "$(grep -c '^GET /cart$' "$tmp/nginx/log")"
requests_at "$tmp/trace" "tcp :$port2"
expect "requests of HTTP/2" 30 "$(routed 'GET /streams')"

record
requests_at "$tmp/trace" "tcp :$port"
expect "routes without --tls" 0 "$(routed 'GET .*')"
expect_at_least "what is said to be enciphered" 180 "$(routed '\[TLS\]')" "$tmp/requests"
