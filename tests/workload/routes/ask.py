#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""ask.py PORT SECONDS: asks a web server by four connections that stay for five routes, and prints for each of them
"COUNT P99_NS ROUTE", by its own clock; and "busy PERCENT", how much of the time its four processes waited for a CPU.
An answer's last bytes are "ok". What is one person's in the requests has "zzsecret".
"""
import collections
import multiprocessing
import random
import socket
import sys
import time

port, seconds = int(sys.argv[1]), float(sys.argv[2])
routes = [
    (6, "GET /cart", "GET /cart?session=queryzzsecret%d"),
    (6, "GET /users/*/orders", "GET /users/%d/orders"),
    (3, "POST /cart/items", "POST /cart/items?n=%d"),
    (2, "GET /report/*", "GET /report/%d"),
    (1, "PUT /users/*", "PUT /users/%d"),
]


def waited_ns():
    with open("/proc/self/schedstat") as f:
        return int(f.read().split()[1])


def ask(seed):
    took = collections.defaultdict(list)
    chance = random.Random(seed)
    waited = waited_ns()
    with socket.create_connection(("127.0.0.1", port)) as s:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            _, route, form = chance.choices(routes, [r[0] for r in routes])[0]
            body = "" if route.startswith("GET") else "password=valuezzsecret"
            text = "%s HTTP/1.1\r\nHost: here\r\nCookie: headerzzsecret\r\nContent-Length: %d\r\n\r\n%s" % (
                form % chance.randrange(100, 10**6), len(body), body)
            begun = time.perf_counter_ns()
            s.sendall(text.encode())
            got = b""
            while b"\r\n\r\n" not in got or not got.endswith(b"ok"):
                more = s.recv(4096)
                if not more:
                    sys.exit("the server closed a connection")
                got += more
            took[route].append(time.perf_counter_ns() - begun)
            time.sleep(chance.random() / 200)
    return took, waited_ns() - waited


with multiprocessing.Pool(4) as pool:
    visits = pool.map(ask, range(4), 1)
for _, route, _ in routes:
    every = sorted(ns for took, _ in visits for ns in took[route])
    if every:
        print(len(every), every[(len(every) * 99 + 99) // 100 - 1], route)
print("busy", round(sum(waited for _, waited in visits) / seconds / 4e7))
