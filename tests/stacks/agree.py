# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares stacks with those that a runtime's own map has named: agree.py FOLDED OTHER.

Both are what `chainwalk -U -d 0 --no-ends` says of the same time of a program of this folder; in OTHER methods of a JVM
are as its perf map has them ("int Shop.count(int)"), functions of Node.js as V8's has them ("JS:~count /shop.js:3:1").
A thread's name says where it is. Names in a stack of OTHER must stand in this order in one of FOLDED's of the same
thread, which has also what is not compiled, or was compiled into its caller; or the other way round, where one is cut.
What FOLDED has no name for, of code that was new on a busy machine, may be any one of them.
Else a line says which do not. Exit status 1 if more than one in a thousand does not: of what was compiled or freed
before the map was written the map's name may be another one's.
"""
import collections
import re
import sys

named = re.compile(r"([\w.$<>]+)(?: \(.*\))?$")
# Of classes without a package: threads sleep for a moment in the library's methods.
method = re.compile(r"[\w.$\[\]]+ ([\w$]+\.[\w$<>]+)\(")
unknown = "[interpreted code]"
function = re.compile(r"JS:[~^*+]*([\w$.<>]+) ")


def ours(frame):
    if frame == unknown:
        return unknown
    found = named.match(frame)
    return found and found[1] != "<anonymous>" and found[1]


def other(frame):
    found = method.match(frame) or function.match(frame)
    return found and found[1]


def stacks_of(path, name_of):
    stacks = collections.defaultdict(set)
    for line in open(path, encoding="utf-8", errors="replace"):
        thread, *frames = line.rsplit(" ", 1)[0].split(";")
        if thread.startswith("P:"):
            stacks[thread].add(tuple(filter(None, map(name_of, frames))))
    return stacks


def is_part(path, whole):
    at = 0
    for name in whole:
        at += at < len(path) and name in (path[at], unknown)
    return at == len(path)


def agrees(path, whole):
    """Of functions of the C++ below those of JavaScript only their absence from one of the two is no fault."""
    return is_part(path, whole) or is_part([name for name in whole if name in all_told], path)


known, told = stacks_of(sys.argv[1], ours), stacks_of(sys.argv[2], other)
all_told = {name for paths in told.values() for path in paths for name in path}
compared = names = wrong = 0
for thread in sorted(set(known) & set(told)):
    for path in filter(None, told[thread]):
        compared += 1
        names += len(path)
        if not any(agrees(path, whole) for whole in known[thread]):
            wrong += 1
            print("not agreed:", thread, " ".join(path))
print(f"stacks compared {compared} with {names} names, not agreed {wrong}")
sys.exit(1 if wrong * 1000 > compared or not compared else 0)
