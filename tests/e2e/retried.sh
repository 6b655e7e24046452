#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Locks and conditions that are waited for 5 ms at a time: whoever ends the last try explains all of them.
# Beside another: what counts is how the blocked time of its own threads is shared out.
. "$(dirname "$0")/lib.sh"
needs_bpf

# judge WHO FOLDED HOLDER: two fifths of what is known of WHO's waits for HOLDER are HOLDER's, whatever it did then;
# without the rule it is some hundredths. The rest is [timer]: of those tries whose thread got the lock when it came
# on its CPU again, without another wait, which is frequent only on a busy machine.
judge() {
	known=$(($(weight_of . "$2") - $(weight_of ';\[unknown\] ' "$2")))
	expect_at_least "$1: what is known of its waits" $(($(weight_of . "$2") / 2)) $known "$2"
	expect_at_least "$1: the holder's part of its waits" $((known * 2 / 5)) "$(weight_of ";--;.*;$3;" "$2")" "$2"
}

rounds=4
record_thread "$tmp/trace" "$tmp/folded" locker retries --work 60000 --rounds $rounds
for name in locker watcher; do
	walk_to "$tmp/all" --state=blocked -t "$(tid $name)" "$tmp/trace"
	grep ";${name}_waits;" "$tmp/all" >"$tmp/$name" || fail "$name: no waits
$(cat "$tmp/all")"
	judge $name "$tmp/$name" holder
	# They did try again: each try is a wait of its own.
	"$walk" -q -f csv --state blocked -t "$(tid $name)" "$tmp/trace" | grep -c ";${name}_waits;" >"$tmp/tries"
	expect_at_least "$name: tries" $((2 * rounds)) "$(cat "$tmp/tries")" "$tmp/$name"
done

# CPython's global lock, while a thread computes in one call after the other, in each of which it keeps the lock.
command -v python3 >/dev/null || skip "no python3"
cat >"$tmp/lock.py" <<'END'
import ctypes, threading, time

def called(name):
    ctypes.CDLL(None).prctl(15, name, 0, 0, 0)

def hog():
    global done
    called(b"hog")
    for _ in range(6):
        sum(range(15_000_000))
    done = True

def waiter():
    called(b"waiter")
    while not done:
        time.sleep(0.001)

done = False
threads = [threading.Thread(target=waiter), threading.Thread(target=hog)]
for t in threads:
    t.start()
for t in threads:
    t.join()
END
for try in 1 2 3 4 5 6; do
	timeout 300 "$cap" -F 0 -o "$tmp/trace" -- python3 "$tmp/lock.py" 2>"$tmp/err"
	expect_exit "chaincap -- python3" 0 $?
	walk_to "$tmp/all" --state=blocked -c '^waiter$' "$tmp/trace"
	# Until the recorder knows the interpreter, the lock is a futex.
	grep -E ';\[(GIL|futex)\];' "$tmp/all" >"$tmp/folded"
	# Recorded again only where the trace has holes.
	[ "$(weight_of ';\[unknown\] ' "$tmp/folded")" -gt $(($(weight_of . "$tmp/folded") / 2)) ] &&
		[ "$(holes "$tmp/trace")" -gt 0 ] || break
	echo "note: try $try: [unknown] beside $(holes "$tmp/trace") untraced switches"
done
judge "a thread that waits for CPython's lock" "$tmp/folded" hog
