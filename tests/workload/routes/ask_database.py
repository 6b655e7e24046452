#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""ask_database.py redis|mysql|postgres ADDRESS SECONDS: asks a database by four connections that stay for two statements, of
which one takes long, and prints for each of them "COUNT P99_NS ROUTE", by its own clock; and "busy PERCENT", how much of
the time its four processes waited for a CPU. ADDRESS is a port, or the path of a socket. The users are default, root and
postgres, without passwords; the tables sbtest1 of the database sbtest, and pgbench_*.
"""
import collections
import multiprocessing
import random
import socket
import struct
import sys
import time

protocol, address, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])


def get(s, ends, got=b""):
    while not ends(got):
        more = s.recv(65536)
        if not more:
            sys.exit("the server closed a connection")
        got += more
    return got


def connect():
    if address.isdigit():
        s = socket.create_connection(("127.0.0.1", int(address)))
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return s
    s = socket.socket(socket.AF_UNIX)
    s.connect(address)
    return s


class Redis:
    routes = [(9, "SET", "SET key%d valuezzsecret"), (1, "EVAL", "EVAL for-a-while 0")]
    loop = "local n = 0; for i = 1, 300000 do n = n + i end; return 'ok'"

    def begin(self, s):
        pass

    def command(self, text):
        words = [self.loop if w == "for-a-while" else w for w in text.split()]
        return ("*%d\r\n" % len(words) + "".join("$%d\r\n%s\r\n" % (len(w), w) for w in words)).encode()

    def ends(self, got):
        return got == b"+OK\r\n" or got == b"$2\r\nok\r\n"


class MySQL:
    routes = [(9, "UPDATE sbtest1", "UPDATE sbtest1 SET c = 'valuezzsecret' WHERE id = %d"),
              (1, "SELECT sbtest1", "SELECT SLEEP(0.01) FROM sbtest1 LIMIT 1")]

    def begin(self, s):
        get(s, self.is_packet)
        text = struct.pack("<IIB23x", 0x8820d, 1 << 24, 33) + b"root\0\0sbtest\0mysql_native_password\0"
        s.sendall(struct.pack("<I", len(text) | 1 << 24) + text)
        if get(s, self.is_packet)[4] != 0:
            sys.exit("the server does not let root in")

    def command(self, text):
        return struct.pack("<IB", len(text) + 1, 3) + text.encode()

    def is_packet(self, got):
        return len(got) >= 4 and len(got) >= 4 + int.from_bytes(got[:3], "little")

    def ends(self, got):
        """OK, or a table: what ends its columns, and its rows."""
        at = ends = 0
        while self.is_packet(got[at:]):
            if not at and got[4] in (0, 255):
                return True
            n = int.from_bytes(got[at:at + 3], "little")
            ends += n < 9 and got[at + 4] == 254
            at += 4 + n
        return ends == 2


class Postgres:
    routes = [(9, "UPDATE pgbench_tellers", "UPDATE pgbench_tellers SET filler = 'valuezzsecret' WHERE tid = %d"),
              (1, "SELECT pgbench_branches", "SELECT pg_sleep(0.01) FROM pgbench_branches")]

    def begin(self, s):
        text = struct.pack(">I", 3 << 16) + b"user\0postgres\0database\0postgres\0\0"
        s.sendall(struct.pack(">I", len(text) + 4) + text)
        get(s, self.ends)

    def command(self, text):
        return b"Q" + struct.pack(">I", len(text) + 5) + text.encode() + b"\0"

    def ends(self, got):
        return got.endswith(b"Z\0\0\0\5I")


server = {"redis": Redis, "mysql": MySQL, "postgres": Postgres}[protocol]()


def waited_ns():
    with open("/proc/self/schedstat") as f:
        return int(f.read().split()[1])


def ask(seed):
    took = collections.defaultdict(list)
    chance = random.Random(seed)
    waited = waited_ns()
    with connect() as s:
        server.begin(s)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            _, route, form = chance.choices(server.routes, [r[0] for r in server.routes])[0]
            text = server.command(form % chance.randrange(1, 11) if "%" in form else form)
            begun = time.perf_counter_ns()
            s.sendall(text)
            get(s, server.ends)
            took[route].append(time.perf_counter_ns() - begun)
            time.sleep(chance.random() / 200)
    return took, waited_ns() - waited


with multiprocessing.Pool(4) as pool:
    visits = pool.map(ask, range(4), 1)
for _, route, _ in server.routes:
    every = sorted(ns for took, _ in visits for ns in took[route])
    if every:
        print(len(every), every[(len(every) * 99 + 99) // 100 - 1], route)
print("busy", round(sum(waited for _, waited in visits) / seconds / 4e7))
