#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Streams of HTTP/2 without TLS, at nginx and at a gRPC server, whose client writes a path out once and refers to it from
# then on: each stream is a request, whether streams of a connection overlap or not, and each route has as many requests
# as the server counts. Of streams that wait for each other each takes as long as for its client. No query string, header,
# body or path of one connection alone is in a trace.
# Beside another: it counts requests at ports of its own.
. "$(dirname "$0")/lib.sh"
needs_bpf
for program in python3 nginx h2load; do
	command -v $program >/dev/null || skip "no $program"
done
nginx -V 2>&1 | grep -q http_v2_module || skip "this nginx has no HTTP/2"
chmod 755 "$tmp"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
at="http://127.0.0.1:$port"
mkdir "$tmp/nginx" "$tmp/files"
head -c 300000 /dev/zero >"$tmp/files/large"
cat >"$tmp/nginx.conf" <<END
daemon off;
pid $tmp/nginx.pid;
error_log $tmp/nginx.log;
events { }
http {
	log_format asked '\$request_method \$uri \$connection';
	access_log $tmp/access asked;
	client_body_temp_path $tmp/nginx; proxy_temp_path $tmp/nginx; fastcgi_temp_path $tmp/nginx;
	uwsgi_temp_path $tmp/nginx; scgi_temp_path $tmp/nginx;
	server {
		listen 127.0.0.1:$port http2; sendfile on;
		location / { return 200 "ok"; }
		location /files/ { alias $tmp/files/; }
	}
}
END
nginx -c "$tmp/nginx.conf" 2>"$tmp/nginx.err" &
started="$started $!"
load() { h2load "$@" >"$tmp/told" 2>&1 && grep -q ' 0 failed, 0 errored' "$tmp/told"; }
wait_for_server nginx 20 "$tmp/nginx.err" load -n 1 "$at/"
: >"$tmp/access"
ask() {
	load -c "$1" -m "$2" -n "$3" -H 'x-own: headerzzsecret' -H 'authorization: Bearer passzzsecret' -H "cookie: keyzzsecret" "$at$4" ||
		fail "h2load: $(cat "$tmp/told")"
}

begin_recording "$tmp/trace" -F 0
for _ in 1 2 3; do
	ask 2 1 100 "/users/1017/orders?token=queryzzsecret"
	ask 2 1 60 /cart
	ask 1 1 20 /static/app.js
done
ask 2 1 50 '/'
ask 1 1 9 /reset/correcthorse
ask 1 16 400 /cart/items
ask 3 100 900 /many/at-once
ask 3 10 60 /files/large
end_recording

requests_at "$tmp/trace" "tcp :$port"
logged() { grep -c "^GET $1 " "$tmp/access"; }
routed() { requests_of request ", route $1,"; }
# expect_route LOGGED ROUTE
expect_route() {
	expect "requests of $2, of the routes
$(sed -n 's/.*, \(route [^,]*\),.*/\1/p' "$tmp/requests" | sort | uniq -c | head -n 30)
" "$1" "$(routed "$2")"
}
expect_route "$(logged '/users/1017/orders')" 'GET /users/[*]/orders'
expect_route "$(logged /cart)" 'GET /cart'
expect_route "$(logged /static/app.js)" 'GET /static/app.js'
expect_route "$(logged /)" 'GET /'
# Words of one connection alone: they may be its own.
expect_route "$(logged /reset/correcthorse)" 'GET /[*]/[*]'
# Streams that overlap; of one connection, so that the second word may be its own.
expect_route "$(logged /cart/items)" 'GET /cart/[*]'
expect_route "$(logged /many/at-once)" 'GET /many/at-once'
expect_route "$(logged /files/large)" 'GET /files/large'
has_no_secrets() {
	! grep -aqE 'zzsecret|correcthorse' "$tmp/trace" ||
		fail "the trace has $(grep -aoE '[a-z]*zzsecret|correcthorse' "$tmp/trace" | head -n 1)"
}
has_no_secrets

# Connections that are older than the recording: their streams overlap, and have their paths as long as they write them out.
h2load -D 12 -c 2 -m 10 --rps 40 "$at/cart/items" >"$tmp/told" 2>&1 &
asks=$!
started="$started $asks"
wait_for "h2load asks" 20 grep -q items "$tmp/access"
begin_recording "$tmp/trace" -F 0
from=$(logged /cart/items)
sleep 3
to=$(logged /cart/items)
end_recording
kill "$asks"
requests_at "$tmp/trace" "tcp :$port"
streams=$(requests_of request "stream, .*route GET /cart/items,")
tail -n 5 "$tmp/requests" >"$tmp/some"
echo "note: $streams streams of older connections in the time of $((to - from)), of $(requests_of request) requests"
expect_at_least "streams of older connections" $(((to - from) * 9 / 10)) "$streams" "$tmp/some"
expect_at_most "requests of older connections that are no streams" 4 $(($(requests_of request) - streams)) "$tmp/some"

# A server that reads what a connection begins with in two parts.
cat >"$tmp/parts.py" <<'END'
import socket, threading

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

def frame(kind, flags, stream, block):
    return len(block).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + block

def serve(server):
    for _ in range(4):
        connection = server.accept()[0]
        connection.recv(10)
        connection.recv(4096)
        connection.sendall(frame(4, 0, 0, b"") + frame(1, 5, 1, b"\x88"))
        connection.recv(4096)
        connection.sendall(frame(1, 5, 3, b"\x88"))

server = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=serve, args=(server,)).start()
asks = b"\x82\x86\x04\x0e/parts/reports"
for _ in range(4):
    client = socket.create_connection(server.getsockname())
    client.sendall(PREFACE + frame(4, 0, 0, b"") + frame(1, 5, 1, asks))
    client.recv(4096)
    client.sendall(frame(1, 5, 3, asks))
    client.recv(4096)
print(server.getsockname()[1])
END
begin_recording "$tmp/trace" -F 0
port=$(timeout 60 python3 "$tmp/parts.py") || fail "parts.py"
end_recording
requests_at "$tmp/trace" "tcp :$port"
expect_route 8 'GET /parts/reports'

# A server that reads streams in one thread while another one writes answers to others, on CPUs of their own.
cat >"$tmp/both.py" <<'END'
import queue, socket, threading

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
CONNECTIONS, STREAMS, OPEN = 4, 6000, 60

def frame(kind, flags, stream, block):
    return len(block).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + block

def headers(connection, size):
    data = b""
    while more := connection.recv(size):
        data += more
        while len(data) >= 9 and len(data) >= (n := 9 + int.from_bytes(data[:3], "big")):
            if data[3] == 1:
                yield int.from_bytes(data[5:9], "big")
            data = data[n:]

def answer(connection, asked):
    while stream := asked.get():
        connection.sendall(frame(1, 5, stream, b"\x88"))

def serve(server):
    for _ in range(CONNECTIONS):
        connection = server.accept()[0]
        connection.recv(len(PREFACE), socket.MSG_WAITALL)
        connection.sendall(frame(4, 0, 0, b""))
        asked = queue.SimpleQueue()
        writes = threading.Thread(target=answer, args=(connection, asked))
        writes.start()
        for stream in headers(connection, 40):
            asked.put(stream)
        asked.put(0)
        writes.join()
        connection.close()

def ask(connection, room):
    for i in range(STREAMS):
        room.acquire()
        connection.sendall(frame(1, 5, 2 * i + 1, b"\x82\x86\x04\x0d/both/reports"))
    connection.shutdown(socket.SHUT_WR)

server = socket.create_server(("127.0.0.1", 0))
serves = threading.Thread(target=serve, args=(server,))
serves.start()
answered = 0
for _ in range(CONNECTIONS):
    connection = socket.create_connection(server.getsockname())
    connection.sendall(PREFACE + frame(4, 0, 0, b""))
    room = threading.Semaphore(OPEN)
    asks = threading.Thread(target=ask, args=(connection, room))
    asks.start()
    for _ in headers(connection, 4096):
        answered += 1
        room.release()
    asks.join()
serves.join()
print(server.getsockname()[1], answered)
END
begin_recording "$tmp/trace" -F 0
both=$(timeout 60 python3 "$tmp/both.py") || fail "both.py"
end_recording
requests_at "$tmp/trace" "tcp :${both% *}"
expect "streams that were read while others were answered" "24000 ${both#* }" "$(requests_of request "stream,.*route GET /both/reports,") 24000"

if ! /usr/bin/python3 -c 'import grpc' 2>/dev/null; then
	echo "note: without python3-grpcio"
	exit 0
fi
sources=$(cd "$(dirname "$0")/../workload/grpc" && pwd)
mkfifo "$tmp/end"
/usr/bin/python3 "$sources/server.py" <"$tmp/end" >"$tmp/counted" 2>"$tmp/err" &
server=$!
started="$started $server"
exec 9>"$tmp/end"
wait_for "the gRPC server listens" 60 [ -s "$tmp/counted" ]
port=$(cat "$tmp/counted")
begin_recording "$tmp/trace" -F 0
timeout 60 /usr/bin/python3 "$sources/client.py" "$port" >"$tmp/took" 2>"$tmp/err" || fail "client.py: $(cat "$tmp/err")"
end_recording
exec 9>&-
wait "$server"
requests_at "$tmp/trace" "tcp :$port"
counted() { awk -v method="$1" '$2 == method { print $1 }' "$tmp/counted"; }
expect "gRPC: what the server counts" "120 120 200 9" \
	"$(counted /shop.Cart/AddItem) $(counted /shop.Cart/GetCart) $(counted /shop.Cart/Slow) $(counted /reset.Password/correcthorse)"
expect_route 120 'POST /shop.Cart/AddItem'
expect_route 120 'POST /shop.Cart/GetCart'
expect_route 200 'POST /shop.Cart/Slow'
expect_route 9 'POST /[*]/[*]'
expect_route 0 '.HTTP/2 streams*.'
has_no_secrets
# Of the calls that wait for each other the slow half took as long as for the client. Its own threads wait for CPUs, too.
sorted_took() { awk '/ route POST .shop.Cart.Slow,/ { for (i = 1; i < NF; i++) if ($i == "arrived") print $(i + 1) }' "$tmp/requests" | sort -n; }
for part in 100 150 198; do
	ours=$(sorted_took | sed -n "${part}p") theirs=$(sed -n "${part}p" "$tmp/took")
	echo "note: call $part of 200, by duration: $ours ns, the client's $theirs"
	expect_at_most "call $part by duration, ns longer than the client's" $((theirs / 20 + 1000000)) $((ours - theirs)) "$tmp/took"
	expect_at_most "call $part by duration, ns shorter than the client's" $((theirs / 10 + 5000000)) $((theirs - ours)) "$tmp/took"
done
# The protocol is said to be gRPC, and is called as others call it.
timeout 300 "$walk" -q --all --requests -f otlp "$tmp/trace" >"$tmp/otlp"
expect_exit "chainwalk -f otlp" 0 $?
for text in rpc.method shop.Cart/AddItem; do
	grep -aqF "$text" "$tmp/otlp" || fail "otlp has no $text"
done
