# SPDX-License-Identifier: GPL-2.0-or-later
# Four threads do a little now and then, while another one computes in the interpreter.
import sys
import threading
import time

end = time.monotonic() + float(sys.argv[1])


def called(name):
    with open(f"/proc/self/task/{threading.get_native_id()}/comm", "w") as f:
        f.write(name)


def handle():
    called("handler")
    while time.monotonic() < end:
        time.sleep(0.002)
        sum(range(200))


def report():
    called("report")
    while time.monotonic() < end:
        sorted(str(i) for i in range(30000))


threads = [threading.Thread(target=handle) for _ in range(4)]
if "--healthy" not in sys.argv:
    threads.append(threading.Thread(target=report))
for t in threads:
    t.start()
for t in threads:
    t.join()
