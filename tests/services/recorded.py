#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""recorded.py CSV ENDPOINT [LATENCIES UNIT_NS]: what a trace says of an endpoint's requests, as lines "NAME VALUE".

CSV is what chainwalk -f csv --requests wrote. first: those that were the first of their connections, or logins; count: the
others; sum_ns, least_ns, p50_ns, p99_ns, max_ns of all of them (p99_counted_ns: without the first ones);
uneven: rows whose ends do not add up to what the request took; longer, of the client's LATENCIES, one a line:
ranks in which the recorded one, without what it waited for a CPU, is longer than the client's, who waited at
least as long. (A server that loses its CPU in the write to a client that runs at once says later that it answered.)
"""
import csv
import sys


def percentile(sorted_ns, percent):
    return sorted_ns[max(0, (len(sorted_ns) * percent + 99) // 100 - 1)]


def main():
    path, endpoint = sys.argv[1:3]
    took = {"count": [], "first": []}
    on_its_way = {"count": [], "first": []}
    uneven = 0
    with open(path, newline="") as f:
        for row in csv.DictReader(f):
            name = row["thread"].split("]")[0] + " "
            if not name.startswith("[request %s " % endpoint):
                continue
            # Logins, which are known as such, or by being the first requests of their connections.
            is_first = name.rsplit(" ", 2)[1] in ("first", "[startup", "[login")
            kind = "first" if is_first else "count"
            ns = int(row["end_ns"]) - int(row["start_ns"])
            took[kind].append(ns)
            on_its_way[kind].append(ns - int(row["end_runnable_ns"]))
            ends = sum(int(row[c]) for c in row if c.startswith("end_") and c.endswith("_ns")
                       and c not in ("end_ns", "end_running_interrupts_ns"))
            uneven += not int(row["blocked_ns"]) == ends == ns
    every = sorted(took["count"] + took["first"])
    print("count", len(took["count"]))
    print("first", len(took["first"]))
    if not every:
        return
    print("sum_ns", sum(every))
    print("least_ns", every[0])
    print("p50_ns", percentile(every, 50))
    print("p99_ns", percentile(every, 99))
    if took["count"]:
        print("p99_counted_ns", percentile(sorted(took["count"]), 99))
        print("least_counted_ns", min(took["count"]))
    print("max_ns", every[-1])
    print("uneven", uneven)
    if len(sys.argv) > 3:
        with open(sys.argv[3]) as f:
            theirs = sorted((float(line) + 1) * int(sys.argv[4]) for line in f)
        ours = on_its_way["count"]
        if len(theirs) == len(every):
            ours = ours + on_its_way["first"]
        ours = sorted(ours)
        print("longer", sum(a > b for a, b in zip(ours, theirs)) if len(ours) == len(theirs) else "differs")


main()
