# SPDX-License-Identifier: GPL-2.0-or-later
"""innocent.py LOG: as innocent.c, in Python."""
import sys
import time


def innocent_naps(log):
    begin = time.time_ns()
    time.sleep(0.01)
    log.write("%d %d\n" % (begin, time.time_ns()))


with open(sys.argv[1], "w", buffering=1) as log:
    while True:
        innocent_naps(log)
