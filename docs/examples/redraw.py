#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws pictures anew from the frames that are in them, when the renderer or its page has changed:
    docs/examples/redraw.py BUILD_DIR docs/tutorial/*.svg docs/languages/*.svg
The recordings that they were made of are not kept, and new ones would have other figures than the text."""
import subprocess
import sys
import xml.etree.ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"
DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-"


def numbers(text):
    v, unit = 0, 1
    for c in text:
        d = DIGITS.index(c)
        v += (d & 31) * unit
        unit *= 32
        if not d & 32:
            yield v
            v, unit = 0, 1


def folded(root):
    """The lines of a picture; format: render/data.c."""
    by_id = {e.get("id"): e for e in root.iter() if e.get("id")}
    graph = by_id["fg-graph"]
    if graph.get("data-max-own"):
        sys.exit("differences are drawn of two files")
    names, scale = by_id["fg-names"].text.split("\n"), float(graph.get("data-scale"))
    nodes = numbers(by_id["fg-nodes"].text)
    for _ in names:
        next(nodes)  # its style
    path, frames = [], []  # a frame: its names, its start, end, what is filled, own counts
    for _ in range(int(graph.get("data-frames"))):
        up, name, left, right = (next(nodes) for _ in range(4))
        del path[len(path) - up:]
        caller = path[-1] if path else None
        begin = caller["filled"] + left if caller else left
        end = caller["end"] - right if caller else right
        frame = {"names": caller["names"] + [names[name]] if caller else [], "end": end, "filled": begin, "own": end - begin}
        if caller:
            caller["filled"] = end
            caller["own"] -= end - begin
        path.append(frame)
        frames.append(frame)
    for frame in frames:
        if frame["own"] and frame["names"]:
            yield ";".join(frame["names"]) + " %g" % (frame["own"] / scale) if scale != 1 else \
                ";".join(frame["names"]) + " %d" % frame["own"]
    for k in range(4):
        if "fg-remark%d" % k in by_id:
            yield "[note] " + by_id["fg-remark%d" % k].text + " 0"
    told = by_id["fg-processes"].text.split("\n") if "fg-processes" in by_id else []
    for process, thread in zip(told[::2], told[1::2]):
        yield "[note] process;%s;%s 0" % (process, thread)


def options(root):
    by_id = {e.get("id"): e for e in root.iter() if e.get("id")}
    graph, subtitle = by_id["fg-graph"], by_id.get("fg-subtitle")
    yield from ("--title", by_id["fg-title"].text, "--countname", graph.get("data-count"))
    # The default ones say how to read a chain graph.
    if subtitle is not None and not subtitle.get("data-turned") and not subtitle.text.startswith("Bottom: who waited"):
        yield from ("--subtitle", subtitle.text)
    yield from ("--minwidth", graph.get("data-min") + ("%" if graph.get("data-min-percent") == "1" else ""))
    if graph.get("data-inverted") == "1":
        yield "--inverted"


def main():
    for path in sys.argv[2:]:
        root = ET.parse(path).getroot()
        lines = list(folded(root))
        subprocess.run([sys.argv[1] + "/flamegraph", *options(root), "-o", path], input="\n".join(lines).encode(), check=True)
        if sorted(folded(ET.parse(path).getroot())) != sorted(lines):
            sys.exit(path + ": the frames have changed")
        print(path)


main()
