// SPDX-License-Identifier: GPL-2.0-or-later
/* What the recorder frees does not stay with it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memory.h"

#define STACKS 2000
#define STACK_BYTES 24000
#define SECOND_NS 1000000000ull

static void skip_if_sanitized(void)
{
#ifdef __SANITIZE_ADDRESS__
	print_message("AddressSanitizer has a malloc() of its own\n");
	skip();
#endif
}

static size_t anonymous_bytes(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];
	size_t kib = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f) && sscanf(line, "RssAnon: %zu", &kib) != 1)
		;
	fclose(f);
	assert_true(kib > 0);
	return kib << 10;
}

/* Stacks wait for rules, and other tables grow meanwhile. */
static void a_burst_is_given_back(void **state)
{
	static void *stacks[STACKS], *others[STACKS];
	size_t before = anonymous_bytes(), most;
	uint64_t last_ns = 100 * SECOND_NS;

	(void)state;
	skip_if_sanitized();
	for (int i = 0; i < STACKS; i++) {
		stacks[i] = malloc(STACK_BYTES);
		others[i] = malloc(100);
		assert_true(stacks[i] && others[i]);
		memset(stacks[i], 1, STACK_BYTES);
	}
	for (int i = 0; i < STACKS; i++)
		free(stacks[i]);
	most = anonymous_bytes();
	assert_in_range(most - before, STACKS * STACK_BYTES * 9 / 10, SIZE_MAX);
	memory_give_back(&last_ns, 109 * SECOND_NS);
	assert_int_equal(last_ns, 100 * SECOND_NS);
	assert_in_range(anonymous_bytes(), most - (1 << 20), SIZE_MAX);
	memory_give_back(&last_ns, 110 * SECOND_NS);
	assert_int_equal(last_ns, 110 * SECOND_NS);
	/* Of the six pages of each, one is shared with what lies beside it. */
	assert_in_range(anonymous_bytes(), 0, before + (most - before) / 4);
	for (int i = 0; i < STACKS; i++)
		free(others[i]);
}

/* As a table of kernel functions is, when it is read anew. */
static void large_arrays_stay_out_of_the_heap(void **state)
{
	void *volatile p;
	size_t mapped;

	(void)state;
	skip_if_sanitized();
	p = malloc(16 << 20);
	free(p);
	mapped = mallinfo2().hblks;
	p = malloc(256 << 10);
	assert_non_null(p);
	assert_int_equal(mallinfo2().hblks, mapped + 1);
	free(p);
	assert_int_equal(mallinfo2().hblks, mapped);
}

#define CHANGED_BYTES ((size_t)32 << 20)

/* A process that writes a trace shares most pages with the recorder: what it has changed counts. */
static void what_a_fork_changes_counts(void **state)
{
	uint64_t before, with_fork;
	char *bytes, byte;
	int pipe_ends[2];
	pid_t fork_pid;

	(void)state;
	skip_if_sanitized();
	bytes = malloc(CHANGED_BYTES);
	assert_non_null(bytes);
	memset(bytes, 1, CHANGED_BYTES);
	before = memory_share(NULL, 1 << 30, 0);
	assert_in_range(before, CHANGED_BYTES, CHANGED_BYTES + (64 << 20));
	assert_int_equal(pipe(pipe_ends), 0);
	fork_pid = fork();
	assert_true(fork_pid >= 0);
	if (!fork_pid) {
		memset(bytes, 2, CHANGED_BYTES / 2);
		if (write(pipe_ends[1], bytes, 1) == 1)
			pause();
		_exit(1);
	}
	assert_int_equal(read(pipe_ends[0], &byte, 1), 1);
	with_fork = memory_share(NULL, 1 << 30, fork_pid);
	kill(fork_pid, SIGKILL);
	assert_int_equal(waitpid(fork_pid, NULL, 0), fork_pid);
	assert_in_range(with_fork - before, CHANGED_BYTES / 2, CHANGED_BYTES);
	close(pipe_ends[0]);
	close(pipe_ends[1]);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* While there is nothing free in the heap. */
		cmocka_unit_test(large_arrays_stay_out_of_the_heap),
		cmocka_unit_test(a_burst_is_given_back),
		cmocka_unit_test(what_a_fork_changes_counts),
	};

	memory_begin();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
