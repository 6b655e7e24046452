#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Folded stacks for benchmarks: bench/render_input.py LINES > FILE

Walks of 30 to 50 calls through a made call graph of 3000 functions with skewed callees, below eight
process names; every line another stack, counts with a long tail, no order. The same each time.
"""
import random
import sys


def main():
    lines = int(sys.argv[1])
    rnd = random.Random(7)
    modules = "mysqld libc ext4 tcp sched vfs JOIN row buf net ngx http Py v8 std".split()
    verbs = "read write do handle process lookup alloc wait exec parse".split()
    names = [f"{rnd.choice(modules)}_{rnd.choice(verbs)}_{rnd.randrange(1 << 16):x}"
             for _ in range(3000)]
    callees = [[rnd.randrange(3000) for _ in range(rnd.choice([1, 1, 1, 2, 2, 3, 5]))]
               for _ in names]
    seen = set()
    while len(seen) < lines:
        at = rnd.randrange(20)
        stack = [f"proc{rnd.randrange(8)}"]
        for _ in range(rnd.randrange(30, 51)):
            stack.append(names[at])
            nexts = callees[at]
            if rnd.random() < 0.97:
                at = nexts[min(int(rnd.expovariate(1.0)), len(nexts) - 1)]
            else:
                at = rnd.randrange(3000)
        line = ";".join(stack)
        if line in seen:
            continue
        seen.add(line)
        sys.stdout.write(f"{line} {int(rnd.paretovariate(1.1) * 3)}\n")


if __name__ == "__main__":
    main()
