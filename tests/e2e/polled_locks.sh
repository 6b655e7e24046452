#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Threads that poll for a lock of a file. SQLite: one process writes for 0.4 s, half of it computing, half asleep, and
# another one waits for the lock of the database; the same with flock() and with a file on which thousands of others are
# locked. Truth is how long the programs themselves waited.
# Beside another: what counts is how the time of its own threads is shared out.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/services/screen.sh
. "$(dirname "$0")/../services/screen.sh"
needs_more "what threads wait for"
/usr/bin/python3 -c 'import sqlite3' 2>/dev/null || skip "no /usr/bin/python3 with sqlite3"

cat >"$tmp/shop.py" <<'END_PY'
import ctypes, fcntl, os, sqlite3, struct, sys, threading, time

kind, path = sys.argv[1], sys.argv[2]

def called(name):
    ctypes.CDLL(None).prctl(15, name, 0, 0, 0)

def compute(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass

def refresh_prices(ready):
    os.write(ready, b"x")
    compute(0.2)
    time.sleep(0.2)

# Another thread of the holder's process than its first one has the lock.
def hold(ready):
    global let_go
    called(b"refresher")
    if kind == "sqlite":
        c = sqlite3.connect(path, isolation_level=None)
        c.execute("begin immediate")
        c.execute("insert into prices values (1)")
        refresh_prices(ready)
        c.execute("commit")
    elif kind == "whole":
        with open(path) as f:
            fcntl.flock(f, fcntl.LOCK_EX)
            refresh_prices(ready)
    else:
        with open(path, "w") as f:
            for i in range(5000):
                fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 2 * i)
            refresh_prices(ready)
    let_go = time.monotonic()

def insert_order():
    if kind == "sqlite":
        c = sqlite3.connect(path, timeout=5, isolation_level=None)
        c.execute("begin immediate")
        return
    with open(path, "w") as f:
        while True:
            try:
                if kind == "whole":
                    fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
                else:
                    fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 9998)
                return
            except BlockingIOError:
                time.sleep(0.01)

if kind == "sqlite":
    sqlite3.connect(path).execute("create table prices (x)")
else:
    open(path, "w").close()
mine, its = os.pipe()
if os.fork() == 0:
    # It lives on, so that the lock is let go long before its end.
    t = threading.Thread(target=hold, args=(its,))
    t.start()
    t.join()
    os.write(its, struct.pack("d", let_go))
    time.sleep(0.15)
    os._exit(0)
os.read(mine, 1)
called(b"orders")
before = time.monotonic()
insert_order()
waited = time.monotonic() - before
called(b"over")
print(int(waited * 1e9), int((struct.unpack("d", os.read(mine, 8))[0] - before) * 1e9))
os.wait()
END_PY

# poll_for KIND: records it; how long it waited, ns, in $waited, and until when the lock was held, in $held; the events in
# $tmp/events, its own lines in $tmp/folded.
poll_for() {
	timeout 60 "$cap" -o "$tmp/trace" -- /usr/bin/python3 "$tmp/shop.py" "$1" "$tmp/$1.db" >"$tmp/told" 2>"$tmp/err"
	expect_exit "chaincap -- $1" 0 $?
	expect_whole "$tmp/trace"
	read -r waited held <"$tmp/told"
	"$walk" -q -f events "$tmp/trace" >"$tmp/events" 2>"$tmp/err"
	walk_to "$tmp/folded" --state=all --objects -c '^orders$' "$tmp/trace"
	no_cpu=$(weight_of '\[(runnable|preempted)\] |^[^[]*\[unknown\] ' "$tmp/folded")
	walk_to "$tmp/folded" --state=blocked --objects -c '^orders$' "$tmp/trace"
	asleep=$(weight_of '\[file_lock ' "$tmp/folded")
	expect_at_least "$1: asleep for the lock, of what it waited but for $no_cpu ns without CPU" \
		$(((waited - no_cpu) * 9 / 10)) "$asleep" "$tmp/told"
	expect_at_most "$1: the same" "$waited" "$asleep"
	expect "$1: of that, for another file: ns" 0 \
		$((asleep - $(weight_of "\\[file_lock $tmp/$1[.]db\\]" "$tmp/folded")))
	grep ' object orders/.* waits for file_lock ' "$tmp/events" >"$tmp/tries"
	expect_at_least "$1: sleeps" 5 "$(wc -l <"$tmp/tries")"
	grep ' holder orders/' "$tmp/events" >"$tmp/holders"
	expect "$1: holders that are another thread" "" "$(grep -v ' a lock of refresher/' "$tmp/holders")"
}

# named: all of its sleeps have a holder; chains go on in that, as long as it had the lock, and so says the first screen.
named() {
	by=$(weight_of '\[file_lock .*;refresher;' "$tmp/folded")
	unknown=$(weight_of '\[file_lock .*\[unknown\] ' "$tmp/folded")
	expect_at_least "explained by who has the lock, but for $no_cpu ns without CPU and $unknown ns unknown: ns" \
		$((held - waited / 10 - no_cpu - unknown)) "$by" "$tmp/told"
	expect_at_most "the same" $((held + waited / 10)) "$by" "$tmp/told"
	on_terminal "$walk -q $tmp/trace" | screenful >"$tmp/screen"
	has '  orders  *insert_order(:[0-9]+)? .*waits for the lock of [a-z]+\.db'
	# Of the two one may be less than a quarter, and not there.
	has ' refresher  *(refresh_prices|compute)(:[0-9]+)? .*holds it, (slept|ran)'
	expect "holders" "$(wc -l <"$tmp/tries")" "$(wc -l <"$tmp/holders")"
	timeout 60 "$walk" -q -f tree -c '^orders$' "$tmp/trace" >"$tmp/tree" 2>"$tmp/err"
	grep -q " for file_lock $tmp/.*[.]db held by refresher/" "$tmp/tree" || fail "no holder in the tree:
$(cat "$tmp/tree")"
}

poll_for sqlite
named
poll_for whole
named
# Of more than 128 locks the last one is not found: nobody is named, and the lock is.
poll_for ranges
expect "holders of a lock that is not found" 0 "$(wc -l <"$tmp/holders")"
