#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""judge.py CSV ENDPOINT COUNTED ASKED: what the csv of requests says otherwise than the server, whose lines in COUNTED are
"COUNT ROUTE", and whether a route's 99th percentile is farther than 5 % from the client's in ASKED (ask.py), if that is
above 4 ms: then the line begins with "p99". Nothing: all is as it should be. To the standard error, a line for each route
of how many there are and their 99th percentiles, ours and theirs."""
import collections
import csv
import sys

path, endpoint, counted, asked = sys.argv[1:5]
took = collections.defaultdict(list)
with open(path, newline="") as f:
    for row in csv.DictReader(f):
        if row["thread"].startswith("[request %s " % endpoint) or row["thread"].startswith("[request %s]" % endpoint):
            took[row["route"]].append(int(row["end_ns"]) - int(row["start_ns"]))
with open(counted) as f:
    server = {route: int(n) for n, route in (line.rstrip("\n").split(" ", 1) for line in f)}
for route in sorted(set(server) | set(took)):
    if len(took[route]) != server.get(route, 0):
        print("requests %s: %d are recorded, the server counts %d" % (route or "without a route", len(took[route]), server.get(route, 0)))
with open(asked) as f:
    for line in f:
        if line.startswith("busy"):
            continue
        _, p99, route = line.rstrip("\n").split(" ", 2)
        ours = sorted(took[route])
        ours = ours[(len(ours) * 99 + 99) // 100 - 1] if ours else 0
        print("%s: %d of %d requests, p99 %.2f ms of %.2f" % (
            route, len(took[route]), server.get(route, 0), ours / 1e6, int(p99) / 1e6), file=sys.stderr)
        if int(p99) > 4000000 and abs(ours - int(p99)) > int(p99) * 0.05:
            print("p99 %s: %d ns, the client's %s" % (route, ours, p99))
