#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What is kept with sockets counts as --memory: somebody's many sockets take no more than a quarter of it, and that they
# are left out is said at the end and in the trace. When they are closed, those of others have room again.
. "$(dirname "$0")/lib.sh"
only_all "one of the attackers"
needs_usual "requests at sockets"
command -v python3 >/dev/null || skip "no python3"
allowed=$(awk '/^Max open files/ { print $5 }' /proc/self/limits)
[ "$allowed" -gt 15100 ] || skip "too few open files are allowed: $allowed"

# 30 thousand in two processes: 64 MiB have room for 21 thousand.
cat >"$tmp/many.py" <<'END'
import resource
import socket
import sys
import time
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
mine = []
for port in range(20000, 35000):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.98.0." + sys.argv[1], port))
    s.sendto(b"x", s.getsockname())
    s.recv(1)
    mine.append(s)
print("ready", flush=True)
time.sleep(600)
END
cat >"$tmp/server.py" <<'END'
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.98.0.9", 35001))
c = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
c.settimeout(5)
for i in range(5):
    c.sendto(b"request", s.getsockname())
    data, at = s.recvfrom(100)
    s.sendto(data, at)
    c.recv(100)
END
begin_recording "$tmp/trace" --memory=64M -F 0 -K
python3 "$tmp/many.py" 1 >"$tmp/ready1" &
many=$!
python3 "$tmp/many.py" 2 >"$tmp/ready2" &
many="$many $!"
started="$started $many"
has_both() { grep -q ready "$tmp/ready1" && grep -q ready "$tmp/ready2"; }
wait_for "thirty thousand sockets" 30 has_both
sleep 3
python3 "$tmp/server.py" || fail "the server, beside the others"
# shellcheck disable=SC2086 # two
kill $many
# shellcheck disable=SC2086
wait $many 2>/dev/null
sleep 3 # they are counted every two seconds
python3 "$tmp/server.py" || fail "the server, when the others are gone"
end_recording
requests_at "$tmp/trace" "udp :35001"
left_out=$(info_figure sockets_left_out)
echo "note: $(requests_of request) requests of 10, ${left_out:-0} times there was no room"
expect_requests "requests when the others are gone" 5 request
expect_at_least "times a socket had no room" 5000 "${left_out:-0}" "$tmp/err.cap"
grep -q "^chaincap: $left_out times a socket's requests were not recorded" "$tmp/err.cap" ||
	fail "chaincap does not say so: $(cat "$tmp/err.cap")"
