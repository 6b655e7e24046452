# SPDX-License-Identifier: GPL-2.0-or-later
# Two threads hand a byte to and fro through pipes, in functions that call themselves so deep: pingpong.py DEPTH ROUNDS
import os
import sys
import threading

depth, rounds = int(sys.argv[1]), int(sys.argv[2])
there, back = os.pipe(), os.pipe()


def descend(levels, then):
    if levels:
        return descend(levels - 1, then)
    return then()


def ping():
    for _ in range(rounds):
        os.write(there[1], b"x")
        os.read(back[0], 1)


def pong():
    for _ in range(rounds):
        os.read(there[0], 1)
        os.write(back[1], b"x")


other = threading.Thread(target=descend, args=(depth, pong))
other.start()
descend(depth, ping)
other.join()
