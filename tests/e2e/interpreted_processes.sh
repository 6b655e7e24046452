#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Which processes have an interpreter: a copy of Python with another name, which only a mount namespace has; one that
# starts while recording, and those that it forks, from their first sleep on; not a program without an interpreter that
# Python runs. --no-python leaves Python's functions out.
# Beside another: it judges its own programs' stacks.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v unshare >/dev/null || skip "no unshare"
python=$(readlink -f "$(command -v /usr/bin/python3 || command -v python3)") || skip "no python3"
nm -D "$python" 2>/dev/null | grep -q ' _PyRuntime$' || skip "Python is in a library"
cat >"$tmp/family.py" <<'END'
import os
import time

def rest():
    for _ in range(25):
        time.sleep(0.02)

def child():
    rest()
    os._exit(0)

def family():
    for _ in range(3):
        pid = os.fork()
        if not pid:
            child()
        os.waitpid(pid, 0)

# Meanwhile its file is read, which takes a busy machine long.
time.sleep(2)
family()
os.execv("/bin/sleep", ["sleep", "0.5"])
END
mkdir "$tmp/mounted"
record() { # record TRACE [OPTIONS]: the family below another name
	trace=$1
	shift
	# shellcheck disable=SC2016 # by the other shell
	timeout 60 "$cap" -q "$@" -o "$trace" -- unshare --mount sh -c '
		mount -t tmpfs none "$1" && cp "$2" "$1/larder" && exec "$1/larder" "$3"' sh "$tmp/mounted" "$python" "$tmp/family.py" \
		2>"$tmp/err" || fail "$(cat "$tmp/err")"
}
record "$tmp/trace"
walk_to "$tmp/folded" -c '^larder$' -U -d 0 --no-ends "$tmp/trace"
# ms asleep in the children's functions, and without any of Python's.
awk '/;\[sleep\] [0-9]+$/ { if (/;family \(family.py:16\);child \(family.py:9\);rest \(family.py:6\)/) good += $NF; else if (!/family.py/) other += $NF }
	END { printf "%.0f %.0f\n", good / 1e6, other / 1e6 }' "$tmp/folded" >"$tmp/sums"
read -r good other <"$tmp/sums"
echo "note: asleep in functions of children for $good ms, without functions for $other ms"
expect_at_least "ms asleep in the functions of children" 1470 "$good" "$tmp/folded"
# The first sleep may have begun before that.
expect_at_most "ms asleep without Python's functions" 2200 "$other" "$tmp/folded"
walk_to "$tmp/folded" -c '^sleep$' -U -d 0 --no-ends "$tmp/trace"
grep -q 'sleep\]' "$tmp/folded" || fail "no sleep of the program that Python ran: $(cat "$tmp/folded")"
! grep -q 'family.py' "$tmp/folded" || fail "a program without an interpreter has functions of Python: $(cat "$tmp/folded")"
record "$tmp/native" --no-python
walk_to "$tmp/folded" -c '^larder$' -U -d 0 --no-ends "$tmp/native"
grep -q 'sleep\]' "$tmp/folded" || fail "no sleeps with --no-python: $(cat "$tmp/folded")"
! grep -q 'family.py' "$tmp/folded" || fail "--no-python: $(grep family.py "$tmp/folded")"
