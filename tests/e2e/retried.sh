#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Locks and conditions that are waited for 5 or 100 ms at a time: whoever ends the last try explains all of them.
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
for try_us in 5000 100000; do
	# While the holder works there are some tries. Of a trace with holes more may be [unknown] than judge allows.
	for try in 1 2 3 4 5 6; do
		record "$tmp/trace" retries --sleep $try_us --work $((try_us < 50000 ? 60000 : 320000)) --rounds $rounds
		for name in locker watcher; do
			walk_to "$tmp/all" --state=blocked -t "$(tid $name)" "$tmp/trace"
			grep ";${name}_waits;" "$tmp/all" >"$tmp/$name" || fail "$name: no waits
$(cat "$tmp/all")"
		done
		cat "$tmp/locker" "$tmp/watcher" >"$tmp/folded"
		[ "$(weight_of ';\[unknown\] ' "$tmp/folded")" -gt $(($(weight_of . "$tmp/folded") / 4)) ] &&
			[ "$(holes "$tmp/trace")" -gt 0 ] || break
		echo "note: try $try: [unknown] beside $(holes "$tmp/trace") untraced switches"
	done
	for name in locker watcher; do
		judge $name "$tmp/$name" holder
		# They did try again: each try is a wait of its own.
		"$walk" -q -f csv --state blocked -t "$(tid $name)" "$tmp/trace" | grep -c ";${name}_waits;" >"$tmp/tries"
		expect_at_least "$name: tries" $((2 * rounds)) "$(cat "$tmp/tries")" "$tmp/$name"
	done
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

# A queue of which a thread wants an element, 100 ms at a time, until another one has made it; beside it one that does
# something every 100 ms until it is told to end, which nobody keeps waiting.
cat >"$tmp/elements.py" <<'END'
import ctypes, queue, threading, time

def called(name):
    ctypes.CDLL(None).prctl(15, name, 0, 0, 0)

def consumer():
    called(b"consumer")
    waited = 0
    for _ in range(3):
        began = time.monotonic_ns()
        while True:
            try:
                elements.get(timeout=0.1)
                break
            except queue.Empty:
                pass
        waited += time.monotonic_ns() - began
        time.sleep(0.02)
    print(waited)

def ticker():
    global ticks
    called(b"ticker")
    while not ended.wait(0.1):
        ticks += 1

elements, ended, ticks = queue.Queue(), threading.Event(), 0
threads = [threading.Thread(target=consumer), threading.Thread(target=ticker)]
for t in threads:
    t.start()
for i in range(3):
    time.sleep(0.28)
    elements.put(i)
time.sleep(0.3)
ended.set()
for t in threads:
    t.join()
END
for try in 1 2 3 4 5 6; do
	waited=$(timeout 300 "$cap" -F 0 -o "$tmp/trace" -- python3 "$tmp/elements.py" 2>"$tmp/err")
	expect_exit "chaincap -- python3" 0 $?
	walk_to "$tmp/folded" --state=blocked -c '^consumer$' "$tmp/trace"
	walk_to "$tmp/ticks" --state=blocked -c '^ticker$' "$tmp/trace"
	[ "$(holes "$tmp/trace")" -gt 0 ] && grep -q ';\[unknown\] ' "$tmp/folded" "$tmp/ticks" || break
	echo "note: try $try: [unknown] beside $(holes "$tmp/trace") untraced switches"
done
# A fifth is for tries after which the thread was kept off its CPU, or looked too long for one.
expect_at_least "a queue: what the producer made the consumer wait for" $((waited * 4 / 5)) \
	"$(weight_of ';\[futex\];.*;--;.*;python3;' "$tmp/folded")" "$tmp/folded"
# The last tick is cut short; it may have been a long one.
expect_at_most "a thread that only ticks: what it waited for others" 200000000 \
	"$(weight_of ';--;.*;python3;' "$tmp/ticks")" "$tmp/ticks"
