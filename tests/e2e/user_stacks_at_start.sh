#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A thread that fell asleep before the recording, and sleeps through it, has its whole user stack:
# the one that a debugger's unwinder (eu-stack) finds. Also in a process of another user, in a
# container, with more stack than one copy holds, and in the flight recorder. A thread that was
# asleep, and has run since, has no frames of another sleep.
# Beside another: it compares stacks of its own processes, which sleep.
. "$(dirname "$0")/lib.sh"
needs_bpf
command -v eu-stack >/dev/null || skip "no eu-stack (elfutils)"
command -v python3 >/dev/null || skip "no python3"
command -v cc >/dev/null || skip "no C compiler"
compare=$(dirname "$0")/../stacks/compare.py

cat >"$tmp/sleepers.c" <<'END'
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#define FUNCTION static __attribute__((noinline, noclone))
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int ends[2];
static volatile int after; /* written after each call, so that none is a tail call */

FUNCTION void cond_inner(void)
{
	pthread_mutex_lock(&mutex);
	pthread_cond_wait(&never, &mutex);
	after++;
}

FUNCTION void cond_outer(void)
{
	cond_inner();
	after++;
}

static void *cond_thread(void *arg)
{
	prctl(PR_SET_NAME, "in-cond");
	cond_outer();
	after++;
	return arg;
}

FUNCTION void read_inner(void)
{
	char byte;

	after += (int)read(ends[0], &byte, 1);
}

FUNCTION void read_outer(void)
{
	volatile char large[40000];

	large[0] = 1;
	read_inner();
	after += large[0];
}

static void *read_thread(void *arg)
{
	prctl(PR_SET_NAME, "in-read");
	read_outer();
	after++;
	return arg;
}

FUNCTION void deep(int n)
{
	if (n)
		deep(n - 1);
	else
		pause();
	after++;
}

static void *deep_thread(void *arg)
{
	prctl(PR_SET_NAME, "in-deep");
	deep(60);
	after++;
	return arg;
}

FUNCTION void signal_inner(void)
{
	sigset_t set;
	int signal;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	sigwait(&set, &signal);
	after++;
}

int main(void)
{
	void *(*const threads[])(void *) = { cond_thread, read_thread, deep_thread };
	pthread_t thread;

	if (pipe(ends))
		return 1;
	for (int i = 0; i < 3; i++)
		if (pthread_create(&thread, NULL, threads[i], NULL))
			return 1;
	signal_inner();
	after++;
	return 0;
}
END
chmod 755 "$tmp"
cc -O2 -fomit-frame-pointer -pthread -o "$tmp/sleepers" "$tmp/sleepers.c" 2>"$tmp/err"
expect_exit "cc sleepers.c" 0 $?

# Each waits in the process whose number is in $!.
begin() {
	"$@" >/dev/null 2>&1 &
	started="$started $!"
}
begin "$tmp/sleepers"
pids=$!
begin setpriv --reuid 65534 --regid 65534 --clear-groups "$tmp/sleepers"
pids="$pids $!"
threads=12
if unshare --mount --pid --fork --mount-proc true 2>"$tmp/err"; then
	begin unshare --mount --pid --fork --mount-proc --kill-child chroot / "$tmp/sleepers"
	wait_for "the container begins" 20 pgrep -P $! sleepers
	contained=$(pgrep -P $! sleepers)
	# In a chroot /proc/PID/maps has the paths of another mount namespace from the real root on.
	if grep -q " $tmp/sleepers$" "/proc/$contained/maps"; then
		pids="$pids $contained"
		threads=16
	else
		echo "note: without a process in a container, whose files eu-stack cannot find here"
	fi
else
	echo "note: without a process in a container: $(cat "$tmp/err")"
fi
begin python3 -c '
import select, threading, time
for i in range(3):
    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
select.select([], [], [], 1000)'
pids="$pids $!"
sleep 1 # until they are asleep
# shellcheck disable=SC2086 # a list of words
python3 "$compare" ask "$tmp/truth" $pids || fail "cannot ask eu-stack"
sleep 0.5 # until they are asleep again

# judge TRACE: the stacks of all of these in the trace are those of eu-stack.
judge() {
	timeout 300 "$walk" -q --native -U -d 0 --all --not-woken -f json "$1" >"$tmp/json" 2>"$tmp/err"
	expect_exit "chainwalk -f json" 0 $?
	python3 "$compare" judge "$tmp/truth" json "$tmp/json" >"$tmp/compared" 2>&1
	read -r _ seen _ recorded _ _ _ same _ <<END
$(grep '^threads ' "$tmp/compared")
END
	echo "note: $1: $(grep '^threads ' "$tmp/compared")"
	expect "threads that eu-stack sees" $threads "$seen"
	expect "recorded threads in $1" $threads "$recorded"
	expect "stacks in $1 that equal eu-stack's
$(cat "$tmp/compared")" $threads "$same"
}

"$cap" -v -o "$tmp/trace" 1 >"$tmp/told" 2>"$tmp/err"
expect_exit "chaincap" 0 $?
judge "$tmp/trace"
for pid in ${pids% *}; do
	walk_to "$tmp/folded" -p "$pid" "$tmp/trace"
	for chain in 'in-cond;.*;cond_thread;cond_outer;cond_inner;.*;\[not woken\] ' \
		'in-read;.*;read_thread;read_outer;read_inner;.*;\[not woken\] ' \
		'in-deep;.*;deep_thread;deep;deep;.*;\[not woken\] ' \
		'sleepers;.*;main;signal_inner;.*;\[not woken\] '; do
		grep -q "^$chain" "$tmp/folded" || fail "process $pid: no chain like $chain
$(cat "$tmp/folded")"
	done
done

# A recording that is over before all stacks have been looked at has them, too.
"$cap" -o "$tmp/short" -- true >"$tmp/told" 2>"$tmp/err"
expect_exit "chaincap -- true" 0 $?
judge "$tmp/short"

fly "$tmp/flight" --flight=10s
sleep 1
end_recording
judge "$tmp/flight"

# Threads that sleep and run by turns: a stack is of one sleep, or cut. Both sleeps have the same
# registers, so the memory of the next one would show red() in the kernel's poll.
cat >"$tmp/movers.c" <<'END'
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FUNCTION static __attribute__((noinline, noclone))
static const struct timespec delay = { .tv_nsec = 1000000 };
static volatile int after;

FUNCTION void red(void)
{
	syscall(SYS_nanosleep, &delay, NULL, 0);
	after++;
}

FUNCTION void blue(void)
{
	syscall(SYS_poll, NULL, 0, 1);
	after++;
}

static void *move(void *arg)
{
	for (;;) {
		red();
		blue();
	}
	return arg;
}

int main(void)
{
	pthread_t thread;

	for (int i = 0; i < 99; i++)
		if (pthread_create(&thread, NULL, move, NULL))
			return 1;
	move(NULL);
}
END
cc -O2 -fomit-frame-pointer -pthread -o "$tmp/movers" "$tmp/movers.c" 2>"$tmp/err"
expect_exit "cc movers.c" 0 $?
begin "$tmp/movers"
mover=$!
sleep 0.3
for try in 1 2 3; do
	"$cap" -o "$tmp/moved" 0.2 >"$tmp/told" 2>"$tmp/err"
	expect_exit "chaincap" 0 $?
	walk_to "$tmp/folded" -d 0 -p $mover "$tmp/moved"
	if grep -E ';blue;.*nanosleep|;red;.*poll' "$tmp/folded"; then
		fail "try $try: a stack of two sleeps"
	fi
	expect_at_least "sleeps by nanosleep" 1 "$(grep -c ';red;.*nanosleep' "$tmp/folded")" "$tmp/folded"
	expect_at_least "sleeps by poll" 1 "$(grep -c ';blue;.*poll' "$tmp/folded")" "$tmp/folded"
done
