// SPDX-License-Identifier: GPL-2.0-or-later
/* A sleeping thread's memory: what is read of it, and whether it belongs to one sleep. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unwind/asleep.h"

static void read_file(pid_t pid, const char *file, char *text, size_t size)
{
	char path[48];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	n = read(fd, text, size - 1);
	assert_true(n > 0);
	text[n] = '\0';
	close(fd);
}

static uint64_t number_after(const char *text, const char *label)
{
	const char *at = strstr(text, label);

	assert_non_null(at);
	return strtoull(at + strlen(label), NULL, 10);
}

struct sleep {
	uint64_t sp, pc, switches;
};

static struct sleep sleep_of(pid_t pid)
{
	char text[4096], *last;
	struct sleep s;

	do {
		usleep(1000);
		read_file(pid, "syscall", text, sizeof(text));
		last = strrchr(text, ' ');
	} while (!last); /* "running" */
	s.pc = strtoull(last + 1, NULL, 16);
	*last = '\0';
	s.sp = strtoull(strrchr(text, ' ') + 1, NULL, 16);
	read_file(pid, "status", text, sizeof(text));
	s.switches = number_after(text, "\nvoluntary_ctxt_switches:") +
		     number_after(text, "\nnonvoluntary_ctxt_switches:");
	return s;
}

static void on_signal(int sig)
{
	(void)sig;
}

static void a_thread_that_ran_does_not_sleep_since(void **state)
{
	struct sleep before, again;
	uint32_t id;
	pid_t pid;

	(void)state;
	signal(SIGUSR1, on_signal);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		for (;;)
			pause();
	id = (uint32_t)pid;
	before = sleep_of(pid);
	assert_true(asleep_at(id, id, before.sp, before.pc));
	assert_true(asleep_since(id, id, before.sp, before.pc, before.switches));
	assert_false(asleep_since(id, id, before.sp + 8, before.pc, before.switches));
	kill(pid, SIGUSR1);
	do {
		again = sleep_of(pid);
	} while (again.switches == before.switches);
	/* It sleeps in the same place, but it is another sleep. */
	assert_int_equal(again.sp, before.sp);
	assert_int_equal(again.pc, before.pc);
	assert_true(asleep_at(id, id, before.sp, before.pc));
	assert_false(asleep_since(id, id, before.sp, before.pc, before.switches));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_false(asleep_since(id, id, again.sp, again.pc, again.switches));
}

/* A page of a file can take for ever: its file system may be a process that does not answer. */
static void only_anonymous_memory_is_read(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *area =
		mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *shared = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int fd = open("/proc/self/exe", O_RDONLY);
	uint8_t *buf = malloc(3 * page);
	uint64_t at = (uint64_t)(uintptr_t)area;
	struct asleep_memory m;

	(void)state;
	assert_true(fd >= 0 && buf && area != MAP_FAILED && shared != MAP_FAILED);
	memset(area, 7, 3 * page);
	shared[0] = 7;
	assert_int_equal(asleep_open(&m, (uint32_t)getpid()), 0);
	assert_int_equal(asleep_read(&m, at + 8, buf, 3 * page - 8), 3 * page - 8);
	assert_int_equal(buf[3 * page - 9], 7);
	assert_int_equal(asleep_read(&m, at + page - 8, buf, 16), 16);

	assert_ptr_equal(mmap(area + page, page, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0),
			 area + page);
	/* Whether the page is there already, or has to be fetched. */
	assert_int_equal(asleep_read(&m, at + 8, buf, 3 * page - 8), page - 8);
	assert_int_equal(*(volatile char *)(area + page), 0x7f);
	assert_int_equal(asleep_read(&m, at + 8, buf, 3 * page - 8), page - 8);
	assert_int_equal(asleep_read(&m, at + page, buf, 8), 0);
	assert_int_equal(asleep_read(&m, at + page - 8, buf, 16), 8);
	assert_int_equal(asleep_read(&m, at + 2 * page, buf, page), page);
	assert_int_equal(asleep_read(&m, (uint64_t)(uintptr_t)shared, buf, 8), 0);

	/* The stack pointer can be any number. */
	assert_int_equal(asleep_read(&m, UINT64_MAX - 7, buf, 3 * page), 0);
	assert_int_equal(asleep_read(&m, 0, buf, 8), 0);
	asleep_close(&m);
	munmap(area, 3 * page);
	munmap(shared, page);
	close(fd);
	free(buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_that_ran_does_not_sleep_since),
		cmocka_unit_test(only_anonymous_memory_is_read),
	};

	return cmocka_run_group_tests_name("asleep", tests, NULL, NULL);
}
