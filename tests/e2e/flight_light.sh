#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A light flight recorder takes the user stacks of threads that sleep on when it writes a trace: also of those that went
# to sleep long before the window begins.
. "$(dirname "$0")/lib.sh"
needs_bpf
fly "$tmp/trace" -F 0 --flight 1s --light 1ms
"$load" relay --rounds 1 >"$tmp/told" || fail "chainload relay"
SETTLE_MS=1000 "$load" deadlock --seconds 600 >"$tmp/told" &
started="$started $!"
wait_for "the deadlock's threads" 10 grep -q '^thread pollux' "$tmp/told"
sleep 3.5
kill -USR1 $recorder
wait_for "a trace on SIGUSR1" 20 written "$tmp/trace"
expect_whole "$tmp/trace"
walk_to "$tmp/folded" --state=all -t "$(tid castor)" -t "$(tid pollux)" "$tmp/trace"
for name in castor:castor_wants_polluxs_lock pollux:pollux_wants_castors_lock; do
	grep -q "^${name%:*};.*thread_main;${name%:*}_runs;${name#*:};[^;]*;\[futex\];-;.*futex_wait.*;\[not woken\] 1000000000\$" \
		"$tmp/folded" || fail "${name%:*}: expected one wait of a second in ${name#*:}, got
$(cat "$tmp/folded")"
done
kill -TERM $recorder
wait $recorder
expect_exit "chaincap --flight --light, ended by SIGTERM" 0 $?
