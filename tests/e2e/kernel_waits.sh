#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What a thread waits for in the kernel is said in words where no object and no function of the program tells:
# a permission to open a file, and the lock of an address space that another thread is filling.
# Beside another: what counts is what its own threads wait for.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../services/screen.sh"
needs_usual "kernel stacks"
command -v cc >/dev/null || skip "no cc"

# "opens": a program whose files another process permits to open; its own clock on standard output. Then how often
# a thread waits for memory while another maps some.
cat >"$tmp/waits.c" <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

__attribute__((noinline)) void scan(void)
{
	static volatile unsigned long sum;
	double end = now_ms() + 10;

	while (now_ms() < end)
		for (int i = 0; i < 100000; i++)
			sum += i;
}

static void permit_all(int fan)
{
	struct fanotify_event_metadata events[8], *m;
	ssize_t n;

	prctl(PR_SET_NAME, "scanner");
	while ((n = read(fan, events, sizeof(events))) > 0)
		for (m = events; FAN_EVENT_OK(m, n); m = FAN_EVENT_NEXT(m, n)) {
			struct fanotify_response r = { .fd = m->fd, .response = FAN_ALLOW };

			scan();
			if (write(fan, &r, sizeof(r)) < 0)
				_exit(1);
			close(m->fd);
		}
	_exit(1);
}

__attribute__((noinline)) int opens(const char *path)
{
	int fan = fanotify_init(FAN_CLASS_CONTENT, O_RDONLY), child;
	double begin;

	if (fan < 0 || fanotify_mark(fan, FAN_MARK_ADD, FAN_OPEN_PERM, AT_FDCWD, path))
		return 77;
	child = fork();
	if (!child)
		permit_all(fan);
	close(fan);
	begin = now_ms();
	for (int i = 0; i < 20; i++)
		close(open(path, O_RDONLY));
	printf("waited %.0f\n", now_ms() - begin);
	kill(child, SIGKILL);
	wait(NULL);
	return 0;
}

#define BYTES (200ul << 20)

static void *fills(void *arg)
{
	prctl(PR_SET_NAME, "filler");
	for (int i = 0; i < 8; i++) {
		void *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

		munmap(p, BYTES);
	}
	return arg;
}

__attribute__((noinline)) int maps(void)
{
	double begin = now_ms();
	pthread_t t;

	pthread_create(&t, NULL, fills, NULL);
	while (now_ms() < begin + 1000) {
		void *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		munmap(p, 4096);
	}
	pthread_join(t, NULL);
	return 0;
}

int main(int argc, char **argv)
{
	return argc > 1 && !strcmp(argv[1], "opens") ? opens(argv[2]) : maps();
}
END
cc -O1 -g -o "$tmp/waits" "$tmp/waits.c" -lpthread || fail "cc"

# expect_screen WHAT PATTERN OPTION...
expect_screen() {
	what=$1 pattern=$2
	shift 2
	on_terminal "$walk -q $* $tmp/trace" | screenful >"$tmp/screen"
	grep -qE "$pattern" "$tmp/screen" || fail "$what: the first screen has no line like \"$pattern\":
$(cat "$tmp/screen")"
}

: >"$tmp/file"
timeout 300 "$cap" -o "$tmp/trace" -- "$tmp/waits" opens "$tmp/file" >"$tmp/told" 2>"$tmp/err"
status=$?
if [ $status = 77 ]; then
	echo "note: this kernel has no fanotify with permissions"
else
	expect_exit "chaincap" 0 $status
	expect_at_least "ms that opens took by the program's clock" 200 "$(awk '{ print $2 }' "$tmp/told")"
	expect_screen "opens" '^ *waits +opens +[0-9]+ %  waits for a permission by fanotify$'
	expect_screen "opens" '^ *scanner +scan +[0-9]+ %  ran'
fi

timeout 300 "$cap" -o "$tmp/trace" -- "$tmp/waits" maps 2>"$tmp/err"
expect_exit "chaincap" 0 $?
# On a busy machine threads wait for CPUs above all.
"$walk" -q -f json -c '^waits$' --blocked-stacks "$tmp/trace" >"$tmp/json"
grep -q rwsem_down "$tmp/json" || skip "no thread waited for the lock of the address space"
expect_screen "maps" 'the lock of its address space' --state blocked -c "'^waits\$'" -f causes
