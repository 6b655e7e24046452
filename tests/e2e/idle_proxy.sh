#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --no-idle reads the outcome: a real proxy (nginx) that waits in epoll for its upstream is not idle, and is
# idle while it waits there for the next request.
# Beside another: it judges its own server's waits.
. "$(dirname "$0")/lib.sh"
needs_bpf
for program in nginx curl python3; do
	command -v $program >/dev/null || skip "$program is not installed"
done
chmod 755 "$tmp"
cat >"$tmp/upstream.py" <<'END'
import os, socket, sys, time
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o777)
s.listen(8)
while True:
	c, _ = s.accept()
	c.recv(65536)
	time.sleep(0.03)
	c.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
	c.close()
END
cat >"$tmp/conf" <<END
daemon off; pid $tmp/pid; worker_processes 1; error_log $tmp/error;
events { worker_connections 100; }
http { access_log off; server { listen unix:$tmp/socket; location / { proxy_pass http://unix:$tmp/upstream:/; } } }
END
python3 "$tmp/upstream.py" "$tmp/upstream" &
started="$started $!"
nginx -c "$tmp/conf" >"$tmp/log" 2>&1 &
nginx=$!
started="$started $nginx"
for _ in $(seq 100); do
	[ -S "$tmp/socket" ] && [ -S "$tmp/upstream" ] && break
	sleep 0.05
done
# shellcheck disable=SC2016 # for the inner shell
timeout 300 "$cap" -o "$tmp/trace" -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do
	[ "$(curl -s --unix-socket "$1" http://localhost/)" = ok ] || exit 1
	sleep 0.05
done' sh "$tmp/socket" 2>"$tmp/err"
expect_exit "ten requests to nginx" 0 $?
worker=$(pgrep -P "$nginx")

walk_to "$tmp/all" -p "$worker" --ended --depth 1 "$tmp/trace"
walk_to "$tmp/busy" -p "$worker" --ended --depth 1 --no-idle "$tmp/trace"
answers=$(grep 'do_epoll_wait;.*;python3;\[' "$tmp/busy" | weight_of . -)
expect_at_least "nginx waits for its upstream, ns" 250000000 "$answers" "$tmp/busy"
requests=$(grep 'do_epoll_wait;.*;curl;\[' "$tmp/all" | weight_of . -)
expect_at_least "nginx waits for requests, ns" 400000000 "$requests" "$tmp/all"
expect_at_most "of them with --no-idle, ns" $((requests / 20)) \
	"$(grep 'do_epoll_wait;.*;curl;\[' "$tmp/busy" | weight_of . -)" "$tmp/busy"

# The client pauses between requests: that is no cause of nginx's, which has no work then.
timeout 300 "$walk" -q -f causes --json -p "$worker" "$tmp/trace" >"$tmp/causes" 2>"$tmp/err"
expect_exit "chainwalk -f causes" 0 $?
expect "causes by which the client's pauses make nginx wait" "" "$(grep '"pause":false' "$tmp/causes" | grep '"name":"sleep"')"
idle=$(grep '"pause":true' "$tmp/causes" | sed 's/.*"function":[^,]*,"ns":\([0-9]*\),.*/\1/' |
	awk '{ sum += $1 } END { printf "%.0f\n", sum }')
expect_at_least "nginx has no work, ns" 400000000 "$idle" "$tmp/causes"
