#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What threads wait for is known by a hash in the kernel, which nobody can aim at: of two servers at unix sockets one has
# an address that differs from the other's where two words undid each other in an older hash. Their requests are two
# endpoints', each with its own.
# Beside another: it counts requests of its own servers.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v python3 >/dev/null || skip "no python3"
cat >"$tmp/both.py" <<'END'
import os, socket, threading
# The kernel hashes words of 8 bytes: the topmost bit of the second, and bits 63 and 34 of the third are others.
own = bytearray(b"\0" + b"endpoint-of-somebody-else.")
other = bytearray(own)
other[15] ^= 0x80
other[23] ^= 0x80
other[20] ^= 0x04
def serve(address, ready):
    s = socket.socket(socket.AF_UNIX)
    s.bind(bytes(address))
    s.listen()
    os.write(ready, b"x")
    c = s.accept()[0]
    while (data := c.recv(64)):
        c.send(data)
    os._exit(0)
for address, requests in (own, 20), (other, 30):
    there, ready = os.pipe()
    server = os.fork()
    if not server:
        serve(address, ready)
    os.read(there, 1)
    c = socket.socket(socket.AF_UNIX)
    c.connect(bytes(address))
    for _ in range(requests):
        c.send(b"?")
        c.recv(64)
    c.close()
    os.waitpid(server, 0)
END
timeout 300 "$cap" -F 0 -o "$tmp/trace" -- python3 "$tmp/both.py" >"$tmp/out" 2>"$tmp/err"
expect_exit "chaincap -- two servers" 0 $?
expect_whole "$tmp/trace"
timeout 300 "$walk" -q -f requests --json "$tmp/trace" >"$tmp/requests" 2>"$tmp/err"
expect_exit "chainwalk -f requests --json" 0 $?
counts=$(python3 -c '
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
print(*sorted(r["requests"] for r in rows if r["table"] == "endpoints" and "endpoint-of" in r["endpoint"]))' "$tmp/requests" 2>&1)
# The first one of each connection is counted apart.
expect "requests of each endpoint" "1 1 19 29" "$counts"
