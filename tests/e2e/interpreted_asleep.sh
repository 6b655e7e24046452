#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Interpreted code in the stacks of threads that fell asleep before the recording: Python's in two threads, through C,
# and PHP's through a function of its own library; with line and file, which are gone by then.
# Beside another: it judges its own programs' stacks.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v python3 >/dev/null || skip "no python3"
python=$(command -v /usr/bin/python3 || command -v python3)
cat >"$tmp/kitchen.py" <<'END'
import threading
import time

def dish(n):
    if n:
        return sorted([n], key=lambda n: dish(n - 1))
    print("asleep", flush=True)
    time.sleep(3600)

def cook():
    dish(2)

thread = threading.Thread(target=cook)
thread.start()
thread.join()
END
cat >"$tmp/shop.php" <<'END'
<?php
class Cart {
	function total($n) {
		if ($n)
			return $this->total($n - 1);
		echo "asleep\n";
		return array_map(function ($s) { sleep($s); }, [3600]);
	}
}
(new Cart)->total(1);
END
"$python" "$tmp/kitchen.py" >"$tmp/python.out" &
python_pid=$!
started="$started $python_pid"
wait_for "Python's thread is asleep" 20 grep -q asleep "$tmp/python.out"
php_pid=
if command -v php >/dev/null && php -v | grep -q '^PHP 8\.2.*NTS'; then
	php "$tmp/shop.php" >"$tmp/php.out" &
	php_pid=$!
	started="$started $php_pid"
	wait_for "PHP is asleep" 20 grep -q asleep "$tmp/php.out"
fi
for pid in $python_pid $php_pid; do
	for task in "/proc/$pid/task/"*; do
		wait_for "a thread is asleep" 20 grep -q 'S (sleeping)' "$task/status"
	done
done
rm "$tmp/kitchen.py" "$tmp/shop.php"
# On a busy machine such a stack may have its leaf only: then there is nothing to judge.
whole() {
	for pid in $python_pid $php_pid; do
		walk_to "$tmp/folded" -p "$pid" -U -d 0 --no-ends --not-woken "$tmp/trace"
		grep -q __libc_start_main "$tmp/folded" || return 1
	done
}
for try in 1 2 3; do
	begin_recording "$tmp/trace"
	sleep $((try * 2))
	end_recording
	whole && break
done
whole || fail "the stacks of threads that are asleep are not whole: $(cat "$tmp/folded")"

# frames PID: the frames of interpreted code of its threads, each thread's in a line, the root first.
frames() {
	walk_to "$tmp/folded" -p "$1" -U -d 0 --no-ends --not-woken "$tmp/trace"
	awk -F ';' '{ line = ""; for (i = 2; i <= NF; i++) if ($i ~ /\(.*:[0-9]+\)/) { f = $i; sub(/ [0-9]+$/, "", f); line = line ";" f } print substr(line, 2) }' "$tmp/folded" | sort
}

frames "$python_pid" >"$tmp/frames"
grep -q 'cook (kitchen.py:11);dish (kitchen.py:6);.*dish.<locals>.<lambda> (kitchen.py:6);dish (kitchen.py:6);.*lambda> (kitchen.py:6);dish (kitchen.py:8)$' \
	"$tmp/frames" || fail "Python's thread: $(cat "$tmp/frames" "$tmp/folded")"
grep -q '^<module> (kitchen.py:15);Thread.join (threading.py:' \
	"$tmp/frames" || fail "Python's main thread: $(cat "$tmp/frames" "$tmp/folded")"
[ "$php_pid" ] || skip "no PHP 8.2: Python's threads are right"
frames "$php_pid" >"$tmp/frames"
grep -q '^<main> (shop.php:10);Cart::total (shop.php:5);Cart::total (shop.php:7);.*Cart::{closure} (shop.php:7)' \
	"$tmp/frames" || fail "PHP: $(cat "$tmp/frames" "$tmp/folded")"
