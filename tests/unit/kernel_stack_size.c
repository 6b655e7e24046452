// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The size of kernel stacks, as the BPF side finds it, is what the kernel counts for those of
 * threads (KernelStack in proc_meminfo(5)). Needs rights.
 */

#include "test.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kernel/bpf_private.h"
#include "may_record.h"

/* So many that those which begin or end on a machine in use meanwhile do not matter. */
#define THREADS 1000

static pthread_barrier_t begin, end;

static void *wait_for_all(void *arg)
{
	pthread_barrier_wait(&begin);
	pthread_barrier_wait(&end);
	return arg;
}

/* In all of the machine. Each CPU keeps a part of the sum to itself until it is asked. */
static uint64_t stacks_kib(void)
{
	int fd = open("/proc/sys/vm/stat_refresh", O_WRONLY | O_CLOEXEC);
	FILE *f = fopen("/proc/meminfo", "re");
	unsigned long long kib = 0;
	char line[100];

	if (fd >= 0) {
		assert_int_equal(write(fd, "1", 1), 1);
		close(fd);
	}
	assert_non_null(f);
	while (fgets(line, sizeof(line), f) && sscanf(line, "KernelStack: %llu kB", &kib) != 1)
		;
	fclose(f);
	return kib;
}

/* Of a thread's stack, bytes: a power of two. */
static uint64_t counted_size(void)
{
	static pthread_t threads[THREADS];
	uint64_t before = stacks_kib(), bytes, size = 1024;
	pthread_attr_t attr;

	pthread_barrier_init(&begin, NULL, THREADS + 1);
	pthread_barrier_init(&end, NULL, THREADS + 1);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, (size_t)sysconf(_SC_THREAD_STACK_MIN));
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], &attr, wait_for_all, NULL), 0);
	pthread_barrier_wait(&begin);
	bytes = (stacks_kib() - before) * 1024 / THREADS;
	pthread_barrier_wait(&end);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	while (size * 3 / 2 < bytes)
		size *= 2;
	print_message("%llu bytes for each of %d threads\n", (unsigned long long)bytes, THREADS);
	return size;
}

TEST(it_is_what_the_kernel_counts)
{
	struct bpf_options o = { .kernel_stacks = true };
	struct bpf_session *session;
	char why[300] = "";

	skip_if_refused();
	assert_int_equal(bpf_session_open(&session, &o, why, sizeof(why)), 0);
	if (bpf_session_programs(session) == BPF_PLAIN) {
		bpf_session_close(session);
		print_message("this kernel refuses the usual BPF programs\n");
		skip();
	}
	assert_int_equal(session->skel->data->stack_size, counted_size());
	bpf_session_close(session);
}
