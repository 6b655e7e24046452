// SPDX-License-Identifier: GPL-2.0-or-later
/* A sleeping thread's memory: what is read of it, and whether it belongs to one sleep. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWN_MAIN
#include "test.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unwind/sleeping_threads.h"

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

static struct sleeping_thread sleep_of(pid_t pid)
{
	struct sleeping_thread a = { .tgid = (uint32_t)pid, .tid = (uint32_t)pid };
	char text[4096], *last;

	do {
		usleep(1000);
		read_file(pid, "syscall", text, sizeof(text));
		last = strrchr(text, ' ');
	} while (!last); /* "running" */
	a.pc = strtoull(last + 1, NULL, 16);
	*last = '\0';
	a.sp = strtoull(strrchr(text, ' ') + 1, NULL, 16);
	read_file(pid, "status", text, sizeof(text));
	a.switches = number_after(text, "\nvoluntary_ctxt_switches:") +
		     number_after(text, "\nnonvoluntary_ctxt_switches:");
	return a;
}

/* A child that sleeps, with a copy of this process's memory. */
static pid_t fork_asleep(void)
{
	pid_t pid = fork_child();

	assert_true(pid >= 0);
	if (!pid)
		for (;;)
			pause();
	return pid;
}

static void on_signal(int sig)
{
	(void)sig;
}

TEST(a_thread_that_ran_does_not_sleep_since)
{
	struct sleeping_thread before, again, elsewhere;
	uint64_t word;
	pid_t pid;

	signal(SIGUSR1, on_signal);
	pid = fork_asleep();
	before = elsewhere = sleep_of(pid);
	elsewhere.sp += 8;
	assert_int_equal(sleeping_thread_read(&before, before.sp, &word, sizeof(word)),
			 sizeof(word));
	assert_int_equal(sleeping_thread_read(&elsewhere, before.sp, &word, sizeof(word)), 0);
	kill(pid, SIGUSR1);
	do {
		again = sleep_of(pid);
	} while (again.switches == before.switches);
	/* It sleeps in the same place, but it is another sleep. */
	assert_int_equal(again.sp, before.sp);
	assert_int_equal(again.pc, before.pc);
	assert_int_equal(sleeping_thread_read(&before, before.sp, &word, sizeof(word)), 0);
	assert_int_equal(sleeping_thread_read(&again, before.sp, &word, sizeof(word)),
			 sizeof(word));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(sleeping_thread_read(&again, before.sp, &word, sizeof(word)), 0);
}

/* What is read of a child's copy of this process's memory. */
static size_t read_of_child(uint64_t addr, void *buf, size_t len)
{
	pid_t pid = fork_asleep();
	struct sleeping_thread a = sleep_of(pid);
	size_t got = sleeping_thread_read(&a, addr, buf, len);

	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return got;
}

/* What can be read of len bytes at once: pages may be larger than that. */
static size_t at_once(size_t len)
{
	return len < SLEEPING_READ_MAX ? len : SLEEPING_READ_MAX;
}

/* A page of a file can take for ever: its file system may be a process that does not answer. */
TEST(only_anonymous_memory_is_read)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *area =
		mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *shared = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int fd = open("/proc/self/exe", O_RDONLY);
	uint8_t *buf = malloc(3 * page);
	uint64_t at = (uint64_t)(uintptr_t)area;

	assert_true(fd >= 0 && buf && area != MAP_FAILED && shared != MAP_FAILED);
	memset(area, 7, 3 * page);
	shared[0] = 7;
	assert_int_equal(read_of_child(at + 8, buf, 3 * page - 8), at_once(3 * page - 8));
	assert_int_equal(buf[at_once(3 * page - 8) - 1], 7);
	assert_int_equal(read_of_child(at + page - 8, buf, 16), 16);

	assert_ptr_equal(mmap(area + page, page, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0),
			 area + page);
	/* Whether the page is in memory already, or has to be fetched. */
	assert_int_equal(read_of_child(at + 8, buf, 3 * page - 8), at_once(page - 8));
	assert_int_equal(*(volatile char *)(area + page), 0x7f);
	assert_int_equal(read_of_child(at + 8, buf, 3 * page - 8), at_once(page - 8));
	assert_int_equal(read_of_child(at + page, buf, 8), 0);
	assert_int_equal(read_of_child(at + page - 8, buf, 16), 8);
	assert_int_equal(read_of_child(at + 2 * page, buf, page), at_once(page));
	assert_int_equal(read_of_child((uint64_t)(uintptr_t)shared, buf, 8), 0);

	/* The stack pointer can be any number. */
	assert_int_equal(read_of_child(UINT64_MAX - 7, buf, 3 * page), 0);
	assert_int_equal(read_of_child(0, buf, 8), 0);
	munmap(area, 3 * page);
	munmap(shared, page);
	close(fd);
	free(buf);
}

int main(void)
{
	return cmocka_run_group_tests_name("asleep", tests, NULL, NULL);
}
