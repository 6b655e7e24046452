#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""disturbed.py PATH: servers that answer one request each, after something that is none has happened at their socket.

Prints "NAME ENDPOINT" of each. The sockets of "datagram" ones are UDP: SILENCE seconds before the request something
comes that nobody answers. Those of "stream" ones read no bytes while a request waits for SILENCE seconds.
"""
import ctypes
import resource
import socket
import struct
import sys
import threading
import time

SILENCE = 0.4
CROWD = 6000
THREADS = 12
NO_SUCH_BUFFER = 8
MSG_ERRQUEUE = 0x2000
IP_RECVERR = 11
libc = ctypes.CDLL(None, use_errno=True)


def serve(s):
    """Answers the first datagram that asks something."""
    while True:
        data, client = s.recvfrom(200)
        if data == b"request":
            s.sendto(data, client)
            return


def ask(port):
    c = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    c.sendto(b"request", ("127.0.0.1", port))
    c.settimeout(5)
    c.recv(20)


def send(port, data):
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(data, ("127.0.0.1", port))


def server(name):
    free = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
    free.close()
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", port))  # a server is who asks for a port
    print(name, "udp", ":%d" % port, flush=True)
    return s


def datagram(name, before):
    s = server(name)
    port = s.getsockname()[1]
    serving = threading.Thread(target=before, args=(s, port))
    serving.start()
    time.sleep(0.1)
    if before in DISTURB:
        DISTURB[before](port)
    time.sleep(SILENCE)
    ask(port)
    serving.join()


def just_serve(s, _port):
    serve(s)


def nothing(s, _port):
    serve(s)


def damaged_ones(s, _port):
    serve(s)


def no_room(s, _port):
    """It reads the datagram into no buffer at all."""
    libc.recv(s.fileno(), None, 0, 0)
    serve(s)


def bad_buffer(s, _port):
    assert libc.recv(s.fileno(), ctypes.c_void_p(NO_SUCH_BUFFER), 100, 0) == -1
    serve(s)


def peeking(s, _port):
    """It looks at the other one before it reads it."""
    s.recv(1, socket.MSG_PEEK)
    s.recv(100)
    s.recv(1, socket.MSG_PEEK)
    serve(s)


def errors(s, _port):
    """What it reads is an error of what it has sent itself; then it says something of its own accord."""
    s.setsockopt(socket.IPPROTO_IP, IP_RECVERR, 1)
    dead = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    dead.bind(("127.0.0.1", 0))
    at = dead.getsockname()
    dead.close()
    s.sendto(b"hello", at)
    time.sleep(0.05)
    s.recvmsg(100, 500, MSG_ERRQUEUE)
    s.sendto(b"own accord", at)
    time.sleep(0.05)
    s.recvmsg(100, 500, MSG_ERRQUEUE)
    serve(s)


def crowd(s, _port):
    """While it has a request, datagrams are read at thousands of sockets of others, who never answer."""
    data, client = s.recvfrom(200)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    others = []
    for port in range(20000, 20000 + CROWD):
        o = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        o.bind(("127.99.0.1", port))
        o.sendto(b"something", o.getsockname())
        o.recv(100)
        others.append(o)
    s.sendto(data, client)


def many_threads(name):
    """Each of many threads has read a request when the first one answers."""
    s = server(name)
    client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    have_read = threading.Barrier(THREADS)

    def serve_one():
        data, at = s.recvfrom(200)
        have_read.wait()
        s.sendto(data, at)

    threads = [threading.Thread(target=serve_one) for _ in range(THREADS)]
    for t in threads:
        t.start()
        client.sendto(b"request", s.getsockname())
    for t in threads:
        t.join()


def damaged(port):
    """A datagram whose checksum is wrong; it is long enough that this is found when it is read."""
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP)
    raw.sendto(struct.pack("!HHHH", 1, port, 208, 1) + b"x" * 200, ("127.0.0.1", 0))


DISTURB = {
    nothing: lambda port: send(port, b""),
    damaged_ones: damaged,
    no_room: lambda port: send(port, b"something"),
    bad_buffer: lambda port: send(port, b"something"),
    peeking: lambda port: send(port, b"something"),
    errors: lambda port: send(port, b"something"),
}


def stream(name, path=None, half_closed=False):
    """While the request waits, the server reads no bytes of it, and again before it answers."""
    s = socket.socket(socket.AF_UNIX if path else socket.AF_INET)
    s.bind(path or ("127.0.0.1", 0))
    s.listen(1)
    print(name, "unix" if path else "tcp", path or ":%d" % s.getsockname()[1], flush=True)
    c = socket.socket(s.family)
    c.connect(s.getsockname())
    a = s.accept()[0]
    c.sendall(b"request")
    time.sleep(SILENCE / 2)
    libc.recv(a.fileno(), None, 0, 0)
    time.sleep(SILENCE / 2)
    a.recv(100)
    if half_closed:
        c.shutdown(socket.SHUT_WR)
        a.recv(100)
    else:
        c.sendall(b"more")
        libc.recv(a.fileno(), None, 0, 0)
    a.sendall(b"answer")
    c.recv(100)


datagram("undisturbed", just_serve)
datagram("empty", nothing)
datagram("damaged", damaged_ones)
datagram("no_room", no_room)
datagram("bad_buffer", bad_buffer)
datagram("peeking", peeking)
datagram("errors", errors)
datagram("crowd", crowd)
many_threads("threads")
stream("tcp_stream")
stream("unix_stream", sys.argv[1])
stream("half_closed", sys.argv[1] + ".half", True)
