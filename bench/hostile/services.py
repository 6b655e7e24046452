# SPDX-License-Identifier: GPL-2.0-or-later
"""services.py udp|tcp|redis|perl LOG [PORT]: a service, and a client of it that writes when it asked and had the answer:
"BEGIN END", in ns since 1970. Those of redis and Perl are at PORT; it prints the port."""
import os
import socket
import sys
import time


def serve_udp(s):
    while True:
        data, client = s.recvfrom(100)
        if data:
            s.sendto(data, client)


def serve_tcp(s):
    s.listen(8)
    client, _ = s.accept()
    while True:
        data = client.recv(100)
        if not data:
            return
        client.sendall(data)


what, log, port = sys.argv[1], open(sys.argv[2], "w", buffering=1), int((sys.argv[3:] or [0])[0])
kind = socket.SOCK_DGRAM if what == "udp" else socket.SOCK_STREAM
if not port:
    s = socket.socket(socket.AF_INET, kind)
    # Who lets the kernel choose a port serves nobody, with datagrams.
    s.bind(("127.0.0.1", 20000 + os.getpid() % 10000 if what == "udp" else 0))
    port = s.getsockname()[1]
    if not os.fork():
        (serve_udp if what == "udp" else serve_tcp)(s)
        sys.exit()
    time.sleep(0.5)
print(port, flush=True)


def connect():
    c = socket.socket(socket.AF_INET, kind)
    c.connect(("127.0.0.1", port))
    c.settimeout(10)
    return c


c = connect()
question = {"redis": b"PING\r\n", "perl": b"question\n"}.get(what, b"question")
while True:
    if what == "perl":
        c = connect()
    begin = time.time_ns()
    try:
        c.send(question)
        c.recv(100)
    except socket.timeout:
        continue
    log.write("%d %d\n" % (begin, time.time_ns()))
    time.sleep(0.02)
