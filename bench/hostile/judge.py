# SPDX-License-Identifier: GPL-2.0-or-later
"""judge.py CHAINWALK FOLDER TRACES WHAT...: what traces have of what programs say of themselves. WHAT is NAME:PID, whose
waits, in innocent_naps(), or NAME::PORT, whose requests FOLDER/NAME.log has the times of. For each a line "NAME NUMBER
RECORDED NAMED UNSEEN NOTES": those that were in the time of a trace, those that are in it, those of them that have the
name; those that are not in it, and ended while a thread had a CPU of which the kernel tells no tracer (it is switched to,
and never from: some virtual machines have such ones), which are not in NUMBER; and how many lack the name in traces that
have a note on what the stacks of that process lack. And a line "locks": how many locks of strangers the traces say that one of them holds, and how often forged_locks waited."""
import csv
import datetime
import subprocess
import sys

EDGE_NS = 20_000_000
# A thread notes the end of its wait so soon after it was woken.
WOKEN_NS = 1_000_000
walk, folder, traces = sys.argv[1], sys.argv[2], sys.argv[3].split()
csv.field_size_limit(1 << 30)


def ask(*args):
    return subprocess.run((walk, "-q") + args, capture_output=True, text=True, errors="replace").stdout


def wall_ns(text):
    whole, part = text.rstrip("Z").split(".")
    at = datetime.datetime.fromisoformat(whole + "+00:00")
    return int(at.timestamp()) * 10**9 + int(part)


def rows(trace, *args):
    return list(csv.DictReader(ask("-f", "csv", *args, trace).splitlines()))


def window_of(trace, some):
    """From and to when it is, by one of its rows; None: it has none."""
    info = dict(line.split(": ", 1) for line in ask("-f", "info", trace).splitlines() if ": " in line)
    if not some:
        return None
    begin = wall_ns(some[0]["wall_time"]) - int(some[0]["start_ns"])
    return begin, begin + int(float(info["duration_s"]) * 1e9)


def look_at_events(trace, pids):
    """When CPUs ran threads of which no other event tells: (begin, end) in ns since the trace's beginning. And how many
    locks of strangers are said to be held by one of pids, and how often forged_locks waited."""
    on, spans, coming, going, locks, waits = {}, [], {}, set(), 0, 0
    for line in ask("-f", "events", trace).splitlines():
        part = line.split(" -> ")
        words = part[0].split()
        if len(words) < 3:
            continue
        at, cpu = int(words[0].replace(".", "")), words[1]
        waits += words[2] == "object" and words[3].startswith("forged_locks/") and " waits for futex" in line
        if words[2] == "holder":
            held = line.rsplit("/", 1)[-1].split()[0]
            locks += held in pids and words[3].rsplit("/", 1)[-1] != held
        if words[2] not in ("switch", "waking"):
            continue
        if cpu in on:
            spans.append((on[cpu][1], at, on[cpu][0]))
            del on[cpu]
        if words[2] == "switch":
            going.add(words[3].rsplit("/", 1)[-1])
            to = part[1].rsplit("/", 1)[-1].split()[0]
            coming[to] = coming.get(to, 0) + 1
            on[cpu] = (to, at)
    unseen = {thread for thread in coming if thread not in going and coming[thread] > 3}
    return [(b, e) for b, e, thread in spans if thread in unseen], locks, waits


def notes_of(trace, pid):
    """Whether the trace says what that process lacks."""
    notes = (line[6:].split(": ")[0] for line in ask("-f", "info", trace).splitlines() if line.startswith("note: "))
    return any(who.split("/")[-1].split()[0] == pid for who in ",".join(notes).split(",") if "/" in who)


def count(log, window, found, spans):
    """found: (begin, end, whether it is named) in ns. Each is one of the log's at most."""
    begin, end = window[0] + EDGE_NS, window[1] - EDGE_NS
    number = recorded = named = at = unseen = 0
    found.sort()
    for b, e in log:
        if b < begin or e > end:
            continue
        number += 1
        while at < len(found) and found[at][1] < b:
            at += 1
        k = at
        inside = []
        while k < len(found) and found[k][0] <= e:
            inside.append(found[k])
            k += 1
        if inside:
            recorded += 1
            named += any(name for _, _, name in inside)
        elif any(from_ns <= e and to_ns >= e - WOKEN_NS for from_ns, to_ns in spans):
            number -= 1
            unseen += 1
    return number, recorded, named, unseen


def log_of(name):
    with open("%s/%s.log" % (folder, name)) as f:
        return [tuple(map(int, line.split())) for line in f if len(line.split()) == 2 and line.endswith("\n")]


wanted = [what.split(":") for what in sys.argv[4:]]
logs = {what[0]: log_of(what[0]) for what in wanted}
total = {what[0]: [0, 0, 0, 0, 0] for what in wanted}
pids = {what[1] for what in wanted if what[1]}
locks = waits = 0
for trace in traces:
    requests = rows(trace, "--requests", "--all")
    window = window_of(trace, requests)
    if not window:
        continue
    spans, held, tried = look_at_events(trace, pids)
    spans = [(window[0] + b, window[0] + e) for b, e in spans]
    locks += held
    waits += tried
    for name, pid, *port in wanted:
        if port:
            got = [(r, True) for r in requests if ":" + port[0] in r["endpoint"].replace(",", " ").split()]
        else:
            got = [(r, "innocent_naps" in r["stack"]) for r in rows(trace, "--state", "all", "-p", pid)]
        found = [(window[0] + int(r["start_ns"]), window[0] + int(r["end_ns"]), named) for r, named in got]
        more = count(logs[name], window, found, spans)
        more = (*more, more[1] - more[2] if pid and notes_of(trace, pid) else 0)
        total[name] = [a + b for a, b in zip(total[name], more)]
for name, figures in total.items():
    print(name, *figures)
print("locks", locks, waits)
