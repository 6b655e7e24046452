#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Things of one name that are different: memory that each of two programs shares with nobody else, and a file
# of one path in two mount namespaces. Each is an object of its own, by its inode number; what two
# threads of one program wait for is one object.
# Beside another: what counts is what its own threads wait for.
. "$(dirname "$0")/lib.sh"
needs_bpf
cat >"$tmp/waits.py" <<'END'
import ctypes, fcntl, mmap, os, sys, threading, time

libc = ctypes.CDLL(None)
class timespec(ctypes.Structure):
    _fields_ = [("s", ctypes.c_long), ("ns", ctypes.c_long)]
memory = mmap.mmap(-1, 4096)
word = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(memory)))
FUTEX = {"x86_64": 202, "aarch64": 98}[os.uname().machine]
def wait():
    for _ in range(5):
        libc.syscall(FUTEX, word, 0, 0, ctypes.byref(timespec(0, 50000000)), None, 0)
threads = [threading.Thread(target=wait) for _ in range(2)]
for t in threads:
    t.start()
for t in threads:
    t.join()
# A lock that a child has.
held = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
if not os.fork():
    held = os.open(sys.argv[1], os.O_RDWR)
    fcntl.flock(held, fcntl.LOCK_EX)
    time.sleep(0.3)
    os._exit(0)
time.sleep(0.1)
fcntl.flock(held, fcntl.LOCK_EX)
END
mkdir "$tmp/data"
cat >"$tmp/both.sh" <<END
for i in 1 2; do
	unshare --mount sh -c 'mount -t tmpfs none "$tmp/data" && exec python3 "$tmp/waits.py" "$tmp/data/lock"' &
done
wait
END
unshare --mount true 2>"$tmp/err" || skip "no mount namespaces: $(cat "$tmp/err")"
timeout 300 "$cap" -F 0 -o "$tmp/trace" -- sh "$tmp/both.sh" >"$tmp/told" 2>"$tmp/err"
expect_exit "chaincap -- sh both.sh" 0 $?
walk_to "$tmp/folded" --objects -c '^python3$' "$tmp/trace"
grep -o '\[f[^;]*\]' "$tmp/folded" | sort -u >"$tmp/objects"
expect "locks in memory of their own" 2 "$(grep -c '^\[futex .*/dev/zero+0x0 (inode [0-9]*)\]$' "$tmp/objects")" "$tmp/objects"
expect "files of one path" 2 "$(grep -c '^\[file .*/data/lock (inode [0-9]* of 0:[0-9]*)\]$' "$tmp/objects")" "$tmp/objects"
expect "those without a number" 0 "$(grep -c -e '/dev/zero+0x0\]' -e '/data/lock\]' "$tmp/objects")" "$tmp/objects"
