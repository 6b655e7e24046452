// SPDX-License-Identifier: GPL-2.0-or-later
/* The kernel's own records of what this test maps, forks, runs and ends. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernel/sideband.h"

enum { SEEN_MAX = 100000 };

struct seen {
	struct sideband_record *r;
	size_t n;
};

static void see(void *ctx, const struct sideband_record *r)
{
	struct seen *s = ctx;

	if (s->n == SEEN_MAX)
		return;
	s->r[s->n] = *r;
	s->r[s->n].name = strdup(r->name);
	s->n++;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct sideband *open_or_skip(uint32_t ring_bytes)
{
	struct sideband *sb;
	int err = sideband_open(&sb, ring_bytes, true);

	if (err == -EACCES || err == -EPERM) {
		print_message("perf_event_open is not permitted\n");
		skip();
	}
	assert_int_equal(err, 0);
	return sb;
}

static void begin(struct seen *s)
{
	s->n = 0;
	s->r = calloc(SEEN_MAX, sizeof(*s->r));
	assert_non_null(s->r);
}

static void end(struct seen *s)
{
	for (size_t i = 0; i < s->n; i++)
		free((void *)(uintptr_t)s->r[i].name);
	free(s->r);
}

/* The first record of that kind and process; NULL if there is none. */
static const struct sideband_record *first(const struct seen *s, enum sideband_kind kind,
					   pid_t tgid)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->r[i].kind == kind && s->r[i].tgid == (uint32_t)tgid)
			return &s->r[i];
	return NULL;
}

TEST(an_executable_mapping_is_told_with_its_time_and_file)
{
	struct sideband *sb = open_or_skip(512u << 10);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	uint64_t before = now_ns(), after;
	const struct sideband_record *r;
	struct seen s;
	struct stat st;
	char exe[4096] = { 0 };
	void *p;

	begin(&s);
	assert_int_equal(fstat(fd, &st), 0);
	assert_true(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	p = mmap(NULL, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 4096);
	assert_ptr_not_equal(p, MAP_FAILED);
	after = now_ns();
	assert_true(sideband_poll(sb, see, &s) >= after);
	r = first(&s, SIDEBAND_MMAP, getpid());
	assert_non_null(r);
	assert_int_equal(r->addr, (uint64_t)(uintptr_t)p);
	assert_int_equal(r->len, 8192);
	assert_int_equal(r->pgoff, 4096);
	assert_int_equal(r->ino, st.st_ino);
	assert_string_equal(r->name, exe);
	assert_true(r->time_ns >= before && r->time_ns <= after);
	munmap(p, 8192);
	close(fd);
	sideband_close(sb);
	end(&s);
}

TEST(who_waits_is_woken_by_an_exec)
{
	struct sideband *sb = open_or_skip(512u << 10);
	uint64_t start = now_ns();
	struct seen s;
	bool others;
	int status;
	pid_t pid;

	begin(&s);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		execl("/bin/sleep", "sleep", "10", (char *)NULL);
		_exit(1);
	}
	while (!first(&s, SIDEBAND_EXEC, pid) && now_ns() - start < 5000000000u) {
		sideband_wait(sb, 5000, &others);
		assert_false(others);
		sideband_poll(sb, see, &s);
	}
	assert_true(now_ns() - start < 4000000000u);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	sideband_close(sb);
	end(&s);
}

TEST(memory_made_executable_is_told_too_and_data_is_not)
{
	struct sideband *sb = open_or_skip(512u << 10);
	const struct sideband_record *r;
	struct seen s;
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	begin(&s);
	assert_ptr_not_equal(p, MAP_FAILED);
	sideband_poll(sb, see, &s);
	assert_null(first(&s, SIDEBAND_MMAP, getpid()));
	assert_int_equal(mprotect(p, 4096, PROT_READ | PROT_EXEC), 0);
	sideband_poll(sb, see, &s);
	r = first(&s, SIDEBAND_MMAP, getpid());
	assert_non_null(r);
	assert_string_equal(r->name, "//anon");
	munmap(p, 4096);
	sideband_close(sb);
	end(&s);
}

static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	(void)sched_setaffinity(0, sizeof(set), &set); /* with one CPU there is nothing to order */
}

/*
 * A child is forked on one CPU, runs a program on another, again and again, while the records are
 * being polled: cause always comes before effect. Threads of other processes on this machine act on
 * several CPUs at a time, and their records may be a little late: nothing depends on that.
 */
TEST(what_one_cpu_caused_on_another_comes_after_it)
{
	enum { CHILDREN = 200 };
	struct sideband *sb = open_or_skip(8u << 20);
	cpu_set_t all;
	struct seen s;
	pid_t forker;
	size_t forks = 0, execs = 0, exits = 0;
	int status;

	begin(&s);
	sched_getaffinity(0, sizeof(all), &all);
	forker = fork();
	assert_true(forker >= 0);
	if (!forker) {
		for (int i = 0; i < CHILDREN; i++) {
			pid_t child;

			run_on(0);
			child = fork();
			if (!child) {
				run_on(1);
				execl("/bin/true", "true", (char *)NULL);
				_exit(1);
			}
			while (waitpid(child, &status, 0) < 0)
				;
		}
		_exit(0);
	}
	while (waitpid(forker, &status, WNOHANG) != forker)
		sideband_poll(sb, see, &s);
	sideband_poll(sb, see, &s);
	for (size_t i = 0; i < s.n; i++) {
		const struct sideband_record *r = &s.r[i];
		uint64_t last_ns = r->time_ns;

		if (r->kind != SIDEBAND_FORK || r->parent != (uint32_t)forker ||
		    r->tgid == r->parent)
			continue;
		forks++;
		for (size_t k = 0; k < i; k++)
			assert_true(s.r[k].tgid != r->tgid);
		for (size_t k = i + 1; k < s.n; k++) {
			if (s.r[k].tgid != r->tgid)
				continue;
			assert_true(s.r[k].time_ns >= last_ns);
			last_ns = s.r[k].time_ns;
			execs += s.r[k].kind == SIDEBAND_EXEC && !strcmp(s.r[k].name, "true");
			exits += s.r[k].kind == SIDEBAND_EXIT;
		}
	}
	assert_int_equal(forks, CHILDREN);
	assert_int_equal(execs, CHILDREN);
	assert_int_equal(exits, CHILDREN);
	assert_int_equal(sideband_lost(sb), 0);
	sideband_close(sb);
	end(&s);
}

TEST(what_does_not_fit_is_counted)
{
	struct sideband *sb = open_or_skip(4096);
	cpu_set_t all, here;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	size_t told = 0, before;
	struct seen s;

	begin(&s);
	/* Each CPU has a ring of its own, and tells what was lost in that. */
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	CPU_ZERO(&here);
	CPU_SET((size_t)sched_getcpu(), &here);
	assert_int_equal(sched_setaffinity(0, sizeof(here), &here), 0);
	sideband_poll(sb, see, &s);
	before = s.n;
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 200; i++) {
			void *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

			assert_ptr_not_equal(p, MAP_FAILED);
			munmap(p, 4096);
		}
		sideband_poll(sb, see, &s);
	}
	/* The kernel tells of a loss with the next record that fits. */
	{
		void *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

		munmap(p, 4096);
	}
	sideband_poll(sb, see, &s);
	for (size_t i = before; i < s.n; i++)
		told += s.r[i].tgid == (uint32_t)getpid();
	assert_true(told < 401);
	assert_true(sideband_lost(sb) + told >= 401);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
	close(fd);
	sideband_close(sb);
	end(&s);
}
