#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs whose stacks are in odd places, whose stack pointers point anywhere, that are stopped and moved by ptrace(2),
# that share their memory or their id with others, whose memory is taken from them while they sleep, that wait for
# io_uring, that have 32 bits or are static: where the functions are known, no stack has other ones, and a program beside
# them has its chains.
. "$(dirname "$0")/lib.sh"
needs_bpf
for tool in cc nm; do
	command -v $tool >/dev/null || skip "needs $tool"
done
attacks=$(cd "$(dirname "$0")/../attacks" && pwd)
# shellcheck source=tests/odd.sh
. "$(dirname "$0")/../odd.sh"
cannot=''

attackers plain file memfd writable low high grows handler coroutine odd wild circle compat int80
# To give pages of its own to system calls takes root.
"$tmp/odd_stacks" faults >"$tmp/faults.out" 2>&1 &
ran faults $!
for what in stopped moved vfork uring; do
	attacker $what "$tmp/odd_processes" $what
done
for name in first second; do
	cc -O2 -fPIC -shared -nostdlib -DNAME=odd_$name -Wl,-z,noseparate-code -o "$tmp/$name.so" "$attacks/one_function.c" ||
		fail "cc one_function.c"
done
attacker shared "$tmp/odd_processes" shared "$tmp/first.so" "$tmp/second.so" \
	"0x$(nm "$tmp/first.so" | sed -n 's/ T odd_first//p')"
"$tmp/odd_processes" reuse "$tmp/odd_stacks" plain -- "$tmp/chainload" relay --hops pipe --rounds 1000000 --seconds 600 \
	>"$tmp/reuse.out" 2>&1 &
ran reuse $!
if cc -m32 -O2 -fno-omit-frame-pointer -fno-pic -no-pie -ffreestanding -nostdlib -static -o "$tmp/small" "$attacks/small.c" \
	2>"$tmp/err" && "$tmp/small" once >/dev/null 2>&1; then
	attacker small "$tmp/small"
else
	cannot="$cannot small"
fi
if ! cc -static-pie -O2 -std=c17 -D_GNU_SOURCE -fomit-frame-pointer -fno-optimize-sibling-calls -pthread \
	-o "$tmp/static_pie" "$attacks/../workload/chainload.c" 2>"$tmp/err"; then
	cannot="$cannot static-pie"
	cp "$load" "$tmp/static_pie"
fi
wait_for_attackers

begin_recording "$tmp/trace" --memory=200M
# The rules of this code take a moment.
timeout 120 "$load" relay --rounds 2 --hops pipe >/dev/null || fail "the relay"
"$tmp/static_pie" relay --rounds 2 --hops pipe >/dev/null || fail "the static relay"
timeout 120 "$load" relay --rounds 40 --hops pipe >"$tmp/innocent" || fail "the relay"
"$tmp/static_pie" relay --rounds 40 --hops pipe >"$tmp/static" || fail "the static relay"
end_within 30 "$tmp/trace" 200
! grep "counts differ" "$tmp/err.cap" || fail "events are missing"

judge_moving
for name in plain odd int80; do
	only $name ".*$begins;odd_naps;sleep_[a-z0-9]*(;nanosleep;clock_nanosleep)?"
done
for name in file memfd writable low high grows faults; do
	only $name ".*$begins;odd_naps;sleep_plainly;nanosleep;clock_nanosleep"
done
only handler ".*$begins;odd_raises;raise;.*;on_signal;odd_naps;sleep_plainly;nanosleep;clock_nanosleep"
only coroutine ".*;coroutine;odd_begins;odd_middle;odd_swaps;odd_naps;sleep_plainly;nanosleep;clock_nanosleep"
# The stack pointer is anything: what is there is no stack, but where the thread is, is known.
for name in wild circle; do
	eval "pid=\$pid_$name"
	is_running "$pid" || continue
	stacks "$pid"
	leaf=$([ $name = wild ] && echo sleep_anywhere || echo in_a_circle)
	! grep -v ";$leaf\$" "$tmp/stacks" || fail "$name: not in $leaf()"
done
# 32-bit code of a 64-bit program is unnamed, and its stack is not that of the 64-bit code.
eval "pid=\$pid_compat"
stacks "$pid"
! grep ';odd_' "$tmp/stacks" || fail "compat: functions of the 64-bit stack"

# Traced, they are in the same functions while they are stopped; their registers may be others' then.
only stopped ".*;make_traced;odd_begins;odd_naps;nanosleep;clock_nanosleep"
eval "pid=\$pid_moved"
if is_running "$pid"; then
	stacks "$(sed -n 's/^ready //p' "$tmp/moved.out")"
	! grep ';clock_nanosleep$' "$tmp/stacks" |
		grep -vE '^[^;]*;((((.*;)?make_traced;)?odd_begins;)?odd_naps;)?(nanosleep;)?clock_nanosleep$' || fail "moved: what it does while it is let go is something else"
fi
only uring ".*;odd_uring(;[^;]*)+|.*;odd_writes(;[^;]*)+"
walk_to "$tmp/folded" -U -d 0 --no-ends -c '^iou-' "$tmp/trace"
! grep ';' "$tmp/folded" | grep -v ';\[unknown stack\] ' || fail "workers of io_uring run no code of the program"

# A child on its parent's stack.
# shellcheck disable=SC2154 # by eval
walk_to "$tmp/folded" -U -d 0 --no-ends --no-objects --tree-of "$pid_vfork" "$tmp/trace"
grep -q ';main;odd_forks;odd_child;nanosleep;clock_nanosleep ' "$tmp/folded" || fail "vfork: no child:
$(cat "$tmp/folded")"
grep -q ';main;odd_forks;vfork' "$tmp/folded" || fail "vfork: no parent that waits: $(cat "$tmp/folded")"
! grep ';odd_' "$tmp/folded" | grep -vE ';(odd_forks;(vfork|__vfork|wait4|waitpid)|odd_child;nanosleep;clock_nanosleep)[; ]' ||
	fail "vfork: other stacks"

# What the child maps is in its parent, too, of which there is no record: neither has functions that may be others'.
# shellcheck disable=SC2154 # by eval
walk_to "$tmp/folded" -U -d 0 --no-ends --no-objects -p "$pid_shared" "$tmp/trace"
grep -q '^first;' "$tmp/folded" && grep -q '^second;' "$tmp/folded" || fail "shared: no stacks: $(cat "$tmp/folded")"
! grep -e '^first;.*;odd_second' -e '^second;.*;odd_first' "$tmp/folded" || fail "shared: functions of another library"
grep -q '^odd_processes/.*: shares its memory with another process' "$tmp/err" ||
	fail "shared: it is not said: $(cat "$tmp/err")"

# One id, two programs in turns, unless another process has been given the id meanwhile.
both=$(sed -n 's/^ready //p' "$tmp/reuse.out" | head -n 1)
# shellcheck disable=SC2154 # by eval
if is_running "$pid_reuse" && [ "$("$walk" -q -f threads -p "$both" "$tmp/trace" 2>/dev/null | grep -c -e odd_stacks -e alpha)" -ge 2 ]; then
	stacks "$both"
	! grep '^odd_stacks;' "$tmp/stacks" | grep -e ';alpha_' || fail "reuse: functions of the program that had the id before"
	! grep '^alpha;' "$tmp/stacks" | grep -e ';odd_' || fail "reuse: functions of the program that had the id after"
	for like in '^odd_stacks;.*;odd_begins;odd_middle;odd_naps;' '^alpha;.*;alpha_runs;alpha_waits;'; do
		grep -q "$like" "$tmp/stacks" || fail "reuse: no stack like $like:
$(cat "$tmp/stacks")"
	done
fi

case $names in
*small*) only small '.*;odd_middle;odd_naps' ;;
esac

# Both relays have their chains, by what they measured themselves; they may have had the same id, one after the other.
# shellcheck disable=SC2046 # numbers
set -- $(cat "$tmp/innocent" "$tmp/static" | awk '$1 == "process" { print "-p", $3 }
	$1 == "told" && $2 == "alpha" { ns += $10 }
	END { printf "%.0f\n", ns }')
walk_to "$tmp/folded" -U --no-objects -c '^alpha$' "$1" "$2" "$3" "$4" "$tmp/trace"
grep -qE '^alpha;.*;alpha_waits;read;--;write;bravo_wakes_alpha;bravo_runs;.*;bravo;' "$tmp/folded" ||
	fail "no chain of the relays:
$(cat "$tmp/folded")"
! grep ';odd_' "$tmp/folded" || fail "others' functions in the chains of the relays"
expect_near "waits of alpha in both relays" "$5" "$(weight_of ';alpha_waits;' "$tmp/folded")" 80 "$tmp/folded"
echo "note: $mib MiB"
