# SPDX-License-Identifier: GPL-2.0-or-later
"""Threads that say themselves where they are.

paths.py [SEED]: six threads call functions a to h in an order that each draws at random, some of them through
C; a thread's name is "P:" and the functions that it is about to be in when it sleeps. Between two such paths its
name is "between". With an argument the same draws come. For paths_judge.py:

letters: __init__ E, inner G, yields H, nap n, step s
shape: (s([abcdf]|e(E|$)|g(G|$)|h(H|$)|$))*s?n?
outermost: loop
"""
import ctypes
import functools
import random
import sys
import threading
import time

libc = ctypes.CDLL(None)
NAME = 15  # PR_SET_NAME


def nap():
    time.sleep(random.random() * 0.004)


def step(path, at):
    if at == len(path):
        nap()
    else:
        FUNCTIONS[path[at]](path, at + 1)


def a(path, at):
    step(path, at)


def b(path, at):
    sorted([0], key=lambda _: step(path, at))


def c(path, at):
    list(map(functools.partial(step, path), [at]))


def d(path, at):
    return [x for x in (step(path, j) for j in [at])]


class Maker:
    def __init__(self, path, at):
        step(path, at)


def e(path, at):
    Maker(path, at)


@functools.lru_cache(maxsize=1)
def f(path, at):
    step(path, at)


def g(path, at):
    # Its code object is freed right away, and the next one takes its place.
    there = {"step": step}
    exec("def inner(path, at):\n" + "\n" * (at % 5) + "    step(path, at)\n", there)
    there["inner"](path, at)


def yields(path, at):
    yield step(path, at)


def h(path, at):
    for _ in yields(path, at):
        pass


FUNCTIONS = {name: globals()[name] for name in "abcdefgh"}


def loop(seed):
    draw = random.Random(seed)
    while True:
        path = "".join(draw.choice("abcdefgh") for _ in range(draw.randint(1, 13)))
        f.cache_clear()
        libc.prctl(NAME, b"P:" + path.encode(), 0, 0, 0)
        step(path, 0)
        libc.prctl(NAME, b"between", 0, 0, 0)


seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
for i in range(6):
    threading.Thread(target=loop, args=(seed * 6 + i,), daemon=True).start()
time.sleep(1000)
