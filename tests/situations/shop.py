#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""shop.py PORT SECONDS: eight visitors of a shop, who ask for its ten routes, for so long, and each for so often that rare
things happen on a busy machine, too. Prints the latency of each request in ns."""
import random
import socket
import sys
import threading
import time

port, seconds = int(sys.argv[1]), float(sys.argv[2])
routes = [(27, "GET /health"), (20, "GET /static/app.%d.js"), (15, "GET /users/%d"), (12, "GET /cart?session=%d"),
          (11, "POST /cart/items?n=%d"), (2, "GET /search?q=%d"), (2, "GET /report/%d"), (3, "POST /login?%d"),
          (10, "GET /orders/%d"), (20, "GET /price?of=%d")]
took = []


def visit(seed):
    chance = random.Random(seed)
    with socket.create_connection(("127.0.0.1", port)) as s:
        end = time.monotonic() + seconds
        asked = 0
        while time.monotonic() < end or asked < 1000:
            asked += 1
            path = chance.choices(routes, [r[0] for r in routes])[0][1]
            path = path % chance.randrange(100, 10**6) if "%" in path else path
            begun = time.perf_counter_ns()
            s.sendall(("%s HTTP/1.1\r\nHost: shop\r\nContent-Length: 0\r\n\r\n" % path).encode())
            got = b""
            while not got.endswith(b"\r\n\r\nok"):
                got += s.recv(4096)
            took.append(time.perf_counter_ns() - begun)
            time.sleep(chance.expovariate(300))


threads = [threading.Thread(target=visit, args=(i,)) for i in range(8)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(*took, sep="\n")
