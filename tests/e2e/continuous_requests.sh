#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Requests in traces of --every with pauses between: of connections that also have requests in the pauses, none takes
# longer than its client waited for an answer. What arrived before a pause, and was read in it, is not taken for the
# arrival of a request after it.
# Beside another: its bounds are what its own clients measure.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v python3 >/dev/null || skip "no python3"
cat >"$tmp/echo.py" <<'END_PY'
# A client of each kind, with a request each 0.23 s or so. Prints the longest time that one waited for an answer.
import os, select, socket, sys, threading, time
folder, longest = sys.argv[1], 0.0
# Reads late: in many a pause what arrived before it.
def wait(s):
    select.select([s], [], [])
    time.sleep(0.3)
def serve(s):
    while True:
        wait(s)
        data = s.recv(64)
        if not data:
            return
        s.send(data)
def serve_datagrams(s):
    while True:
        wait(s)
        data, peer = s.recvfrom(64)
        s.sendto(data, peer)
def ask(s, pause):
    global longest
    while True:
        time.sleep(pause)
        begin = time.monotonic()
        s.send(b"x" * 10)
        s.recv(64)
        longest = max(longest, time.monotonic() - begin)
def pair(family, address, pause):
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.bind(address)
    listener.listen()
    client = socket.socket(family, socket.SOCK_STREAM)
    client.connect(listener.getsockname())
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
    threading.Thread(target=ask, args=(client, pause), daemon=True).start()
for i in range(20):
    pair(socket.AF_INET, ("127.0.0.1", 0), 0.23 + 0.11 * i)
    pair(socket.AF_UNIX, "%s/socket%d" % (folder, i), 0.29 + 0.11 * i)
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(("127.0.0.1", 0))
threading.Thread(target=serve_datagrams, args=(udp,), daemon=True).start()
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
client.connect(udp.getsockname())
threading.Thread(target=ask, args=(client, 1.3), daemon=True).start()
while True:
    time.sleep(0.2)
    with open(folder + "/longest.new", "w") as f:
        f.write("%.0f\n" % (longest * 1e9))
    os.rename(folder + "/longest.new", folder + "/longest")
END_PY
python3 "$tmp/echo.py" "$tmp" &
started="$started $!"
wait_for "the clients" 60 has_bytes "$tmp/longest" 1
mkdir "$tmp/traces"
timeout 600 "$cap" -o "$tmp/traces" --every 3s --for 700ms --max-dumps 4 --names later 2>"$tmp/err"
expect_exit "chaincap --every" 0 $?
sleep 0.5
longest=$(cat "$tmp/longest")
for trace in "$tmp"/traces/*.bin; do
	# Of its own sockets: by the thread that answers.
	"$walk" -q --format=events "$trace" 2>/dev/null | grep ' request python3/' |
		sed -n 's/.*arrived \([0-9]*\) ns ago.*/\1/p' >>"$tmp/ages"
done
expect_at_least "requests in all traces" 30 "$(wc -l <"$tmp/ages")"
expect_at_most "the longest request, ns; its clients waited at most" $((longest + 50000000)) \
	"$(sort -n "$tmp/ages" | tail -n 1)"
