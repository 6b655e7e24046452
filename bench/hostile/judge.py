# SPDX-License-Identifier: GPL-2.0-or-later
"""judge.py CHAINWALK FOLDER TRACES WHAT...: what traces have of what programs say of themselves. WHAT is NAME:PID, whose
waits, in innocent_naps(), or NAME::PORT, whose requests FOLDER/NAME.log has the times of. For each a line "NAME NUMBER
RECORDED NAMED": those that were in the time of a trace, those that are in it, and those of them that have the name."""
import csv
import datetime
import subprocess
import sys

EDGE_NS = 20_000_000
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


def count(log, window, found):
    """found: (begin, end, whether it is named) in ns. Each is one of the log's at most."""
    begin, end = window[0] + EDGE_NS, window[1] - EDGE_NS
    number = recorded = named = at = 0
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
    return number, recorded, named


def log_of(name):
    with open("%s/%s.log" % (folder, name)) as f:
        return [tuple(map(int, line.split())) for line in f if len(line.split()) == 2 and line.endswith("\n")]


wanted = [what.split(":") for what in sys.argv[4:]]
logs = {what[0]: log_of(what[0]) for what in wanted}
total = {what[0]: [0, 0, 0] for what in wanted}
for trace in traces:
    requests = rows(trace, "--requests", "--all")
    window = window_of(trace, requests)
    if not window:
        continue
    for name, pid, *port in wanted:
        if port:
            got = [(r, True) for r in requests if ":" + port[0] in r["endpoint"].replace(",", " ").split()]
        else:
            got = [(r, "innocent_naps" in r["stack"]) for r in rows(trace, "--state", "all", "-p", pid)]
        found = [(window[0] + int(r["start_ns"]), window[0] + int(r["end_ns"]), named) for r, named in got]
        total[name] = [a + b for a, b in zip(total[name], count(logs[name], window, found))]
for name, figures in total.items():
    print(name, *figures)
