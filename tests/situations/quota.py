# SPDX-License-Identifier: GPL-2.0-or-later
# A batch program that only computes, for so many seconds.
import sys
import time

end = time.monotonic() + float(sys.argv[1])
done = 0
while time.monotonic() < end:
    sum(i * i for i in range(100000))
    done += 1
print("count", done)
