#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Web servers in Python, Node, Go, Java and PHP (nginx and php-fpm, both of them), and memcached: each route has as many requests as
# the server itself counts, and the 99th percentile of a slow one is the client's within 5 %. What is one person's in
# these requests is in no trace.
. "$(dirname "$0")/lib.sh"
only_all "it starts seven servers"
needs_bpf
command -v python3 >/dev/null || skip "no python3"
chmod 755 "$tmp"
sources=$(cd "$(dirname "$0")/../workload/routes" && pwd)
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
listens() { python3 -c "import socket; socket.create_connection(('127.0.0.1', $port))" 2>/dev/null; }
ran=

# try_server NAME COMMAND...
try_server() {
	what=$1
	shift
	for try in 1 2 3; do
		"$@" "$port" >"$tmp/counted" 2>"$tmp/$what.log" &
		server=$!
		started="$started $server"
		wait_for "$what listens" 40 listens
		begin_recording "$tmp/trace" -F 0
		python3 "$sources/ask.py" "$port" 2 >"$tmp/asked" 2>"$tmp/err" || fail "$what: $(cat "$tmp/err")"
		end_recording
		kill "$server"
		wait "$server"
		! judge_routes "$what" "tcp :$port" || break
	done
	ran="$ran $what"
}

# try_php: the routes of nginx, and of php-fpm behind it.
try_php() {
	mkdir -p "$tmp/nginx" "$tmp/php"
	cat >"$tmp/fpm.conf" <<-END
		[global]
		error_log = $tmp/fpm.log
		daemonize = no
		[w]
		user = root
		group = root
		listen = $tmp/fpm.sock
		listen.mode = 0666
		pm = static
		pm.max_children = 4
	END
	cat >"$tmp/nginx.conf" <<-END
		user root;
		daemon off; worker_processes 1; pid $tmp/nginx.pid; error_log $tmp/nginx.log;
		events { }
		http {
			access_log off;
			client_body_temp_path $tmp/nginx; proxy_temp_path $tmp/nginx; fastcgi_temp_path $tmp/nginx;
			uwsgi_temp_path $tmp/nginx; scgi_temp_path $tmp/nginx;
			server {
				listen 127.0.0.1:$port;
				location / {
					include /etc/nginx/$1;
					fastcgi_param SCRIPT_FILENAME $sources/server.php;
					fastcgi_param COUNTED $tmp/php/counted;
					fastcgi_pass unix:$tmp/fpm.sock;
				}
			}
		}
	END
	"$fpm" -R -y "$tmp/fpm.conf" >"$tmp/fpm.out" 2>&1 &
	php=$!
	nginx -c "$tmp/nginx.conf" 2>"$tmp/nginx.err" &
	web=$!
	started="$started $php $web"
	wait_for "nginx listens" 20 listens
	wait_for "php-fpm listens" 20 [ -S "$tmp/fpm.sock" ]
	for try in 1 2 3; do
		: >"$tmp/php/counted"
		begin_recording "$tmp/trace" -F 0
		python3 "$sources/ask.py" "$port" 2 >"$tmp/asked" 2>"$tmp/err" || fail "php: $(cat "$tmp/err" "$tmp/nginx.log")"
		end_recording
		sort "$tmp/php/counted" | uniq -c | sed 's/^ *//' >"$tmp/counted"
		! { judge_routes "nginx with $1" "tcp :$port" && judge_routes "php-fpm with $1" "unix $tmp/fpm.sock"; } || break
	done
	kill "$web" "$php"
	wait "$web" "$php"
	ran="$ran php-fpm"
}

try_server Python python3 "$sources/server.py"
! command -v node >/dev/null || try_server Node node "$sources/server.js"
if command -v go >/dev/null; then
	GOCACHE=$tmp/go go build -o "$tmp/server_go" "$sources/server.go" 2>"$tmp/err" || fail "go: $(cat "$tmp/err")"
	try_server Go "$tmp/server_go"
fi
if command -v javac >/dev/null && command -v java >/dev/null; then
	javac -d "$tmp/java" "$sources/Server.java" 2>"$tmp/err" || fail "javac: $(cat "$tmp/err")"
	try_server Java java -Dsun.net.httpserver.nodelay=true -cp "$tmp/java" Server
fi
fpm=$(find /usr/sbin -name 'php-fpm*' 2>/dev/null | sort -V | tail -n 1)
if [ "$fpm" ] && command -v nginx >/dev/null; then
	for parameters in fastcgi_params fastcgi.conf; do
		[ ! -e "/etc/nginx/$parameters" ] || try_php $parameters
	done
fi
if command -v memcached >/dev/null; then
	memcached -u nobody -l 127.0.0.1 -p "$port" >"$tmp/memcached.log" 2>&1 &
	started="$started $!"
	wait_for "memcached listens" 20 listens
	begin_recording "$tmp/trace" -F 0
	python3 - "$port" >"$tmp/told" 2>"$tmp/err" <<-END || fail "memcached: $(cat "$tmp/err")"
		import socket, sys
		for connection in range(3):
		    with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as s:
		        def ask(text, end):
		            s.sendall(text)
		            got = b""
		            while not got.endswith(end):
		                got += s.recv(65536)
		        for i in range(40):
		            ask(b"set keyzzsecret%d 0 0 13\r\nvaluezzsecret\r\n" % i, b"STORED\r\n")
		            ask(b"get keyzzsecret%d\r\n" % i, b"END\r\n")
		            ask(b"touch keyzzsecret%d 100\r\n" % i, b"TOUCHED\r\n")
		            ask(b"delete keyzzsecret%d\r\n" % i, b"DELETED\r\n")
		        s.sendall(b"stats\r\n")
		        got = b""
		        while not got.endswith(b"END\r\n"):
		            got += s.recv(65536)
		        if connection == 2:
		            sys.stdout.buffer.write(got.replace(b"\r", b""))
	END
	end_recording
	requests_at "$tmp/trace" "tcp :$port"
	expect "memcached: what it did" "120 120 120 120" \
		"$(awk '{ n[$2] = $3 } END { print n["cmd_set"], n["cmd_get"], n["cmd_touch"], n["delete_hits"] }' "$tmp/told")"
	# Of a protocol without sure signs the first seven requests are not believed.
	expect "memcached: requests without a route" 7 "$(grep -vc ', route ' "$tmp/requests")"
	for command in set get touch delete; do
		expect_at_least "memcached: $command" 118 "$(requests_of request ", route $command,")"
		expect_at_most "memcached: $command" 120 "$(requests_of request ", route $command,")"
	done
	! grep -aq zzsecret "$tmp/trace" || fail "memcached: the trace has a key or a value"
	ran="$ran memcached"
fi
echo "note: of$ran"
