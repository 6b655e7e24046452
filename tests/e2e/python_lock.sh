#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The lock of a Python interpreter: eight handlers wait for it while another thread, mirror, computes. It is one
# object, whichever of its words they sleep at; the lock itself says who has it; and the first screen names the lock,
# the thread and its function. Truth is what the handlers measure themselves: how much later than asked their sleeps end.
# Beside another: what counts is how the time of its own threads is shared out.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v /usr/bin/python3 >/dev/null || skip "no /usr/bin/python3"

# Of 3 s, after a time in which the recorder finds the interpreter, the threads that are judged have other names.
cat >"$tmp/service.py" <<'END_PY'
import ctypes, sys, threading, time

HANDLERS, PAUSE, LENGTH = 8, 0.01, 3.0
late = [0.0] * HANDLERS
begin = time.monotonic() + float(sys.argv[1])
end = begin + LENGTH

def called(name):
    ctypes.CDLL(None).prctl(15, name, 0, 0, 0)

def mirror():
    called(b"mirror")
    while time.monotonic() < end:
        n = 0
        for i in range(20000):
            n += i * i

def handle(number):
    called(b"handler")
    while time.monotonic() < begin:
        time.sleep(PAUSE)
    called(b"judged")
    before = time.monotonic()
    while before < end:
        time.sleep(PAUSE)
        now = time.monotonic()
        late[number] += now - before - PAUSE
        before = now
    called(b"over")

threads = [threading.Thread(target=mirror)]
threads += [threading.Thread(target=handle, args=(i,)) for i in range(HANDLERS)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(int(sum(late) * 1e6))
END_PY

# lines WHAT [OPTION...]: microseconds of the lines of the judged threads that have WHAT.
lines() {
	what=$1
	shift
	walk_to "$tmp/folded" "$@" -c '^judged$' "$tmp/trace"
	weight_of "$what" "$tmp/folded"
}

# A busy machine may find the interpreter only when all is over: then there are sleeps in it at other words.
for warm in 1 4 16; do
	timeout 120 "$cap" -o "$tmp/trace" -- /usr/bin/python3 "$tmp/service.py" $warm >"$tmp/told" 2>"$tmp/err"
	expect_exit "chaincap -- python3" 0 $?
	[ "$(lines '\[futex\]' --state=blocked)" -gt 0 ] || break
	echo "note: after $warm s the interpreter was not yet known"
done
expect_whole "$tmp/trace"
known_late=$(lines '\[futex\]' --state=blocked)
expect "sleeps in the lock, once the interpreter is known, that are at another object: ns" 0 "$known_late"

# All that makes the pauses longer: the lock, and that there is no CPU. The rest is the timers' slack, and running.
lock=$(lines '\[GIL\]')
late=$(($(cat "$tmp/told") * 1000))
no_cpu=$(lines '\[sleep\].*;\[(runnable|preempted)\]')
expect_at_least "waits for the lock and for a CPU, of what the handlers measured: ns" $((late * 4 / 5)) $((lock + no_cpu))
expect_at_most "the same" $((late * 21 / 20)) $((lock + no_cpu)) "$tmp/told"

# Whoever has it is a thread of the process, and mostly the one that computes.
"$walk" -q -f events "$tmp/trace" >"$tmp/events" 2>"$tmp/err"
sed -n 's,.* holder judged/[0-9]* waits for a lock of \([a-z0-9]*\)/.*,\1,p' "$tmp/events" | sort | uniq -c >"$tmp/holders"
expect_at_least "sleeps that say who has the lock" 50 "$(awk '{ n += $1 } END { printf "%.0f\n", n }' "$tmp/holders")" "$tmp/holders"
expect "holders of other processes" "" "$(awk '$2 !~ /^(mirror|judged|handler|over|python3)$/' "$tmp/holders")"
expect_at_least "percent of them that name mirror" 50 \
	"$(awk '$2 == "mirror" { m = $1 } { n += $1 } END { printf "%.2f\n", 100 * m / n }' "$tmp/holders")" "$tmp/holders"

# Chains go on with the one who has it, also of tries that ended by their timers and then found it free. On a busy
# machine most ends say that somebody has no CPU; of the work that is waited for most is mirror's. Now and then
# the library's condition variable loses a signal: then nobody has the lock, and all sleep until their timers expire.
blocked=$(lines '\[GIL\]' --state=blocked)
known=$((blocked - $(weight_of '\[GIL\].*;\[unknown\] ' "$tmp/folded")))
expect_at_least "what is known of the waits for the lock: ns" $((blocked / 2)) $known
expect_at_most "what only their timers ended: ns" $((known / 5)) "$(weight_of '\[GIL\].*;\[timer\] ' "$tmp/folded")"
expect_at_least "what mirror ran, of what is waited for: ns" $(($(weight_of '\[GIL\].*;\[running\][; ]' "$tmp/folded") * 2 / 3)) \
	"$(weight_of '\[GIL\].*;mirror;\[running\][; ]' "$tmp/folded")"

timeout 300 "$walk" -q -f causes -c '^judged$' "$tmp/trace" >"$tmp/all" 2>"$tmp/err"
expect_exit "chainwalk -f causes" 0 $?
head -n 24 "$tmp/all" | tr -s '\n ' ' ' >"$tmp/screen"
has ' mirror/[0-9]+ held GIL python3/[0-9]+: .* mirror \(service\.py:[0-9]+\)'
