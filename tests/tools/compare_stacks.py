#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the user stacks of sleeping threads in a trace with eu-stack's of the same sleep.

    compare_stacks.py ask DIR PID...         while it is recorded: eu-stack and the mappings into DIR
    compare_stacks.py judge DIR CHAINWALK TRACE [NAME=PID...]
    compare_stacks.py names DIR PID...       the same by names, from DIR/PID.folded (chainwalk -U -d 0)

eu-stack stops each thread; when it lets go, the thread goes back to sleep with the same stack, and
that switch is in the trace. Frames are compared one by one, by file and offset. Prints a line for
each process: threads, whole ones, frames by eu-stack, those that the trace has at their place, and
frames of whole stacks that eu-stack does not have. By names: threads, and those whose stack is one of
the folded lines, without the name of the thread and the end.
"""
import bisect
import collections
import os
import re
import subprocess
import sys


def ask(folder, pids):
    for pid in pids:
        if not os.path.exists(f"/proc/{pid}/maps"):
            continue
        with open(f"/proc/{pid}/maps") as maps, open(f"{folder}/{pid}.maps", "w") as copy:
            copy.write(maps.read())
        with open(f"{folder}/{pid}.stacks", "w") as out:
            subprocess.run(["eu-stack", "-r", "-p", pid], stdout=out, stderr=subprocess.DEVNULL)


def read_maps(path):
    """Sorted (start, end, file offset) of code in files; what is in no file stays an address."""
    maps = []
    for line in open(path):
        f = line.split(None, 5)
        start, end = (int(x, 16) for x in f[0].split("-"))
        name = f[5].strip() if len(f) > 5 else ""
        if "x" in f[1] and name and not name.startswith("//anon"):
            maps.append((start, end, 0 if name == "[vdso]" else int(f[2], 16)))
    return sorted(maps)


def place(maps, addr):
    i = bisect.bisect(maps, (addr, 1 << 64, 0)) - 1
    if i >= 0 and addr < maps[i][1]:
        return addr - maps[i][0] + maps[i][2]
    return addr


def eu_stacks(folder, pid):
    maps, stacks, frames = read_maps(f"{folder}/{pid}.maps"), {}, None
    for line in open(f"{folder}/{pid}.stacks"):
        if m := re.match(r"TID (\d+):", line):
            frames = stacks.setdefault(int(m[1]), [])
        elif m := re.match(r"#\d+ +0x([0-9a-f]+)", line):
            frames.append(place(maps, int(m[1], 16)))
    return stacks


def trace_stacks(walk, trace, tids):
    """The user stacks of each thread's switches away from a CPU into sleep; cut or not."""
    args = [walk, "--format=events", "-v"] + [x for t in tids for x in ("-t", str(t))]
    stacks, frames = {}, None
    run = subprocess.run(args + [trace], capture_output=True, text=True, errors="replace")
    for line in run.stdout.split("\n"):
        if not line.startswith("\t"):
            m = re.match(r"\s*\d+\.\d+ \[\d+\] switch .*?/(\d+) ([A-Z]) -> ", line)
            frames = None
            if m and m[2] in "SDI":
                frames = []
                stacks.setdefault(int(m[1]), []).append(frames)
        elif frames is not None and (m := re.match(r"\t *([0-9a-f]+) ", line)):
            addr = int(m[1], 16)
            if addr < 1 << 63:
                frames.append(addr)
    return stacks


def right(theirs, ours):
    return sum(a == b for a, b in zip(theirs, ours))


def judge(folder, walk, trace, names):
    total = [0] * 5
    for name, pid in names:
        if not os.path.exists(f"{folder}/{pid}.stacks"):
            continue
        stacks = eu_stacks(folder, pid)
        ours = trace_stacks(walk, trace, stacks)
        sums = [0] * 5
        for tid, theirs in stacks.items():
            best = max(ours.get(tid, [[]]), key=lambda s: (s == theirs, right(theirs, s)))
            if not theirs or tid not in ours:
                continue
            found = right(theirs, best)
            extra = len(best) - found if best[: len(theirs)] != theirs else len(best) - len(theirs)
            for i, n in enumerate((1, best == theirs, len(theirs), found, extra)):
                sums[i] += n
            if os.environ.get("SHOW") and best != theirs:
                print(name, tid, [hex(x) for x in theirs], [hex(x) for x in best], sep="\n  ")
        total = [a + b for a, b in zip(total, sums)]
        print("compared", name, *sums)
    print("compared all", *total)


def plain(name):
    """Aliases of one function in the C library differ in underscores, and in versions."""
    return name.split("@")[0].lstrip("_")


def names(folder, pids):
    total = [0, 0]
    for pid in pids:
        theirs, ours = collections.Counter(), collections.Counter()
        for text in open(f"{folder}/{pid}.stacks").read().split("TID ")[1:]:
            found = re.findall(r"^#\d+ +0x[0-9a-f]+ *(.*)$", text, re.M)
            theirs[tuple(plain(n) for n in reversed(found))] += 1
        for line in open(f"{folder}/{pid}.folded"):
            frames = line.rsplit(" ", 1)[0].split(";")[1:-1]
            ours[tuple(plain(n) for n in frames)] += 1
        # Threads of one name with one stack are one line.
        found = sum(n for stack, n in theirs.items() if stack in ours)
        if os.environ.get("SHOW") or found != sum(theirs.values()):
            for whose, stacks in ("eu-stack", theirs), ("trace", ours):
                for stack in stacks:
                    print(whose, pid, ";".join(stack))
        total = [total[0] + sum(theirs.values()), total[1] + found]
        print("compared", pid, sum(theirs.values()), found)
    print("compared all", *total)


if __name__ == "__main__":
    if sys.argv[1] == "ask":
        ask(sys.argv[2], sys.argv[3:])
    elif sys.argv[1] == "names":
        names(sys.argv[2], sys.argv[3:])
    else:
        judge(*sys.argv[2:5], [a.split("=") for a in sys.argv[5:]])
