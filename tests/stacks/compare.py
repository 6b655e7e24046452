#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares recorded user stacks of sleeping threads with what eu-stack finds, frame by frame.

compare.py EVENTS PID...

EVENTS is the output of `chainwalk -v -U -f events`. eu-stack looks at each thread of the processes
PID, which must still be where they were when the recording ended: stop them (SIGSTOP) during the
recording. A frame is a file and an offset in it. Prints a line for each thread,

    PID TID NAME: THEIRS frames, FOUND of them at their place, OURS recorded, whole|REASON

then the sums, "threads N recorded N whole N frames N found N wrong N". Wrong are threads with a
frame that eu-stack does not have at this place. Exit status 1 if there is one.
"""
import bisect
import os
import re
import subprocess
import sys

SWITCH = re.compile(r"^\s*[\d.]+ \[\d+\] switch .*/(\d+) ([SDITtP]) -> ")
FRAME = re.compile(r"^\t\s*([0-9a-f]+) .*\((.*)\)$")
CUT = re.compile(r"^\t\s*\[cut(.*)\]")


def last_sleeps(path):
    """tid -> ([(file, offset)], cut) of the thread's last switch in a sleeping state."""
    sleeps, frames, cut, tid = {}, None, None, None
    for line in open(path, errors="replace"):
        if not line.startswith("\t"):
            if tid is not None:
                sleeps[tid] = (frames, cut)
            m = SWITCH.match(line)
            tid = int(m.group(1)) if m else None
            frames, cut = [], None
            continue
        if tid is None:
            continue
        m = CUT.match(line)
        if m:
            cut = m.group(1).strip(" :") or "cut"
            continue
        m = FRAME.match(line)
        frames.append((m.group(2), int(m.group(1), 16)) if m else ("?", 0))
    if tid is not None:
        sleeps[tid] = (frames, cut)
    return sleeps


def mappings(pid):
    """Sorted [(start, end, file offset, path)] of a process."""
    found = []
    for line in open(f"/proc/{pid}/maps"):
        part = line.split(None, 5)
        start, end = (int(x, 16) for x in part[0].split("-"))
        path = part[5].strip() if len(part) > 5 else ""
        found.append((start, end, int(part[2], 16), path))
    return sorted(found)


def place(maps, addr):
    i = bisect.bisect(maps, (addr, 1 << 64, 0, "")) - 1
    if i < 0 or addr >= maps[i][1]:
        return ("nowhere", addr)
    start, _, offset, path = maps[i]
    if path.endswith(" (deleted)"):
        path = path[: -len(" (deleted)")]
    return (path, addr - start + offset) if path else ("", addr)


def their_stacks(pid):
    """tid -> [(file, offset)], the leaf first."""
    maps = mappings(pid)
    text = subprocess.run(
        ["eu-stack", "-n", "0", "-r", "-p", str(pid)], capture_output=True, text=True, errors="replace"
    ).stdout
    stacks, tid = {}, None
    for line in text.splitlines():
        m = re.match(r"^TID (\d+):", line)
        if m:
            tid = int(m.group(1))
            stacks[tid] = []
            continue
        m = re.match(r"^#\d+\s+0x([0-9a-f]+)", line)
        if m and tid is not None:
            stacks[tid].append(place(maps, int(m.group(1), 16)))
    return stacks


def same(ours, theirs):
    if ours[1] != theirs[1]:
        return False
    # The recorder may know a file by another of its names, and generated code by none.
    return os.path.basename(ours[0]) == os.path.basename(theirs[0]) or "" in (ours[0], theirs[0]) or ours[0] in (
        "unknown",
        "?",
    )


def report(ours, theirs):
    """Prints where the two first differ; False if they do not, as far as ours goes."""
    first = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if not same(a, b)), None)
    if first is None and len(ours) > len(theirs):
        first = len(theirs)
    if first is None:
        return False
    print(f"  the first that differs is frame {first}:")
    for i in range(max(0, first - 2), min(first + 3, max(len(ours), len(theirs)))):
        a = "%s+%x" % ours[i] if i < len(ours) else "-"
        b = "%s+%x" % theirs[i] if i < len(theirs) else "-"
        print(f"    {i}: recorded {a}, eu-stack {b}")
    return True


def main():
    sleeps = last_sleeps(sys.argv[1])
    threads = recorded = whole = frames = found = wrong = 0
    for pid in map(int, sys.argv[2:]):
        for tid, theirs in sorted(their_stacks(pid).items()):
            try:
                name = open(f"/proc/{pid}/task/{tid}/comm").read().strip()
            except OSError:
                name = "?"
            threads += 1
            frames += len(theirs)
            if tid not in sleeps:
                print(f"{pid} {tid} {name}: {len(theirs)} frames, not recorded")
                continue
            ours, cut = sleeps[tid]
            right = sum(same(a, b) for a, b in zip(ours, theirs))
            print(
                f"{pid} {tid} {name}: {len(theirs)} frames, {right} of them at their place, "
                f"{len(ours)} recorded, {cut or 'whole'}"
            )
            recorded += 1
            whole += not cut
            found += right
            wrong += report(ours, theirs)
    print(f"threads {threads} recorded {recorded} whole {whole} frames {frames} found {found} wrong {wrong}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
