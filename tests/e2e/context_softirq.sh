#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A softirq on an interrupt's way out is an interrupt. One that a thread runs itself because it sends
# over loopback TCP is that thread's doing.
# Beside another: it judges the chains and stacks of its own threads.
. "$(dirname "$0")/lib.sh"
needs_more "functions that call the C library's for sockets"
rounds=5
record_thread "$tmp/trace" "$tmp/folded" receiver timeout --rounds $rounds --sleep 20000
grep ';receiver_waits;.*;--;' "$tmp/folded" >"$tmp/waits"
all=$(weight_of . "$tmp/waits")
expect_at_least "timed out by softirqs on interrupts' way out, of $all ns" $((all * 6 / 10)) \
	"$(weight_of ';call_timer_fn;.*;(__irq_exit_rcu|irq_exit_rcu|irq_exit);.*;\[timer\] ' "$tmp/waits")" "$tmp/waits"
expect_about "all of the timeouts" $((rounds * 20000000)) "$all" "$tmp/waits"
# a timer softirq that had too much to do is passed on to ksoftirqd, which is a thread
expect "other wakers" "" "$(grep -v -e ';\[\(timer\|network\|interrupt\)\] ' -e ';ksoftirqd/[0-9]*;' "$tmp/waits")"
expect "frames of the interrupted or idle thread" "" "$(grep -e cpu_startup_entry -e swapper "$tmp/waits")"

record_thread "$tmp/trace" "$tmp/folded" alpha relay --hops tcp --rounds $rounds --work 2000
grep ';alpha_waits;.*;--;' "$tmp/folded" >"$tmp/waits"
all=$(weight_of . "$tmp/waits")
inline=$(weight_of ';--;[^-]*;(handle_softirqs|__do_softirq|__softirqentry_text_start);.*do_softirq.*;bravo_wakes_alpha;' "$tmp/waits")
expect_at_least "woken by bravo from within its send, of $all ns" $((all * 9 / 10)) "$inline" "$tmp/waits"
expect "waits of alpha that an interrupt ended by itself" "" \
	"$(sed 's/;--;/\n/2;P;D' "$tmp/waits" | grep '^alpha;.*;\[\(timer\|network\|interrupt\)\] ')"
