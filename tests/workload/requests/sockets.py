#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""sockets.py SCENARIO N [PATH]: a server and its clients, which count the answers they got.

Prints "port P" (unless unix), "client C answers" as the clients counted them and, where it is known who reads
and who answers, "reader TID" and "writer TID".
"""
import array
import os
import select
import socket
import struct
import sys
import threading
import time


def listener(path=None):
    if path:
        s = socket.socket(socket.AF_UNIX)
        s.bind(path)
    else:
        s = socket.socket()
        s.bind(("127.0.0.1", 0))
        print("port", s.getsockname()[1], flush=True)
    s.listen(64)
    return s


def connect(s):
    c = socket.socket(s.family)
    c.connect(s.getsockname())
    return c


def read_whole(c, n):
    got = b""
    while len(got) < n:
        more = c.recv(n - len(got))
        if not more:
            return got
        got += more
    return got


def echo(c, answer=lambda c, data: c.sendall(data)):
    """Serves a connection: messages of 8 bytes."""
    while True:
        data = read_whole(c, 8)
        if len(data) < 8:
            break
        answer(c, data)
    c.close()


def ask(c, n):
    """Asks n times. Returns how often it was answered."""
    answers = 0
    for i in range(n):
        c.sendall(struct.pack("<Q", i))
        answers += read_whole(c, 8) == struct.pack("<Q", i)
    return answers


def in_thread(f, *args):
    t = threading.Thread(target=f, args=args)
    t.start()
    return t


def told(answers):
    print("client", answers, "answers", flush=True)


def keepalive(n, path=None):
    """Two connections at once."""
    s = listener(path)
    serving = in_thread(lambda: [in_thread(echo, s.accept()[0]) for _ in range(2)])
    answers = [0, 0]

    def client(k):
        c = connect(s)
        answers[k] = ask(c, n // 2)
        c.close()

    for t in [in_thread(client, k) for k in range(2)]:
        t.join()
    serving.join()
    told(sum(answers))


def reconnect(n, path=None):
    """A connection for each request."""
    s = listener(path)
    in_thread(lambda: [echo(s.accept()[0]) for _ in range(n)])
    answers = 0
    for _ in range(n):
        c = connect(s)
        answers += ask(c, 1)
        c.close()
    told(answers)


def udp(n):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    # A port of its own choice: one that the kernel chose is a client's.
    s.bind(("127.0.0.1", 0))
    port = s.getsockname()[1]
    s.close()
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", port))
    print("port", port, flush=True)

    def serve():
        for _ in range(n):
            data, who = s.recvfrom(64)
            s.sendto(data, who)

    serving = in_thread(serve)
    answers = 0
    for i in range(n):
        # A socket for each client.
        c = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        c.sendto(struct.pack("<Q", i), ("127.0.0.1", port))
        answers += c.recvfrom(64)[0] == struct.pack("<Q", i)
        c.close()
    serving.join()
    told(answers)


def fork(n):
    """The parent accepts, a child serves."""
    s = listener()
    client = os.fork()
    if not client:
        c = connect(s)
        told(ask(c, n))
        c.close()
        os._exit(0)
    c, _ = s.accept()
    child = os.fork()
    if not child:
        print(f"reader {os.getpid()}\n", end="", flush=True)
        echo(c)
        os._exit(0)
    c.close()
    os.waitpid(client, 0)
    os.waitpid(child, 0)


def passed(n):
    """The parent accepts, and passes the connection to another process (SCM_RIGHTS)."""
    s = listener()
    here, there = socket.socketpair()
    child = os.fork()
    if not child:
        here.close()
        print(f"reader {os.getpid()}\n", end="", flush=True)
        _, rights, _, _ = there.recvmsg(1, socket.CMSG_LEN(4))
        echo(socket.socket(fileno=struct.unpack("<i", rights[0][2][:4])[0]))
        os._exit(0)

    def serve():
        c, _ = s.accept()
        here.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [c.fileno()]))])
        c.close()

    serving = in_thread(serve)
    c = connect(s)
    told(ask(c, n))
    c.close()
    serving.join()
    os.waitpid(child, 0)


def handover(n):
    """One thread reads, another one answers."""
    s = listener()
    work = []
    there_is = threading.Semaphore(0)

    def answer():
        print(f"writer {threading.get_native_id()}\n", end="", flush=True)
        while True:
            there_is.acquire()
            c, data = work.pop(0)
            if not c:
                break
            c.sendall(data)

    def hand_over(c, data):
        work.append((c, data))
        there_is.release()

    def serve():
        print(f"reader {threading.get_native_id()}\n", end="", flush=True)
        echo(s.accept()[0], hand_over)
        hand_over(None, None)

    threads = [in_thread(answer), in_thread(serve)]
    c = connect(s)
    told(ask(c, n))
    c.close()
    for t in threads:
        t.join()


def pipelined(n):
    """The second request of each pair is there before the first one is answered."""
    s = listener()
    both = threading.Semaphore(0)

    def serve():
        c, _ = s.accept()
        for _ in range(n // 2):
            both.acquire()
            for _ in range(2):
                c.sendall(read_whole(c, 8))
        c.close()

    serving = in_thread(serve)
    c = connect(s)
    c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    answers = 0
    for i in range(0, n, 2):
        c.sendall(struct.pack("<Q", i))
        c.sendall(struct.pack("<Q", i + 1))
        both.release()
        answers += len(read_whole(c, 16)) // 8
    told(answers)
    serving.join()


def several(n):
    """Each answer has three writes, the last one 5 ms after the first one."""
    s = listener()

    def answer(c, data):
        c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        c.sendall(data[:2])
        c.sendall(data[2:4])
        time.sleep(0.005)
        c.sendall(data[4:])

    serving = in_thread(lambda: echo(s.accept()[0], answer))
    c = connect(s)
    told(ask(c, n))
    c.close()
    serving.join()


def slow(n):
    """Each answer takes 5 ms."""
    s = listener()

    def answer(c, data):
        time.sleep(0.005)
        c.sendall(data)

    serving = in_thread(lambda: echo(s.accept()[0], answer))
    c = connect(s)
    told(ask(c, n))
    c.close()
    serving.join()


def oneway(n, path=None):
    """Clients only send, one on each of n connections."""
    s = listener(path)

    def serve():
        for _ in range(n):
            c, _ = s.accept()
            while c.recv(65536):
                pass
            c.close()

    serving = in_thread(serve)
    for _ in range(n):
        c = connect(s)
        for _ in range(20):
            c.sendall(b"x" * 4096)
        c.close()
    serving.join()
    told(0)


def push(n, path=None):
    """The server speaks first, and nobody asks."""
    s = listener(path)

    def serve():
        for _ in range(n):
            c, _ = s.accept()
            c.sendall(b"welcome!")
            c.close()

    serving = in_thread(serve)
    for _ in range(n):
        c = connect(s)
        read_whole(c, 8)
        c.close()
    serving.join()
    told(0)


def old(n, path=None):
    """One connection, which is there before SIGUSR1 begins the requests; the last one is never answered."""
    import signal

    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    s = listener(path)
    left = [n]

    def answer(c, data):
        if left[0]:
            c.sendall(data)
        left[0] -= 1

    serving = in_thread(lambda: echo(s.accept()[0], answer))
    c = connect(s)
    answers = ask(c, 1)
    print("ready", flush=True)
    signal.sigwait([signal.SIGUSR1])
    answers += ask(c, n - 1)
    c.sendall(b"no reply")
    # It was read.
    while left[0] >= 0:
        time.sleep(0.01)
    told(answers - 1)
    select.select([], [], [], 60)


def asked(n):
    """What standard input asks for, line by line: "quick" requests, n on one connection; a "slow" one, which takes
    a second, on a connection of its own; or one whose answer is "late": it ends a second after its first bytes."""
    s = listener()

    def answer(c, data):
        kind = struct.unpack("<Q", data)[0]
        c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if kind == 1001:
            time.sleep(1)
        if kind == 1002:
            c.sendall(data[:4])
            time.sleep(1)
            data = data[4:]
        c.sendall(data)

    def serve():
        while True:
            in_thread(echo, s.accept()[0], answer)

    threading.Thread(target=serve, daemon=True).start()
    old = connect(s)
    for line in sys.stdin:
        what = line.strip()
        c = connect(s)
        if what == "quick":
            ask(old, n)
        else:
            c.sendall(struct.pack("<Q", {"slow": 1001, "late": 1002}[what]))
            read_whole(c, 8)
        # The last write of an answer is known when the next request is read.
        if what == "late":
            ask(c, 1)
        c.close()
        print(what, flush=True)
    old.close()


if __name__ == "__main__":
    globals()[sys.argv[1]](int(sys.argv[2]), *sys.argv[3:])
