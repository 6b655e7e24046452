#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A timer's interrupt hits a thread that is busy on that CPU, in a deep recursion: the interrupt is the waker, the
# bystander and its frames do not appear.
# Beside another: it judges the chains and stacks of its own threads.
. "$(dirname "$0")/lib.sh"
needs_bpf
own=waits
! is_plain || own=runs # frame pointers pass over who calls the C library
rounds=10
record_thread "$tmp/trace" "$tmp/folded" sleeper bystander --rounds $rounds --sleep 10000
grep -q ";sleeper_$own;" "$tmp/folded" || fail "no wait with its functions: $(cat "$tmp/folded")"
grep '^sleeper;' "$tmp/folded" | grep -e nanosleep -e '\[preempted\]' >"$tmp/waits"
timer=$(weight_of ';hrtimer_wakeup;.*;\[timer\] ' "$tmp/waits")
expect_about "woken by the timer's interrupt" $((rounds * 10000000)) "$timer" "$tmp/waits"
expect "other ends than the interrupt and waiting for the bystander's CPU" "" \
	"$(grep -v -e ';\[timer\] ' -e ';\[runnable\] ' -e ';\[preempted\] ' "$tmp/waits")"
expect "frames of the bystander" "" "$(grep bystander "$tmp/folded")"

# It did hit the bystander: the waking's own line says in whom.
"$walk" -q --format=events "$tmp/trace" >"$tmp/events" 2>"$tmp/err"
expect_exit "chainwalk --format=events" 0 $?
expect_at_least "wakings that hit the bystander" 1 \
	"$(grep -c "waking bystander/[0-9]* -> sleeper/" "$tmp/events")"
