#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares recorded user stacks of sleeping threads with what eu-stack finds, frame by frame.

compare.py ask TRUTH PID...           eu-stack's stacks of all threads of the processes, into TRUTH
compare.py judge TRUTH KIND FILE      what a recorder has of them; KIND says what is in FILE:
    events      chainwalk -v --native -U -f events: each thread's last switch into sleep
    json        chainwalk -q --native -U -d 0 -f json: each thread's last wait. Compared by names, as it has no
                addresses; for threads that sleep from before the recording until after it
    perf        perf script -F tid,trace,ip,dso, of sched:sched_switch: each thread's last sleep
    perf-dwarf  the same of --call-graph dwarf, where perf shows callers by the byte before
    offcputime  offcputime -v of libbpf-tools: where each thread was stopped by a signal

ask and the recorder must have seen the same sleep: stop the threads (SIGSTOP) while they are recorded,
and ask while they are stopped. A frame is a file and an offset in it. Prints a line for each thread,

    PID TID NAME: THEIRS frames, FOUND of them at their place, OURS recorded, whole|REASON

then the sums, "threads N recorded N whole N same N frames N found N order N wrong N". Whole are those of
which the recorder does not say that they are cut, same those that equal eu-stack's. Found are frames at
their place, counted from the leaf, order those that are there in the right order, although others between
them may be missing. Wrong are threads with a frame that eu-stack does not have at this place: exit status 1.
"""
import bisect
import json
import os
import re
import subprocess
import sys

KERNEL = 1 << 63


# ---- eu-stack ----------------------------------------------------------------------------------


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
    i = bisect.bisect(maps, [addr, KERNEL, 0, ""]) - 1
    if i < 0 or addr >= maps[i][1]:
        return ("nowhere", addr)
    start, _, offset, path = maps[i]
    if path.endswith(" (deleted)"):
        path = path[: -len(" (deleted)")]
    return (path, addr - start + offset) if path else ("", addr)


def name_of(pid, tid):
    try:
        return open(f"/proc/{pid}/task/{tid}/comm").read().strip()
    except OSError:
        return "?"


def ask(path, pids):
    """Writes [{pid, maps, threads: [{tid, name, frames: [address], names: [text]}]}]."""
    truth = []
    for pid in pids:
        try:
            process = {"pid": pid, "maps": mappings(pid), "threads": []}
        except FileNotFoundError:  # it served a client who has gone
            continue
        command = ["eu-stack", "-n", "0", "-r", "-p", str(pid)]
        text = subprocess.run(command, capture_output=True, text=True, errors="replace").stdout
        for line in text.splitlines():
            if m := re.match(r"^TID (\d+):", line):
                tid = int(m[1])
                thread = {"tid": tid, "name": name_of(pid, tid), "frames": [], "names": []}
                process["threads"].append(thread)
            elif m := re.match(r"^#\d+\s+0x([0-9a-f]+)\s*(?:- 1)?\s*(.*)", line):
                thread["frames"].append(int(m[1], 16))
                thread["names"].append(m[2])
        truth.append(process)
    with open(path, "w") as out:
        json.dump(truth, out)


# ---- what was recorded: tid -> ([frame], why it is cut, or None), the leaf first ------------------
# A frame is an address, (file, offset), or a name.


def read_events(lines):
    switch = re.compile(r"^\s*[\d.]+ \[\d+\] switch .*/(\d+) ([SDITtP]) -> ")
    stacks, tid = {}, None
    for line in lines:
        if not line.startswith("\t"):
            m = switch.match(line)
            tid = int(m[1]) if m else None
            if m:
                stacks[tid] = ([], None)
        elif tid is None:
            continue
        elif m := re.match(r"^\t\s*\[cut(.*)\]", line):
            stacks[tid] = (stacks[tid][0], m[1].strip(" :") or "cut")
        elif m := re.match(r"^\t\s*([0-9a-f]+) .*\((.*)\)$", line):
            stacks[tid][0].append((m[2], int(m[1], 16)))
        else:
            stacks[tid][0].append(("?", 0))
    return stacks


def read_json(lines):
    stacks = {}
    for line in lines:
        wait = json.loads(line)
        stacks[wait["tid"]] = (wait["stack"]["user"][::-1], None)
    return stacks


def read_perf(lines):
    stacks, stack = {}, []
    for line in lines:
        if m := re.match(r"^\s+([0-9a-f]+) \((.*)\)$", line):
            if int(m[1], 16) < KERNEL:
                path = "" if m[2].startswith(("[unknown]", "//anon", "/tmp/perf-")) else m[2]
                stack.append((path.removesuffix(" (deleted)"), int(m[1], 16)))
        elif m := re.match(r"^\s*(\d+)\s.* prev_state=(\S)", line):
            stack = []
            if m[2] != "R":
                stacks[int(m[1])] = (stack, None)
    return stacks


def read_offcputime(lines):
    stacks, stack, stopped = {}, [], False
    for line in lines:
        if m := re.match(r"^\s+#\d+\s+0x([0-9a-f]+)(.*)", line):
            stopped |= "do_signal_stop" in m[2]
            if int(m[1], 16) < KERNEL:
                stack.append(int(m[1], 16))
        elif m := re.match(r"^\s+-\s.*\((\d+)\)$", line):
            if stopped:
                stacks[int(m[1])] = (stack, None)
            stack, stopped = [], False
    return stacks


READERS = {
    "events": read_events,
    "json": read_json,
    "perf": read_perf,
    "perf-dwarf": read_perf,
    "offcputime": read_offcputime,
}


# ---- comparing -----------------------------------------------------------------------------------


def same_place(ours, theirs):
    if ours[1] != theirs[1]:
        return False
    # The recorder may know a file by another of its names, and generated code by none.
    if "" in (ours[0], theirs[0]) or ours[0] in ("unknown", "?"):
        return True
    return os.path.basename(os.path.realpath(ours[0])) == os.path.basename(os.path.realpath(theirs[0]))


def same_or_before(ours, theirs):
    return same_place(ours, theirs) or same_place((ours[0], ours[1] + 1), theirs)


def same_name(ours, theirs):
    """Aliases of one function in the C library differ in underscores, and in versions."""
    if not theirs:
        return ours.startswith("[")
    return ours.split("@")[0].lstrip("_") == theirs.split("@")[0].lstrip("_")


def in_order(ours, theirs, same):
    """The length of the longest common subsequence."""
    best = [0] * (len(theirs) + 1)
    for a in ours:
        before = 0
        for i, b in enumerate(theirs):
            here = before + 1 if same(a, b) else max(best[i], best[i + 1])
            before, best[i + 1] = best[i + 1], here
    return best[-1]


def text_of(frame):
    if isinstance(frame, int):
        return "%x" % frame
    return frame if isinstance(frame, str) else "%s+%x" % frame


def report(ours, theirs, same):
    """Prints where the two first differ; False if they do not, as far as ours goes."""
    first = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if not same(a, b)), None)
    if first is None and len(ours) > len(theirs):
        first = len(theirs)
    if first is None:
        return False
    print(f"  the first that differs is frame {first}:")
    for i in range(max(0, first - 2), min(first + 3, max(len(ours), len(theirs)))):
        a = text_of(ours[i]) if i < len(ours) else "-"
        b = text_of(theirs[i]) if i < len(theirs) else "-"
        print(f"    {i}: recorded {a}, eu-stack {b}")
    return True


def judge(truth, kind, stacks):
    threads = recorded = whole = alike = frames = found = order = wrong = 0
    for process in truth:
        for thread in process["threads"]:
            pid, tid = process["pid"], thread["tid"]
            theirs, same = [place(process["maps"], a) for a in thread["frames"]], same_place
            if kind == "json":
                theirs, same = thread["names"], same_name
            elif kind == "perf-dwarf":
                same = same_or_before
            threads += 1
            frames += len(theirs)
            if tid not in stacks:
                print(f"{pid} {tid} {thread['name']}: {len(theirs)} frames, not recorded")
                continue
            ours, cut = stacks[tid]
            if kind == "offcputime":
                ours = [place(process["maps"], a) for a in ours]
            right = sum(same(a, b) for a, b in zip(ours, theirs))
            print(
                f"{pid} {tid} {thread['name']}: {len(theirs)} frames, {right} of them at their place, "
                f"{len(ours)} recorded, {cut or 'whole'}"
            )
            recorded += 1
            whole += not cut
            alike += right == len(theirs) == len(ours)
            found += right
            order += in_order(ours, theirs, same)
            wrong += report(ours, theirs, same)
    print(
        f"threads {threads} recorded {recorded} whole {whole} same {alike} "
        f"frames {frames} found {found} order {order} wrong {wrong}"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["ask"] and len(sys.argv) > 3:
        ask(sys.argv[2], [int(pid) for pid in sys.argv[3:]])
    elif sys.argv[1:2] == ["judge"] and len(sys.argv) == 5:
        with open(sys.argv[2]) as asked, open(sys.argv[4], errors="replace") as recorded_file:
            sys.exit(judge(json.load(asked), sys.argv[3], READERS[sys.argv[3]](recorded_file)))
    else:
        sys.exit(__doc__)
