#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Do flamegraph and flamegraph.pl draw the same frames?

    bench/render_parity.py PATH/TO/flamegraph.pl build/flamegraph FOLDED...

For each file: every frame flamegraph.pl draws, as its path from the root and its count, must be in
ours with the same count, and the other way round; and the frames of each row must come in the same
order. flamegraph.pl draws a frame in pieces where a sibling's name sorts between its lines (`foo 3`,
`foo-bar 1`, `foo;x 2`): pieces are added up, and rows in which it does so are left out of the
comparison of order. Prints one line a file and the sum; exit 1 where something differs.
"""
import bisect
import re
import subprocess
import sys
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"
DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-"
ANNOTATION = re.compile(r"_\[[kwij]\]$")


def rows_of_pl(svg):
    """Rows from the root up, each a list of (x, width, name, count) from left to right."""
    rows = {}
    for g in ElementTree.fromstring(svg).find(f"{SVG}g[@id='frames']"):
        rect = g.find(SVG + "rect")
        name, count = re.match(r"(.*) \(([\d,]+) samples, [^()]*\)$", g.find(SVG + "title").text,
                               re.S).groups()
        y = float(rect.get("y"))
        rows.setdefault(-y, []).append((float(rect.get("x")), float(rect.get("width")), name,
                                        int(count.replace(",", ""))))
    return [sorted(rows[y]) for y in sorted(rows)]


def paths_of_pl(rows):
    """Path -> count; and which rows have a frame in more than one piece."""
    counts, pieces, above = {}, set(), []
    for depth, row in enumerate(rows):
        here, seen = [], set()
        for x, width, name, count in row:
            parent = ()
            # of two that touch here the one that holds the middle is meant
            at = bisect.bisect_right(above, x + width / 2, key=lambda frame: frame[0]) - 1
            for px, pw, path in above[max(0, at):at + 2] + above[max(0, at - 1):max(0, at)]:
                if px - 0.11 <= x and x + width <= px + pw + 0.11:
                    parent = path
                    break
            path = parent + (name,)
            if path in seen:
                pieces.add(depth)
            seen.add(path)
            counts[path] = counts.get(path, 0) + count
            here.append((x, width, path))
        above = here
    return counts, pieces


def frames_of_ours(svg):
    """(depth, path, count, start) of every frame in the document's data, in preorder."""
    root = ElementTree.fromstring(svg)
    meta = {m.get("id"): m for m in root.iter(SVG + "metadata")}
    names = meta["fg-names"].text.split("\n")
    scale = float(meta["fg-graph"].get("data-scale"))
    text, at = meta["fg-nodes"].text, 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            digit = DIGITS.index(text[at])
            at += 1
            value |= (digit & 31) << shift
            shift += 5
            if digit < 32:
                return value

    for _ in names:
        number()
    frames, stack, depth = [], [], 0
    while at < len(text):
        depth -= number()
        name = ANNOTATION.sub("", names[number()])
        before, after = number(), number()
        del stack[depth:]
        if depth:
            start, end = stack[-1][1] + before, stack[-1][2] - after
            stack[-1][1] = end
        else:
            start, end = before, after
        path = (stack[-1][0] if stack else ()) + (name,)
        stack.append([path, start, end])
        frames.append((depth, path, (end - start) / scale, start / scale))
        depth += 1
    return frames


def compare(pl, ours, file):
    run = dict(capture_output=True, timeout=600, check=True)
    args = ["--colors", "hot", "--minwidth", "0.1"]
    rows = rows_of_pl(subprocess.run(["perl", pl, *args, file], **run).stdout)
    frames = frames_of_ours(subprocess.run([ours, *args, "--countname", "samples", file],
                                           **run).stdout)
    total = frames[0][2]
    least = 0.1 * total / 1180
    counts, pieces = paths_of_pl(rows)
    mine = {}
    for _, path, count, _ in frames:
        mine[path] = mine.get(path, 0) + count
    bad = []
    for path, count in counts.items():
        if path not in mine:
            bad.append(f"only flamegraph.pl has {';'.join(path)} {count}")
        elif abs(mine[path] - count) > max(1, least) and len(pieces) == 0:
            bad.append(f"{';'.join(path)}: {count} in flamegraph.pl, {mine[path]:g} here")
    for path, count in mine.items():
        if count >= least * 1.001 and path not in counts and not pieces:
            bad.append(f"only we have {';'.join(path)} {count:g}")
    for depth, row in enumerate(rows):
        if any(d <= depth for d in pieces):
            continue
        order = [f[1][-1] for f in sorted((f for f in frames if f[0] == depth and
                                           f[2] >= least * 1.0001), key=lambda f: f[3])]
        if [r[2] for r in row] != order:
            bad.append(f"row {depth}: another order")
    verdict = "same" if not bad else f"{len(bad)} differences"
    print(f"{file.rsplit('/', 1)[-1]}: {len(counts)} frames, {len(rows)} rows, "
          f"{len(pieces)} rows in pieces: {verdict}")
    for b in bad[:5]:
        print("   ", b)
    return not bad


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    results = [compare(sys.argv[1], sys.argv[2], f) for f in sys.argv[3:]]
    print(f"{sum(results)} of {len(results)} files the same")
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
