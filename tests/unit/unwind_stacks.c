// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * User stacks by call frame information: processes of our own, asleep in libc in various ways, are
 * unwound from a copy of their stack, and by libdwfl, which has nothing of ours in it.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <alloca.h>
#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helper/helper.h"
#include "may_record.h"
#include "stopped_thread.h"
#include "unwind/rule.h"
#include "unwind/rules.h"
#include "unwind/unwind.h"
#include "watched_child.h"

/* ---- what the processes do ----------------------------------------------------------------- */

static volatile int sink;

__attribute__((noinline)) static void sleep_in_libc(void)
{
	char c;

	while (read(STDIN_FILENO, &c, 1) < 0)
		;
	sink++;
}

__attribute__((noinline)) static void recurse(int n)
{
	if (n)
		recurse(n - 1);
	else
		sleep_in_libc();
	sink++;
}

static int compare(const void *a, const void *b)
{
	recurse(3);
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static void through_qsort(void)
{
	int numbers[] = { 3, 1, 2 };

	qsort(numbers, 3, sizeof(numbers[0]), compare);
	sink++;
}

__attribute__((noinline)) static void with_alloca(void)
{
	char *p = alloca((size_t)(1000 + sink));

	memset(p, 1, 1000);
	recurse(2);
	sink += p[5];
}

__attribute__((noinline)) static void with_realigned_frame(void)
{
	_Alignas(64) volatile char buf[64] = { 0 };

	recurse(1);
	sink += buf[1];
}

static void on_signal(int sig)
{
	(void)sig;
	recurse(2);
}

__attribute__((noinline)) static void in_signal_handler(void)
{
	struct sigaction sa = { .sa_handler = on_signal };

	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
	sink++;
}

static void *thread_main(void *arg)
{
	through_qsort();
	return arg;
}

__attribute__((noinline)) static void in_thread(void)
{
	pthread_t t;

	pthread_create(&t, NULL, thread_main, NULL);
	pthread_join(t, NULL);
	sink++;
}

__attribute__((noreturn, noinline)) static void never_returns(void)
{
	sleep_in_libc();
	_exit(0);
}

static void deep(void)
{
	recurse(200);
}

/* ---- ours ---------------------------------------------------------------------------------- */

struct fixture {
	struct encoder *enc;
	struct helpers *helpers;
	struct symbolizer *sym;
	struct unwinder *u;
	struct wire_copy copy;
	struct wire_stack stack;
	struct reference reference;
	uint64_t taught; /* rules for addresses */
	pid_t child;	 /* to be ended: it has descriptors of the readers */
};

static struct fixture fixture;

static int swallow(void *ctx, const void *block, size_t len)
{
	(void)ctx;
	(void)block;
	(void)len;
	return 0;
}

static void on_rule(void *ctx, uint64_t key, uint64_t rule)
{
	struct fixture *f = ctx;
	uint64_t look = f->copy.look;
	bool of_line = false;

	assert_true(key && (rule & 0xff) != WIRE_RULE_UNKNOWN);
	for (uint64_t at = look - RULES_WINDOW; at < look + RULES_WINDOW; at += WIRE_RULE_LINE)
		of_line |= key == wire_rule_line_key(f->copy.space, at);
	f->taught += !of_line;
}

static int setup(void **state)
{
	struct fixture *f = &fixture;

	*f = (struct fixture) { 0 };
	if (helpers_start(&f->helpers, HELPERS_NO_RIGHTS))
		return -1;
	assert_int_equal(encoder_new(&f->enc, swallow, NULL), 0);
	assert_int_equal(symbolizer_new(&f->sym, f->enc, SYMBOLIZER_USER), 0);
	*state = f;
	return unwinder_new(&f->u, f->sym, f->helpers, on_rule, f);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	if (f->child) {
		kill(f->child, SIGKILL);
		waitpid(f->child, NULL, 0);
	}
	unwinder_free(f->u);
	symbolizer_free(f->sym);
	encoder_free(f->enc);
	helpers_free(f->helpers);
	return 0;
}

/*
 * Completes the copy, on a busy machine at the second try: rules may come too late for the first,
 * and what that has taught does not count.
 */
static void complete(struct fixture *f)
{
	uint64_t taught = f->taught;
	int err = -EAGAIN;

	for (int i = 0; err == -EAGAIN && i < 5000; i++) {
		if (i)
			usleep(2000);
		f->taught = taught;
		err = unwinder_complete(f->u, &f->copy, sizeof(f->copy), &f->stack);
	}
	assert_int_equal(err, 0);
}

/* Both unwind a child that runs fn: its first thread, or the second. */
static int unwind_child(struct fixture *f, void (*fn)(void), bool second)
{
	int pipes[2], status, end;
	pid_t pid, tid;

	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (!pid) {
		dup2(pipes[0], STDIN_FILENO);
		fn();
		_exit(0);
	}
	tid = wait_until_asleep(pid, second);
	stop_thread(tid);
	copy_thread(&f->copy, pid, tid);
	end = unwind_by_libdwfl(pid, tid, &f->reference);
	symbolizer_poll(f->sym);
	complete(f);
	kill(pid, SIGKILL);
	/* A thread that is traced is its tracer's to wait for, before the others. */
	if (tid != pid)
		waitpid(tid, &status, __WALL);
	waitpid(pid, &status, __WALL);
	close(pipes[0]);
	close(pipes[1]);
	return end;
}

static void expect_same(struct fixture *f, unsigned int n)
{
	if (f->stack.n != n)
		print_message("%u frames by libdwfl, %u by us\n", n, f->stack.n);
	assert_int_equal(f->stack.n, n);
	for (unsigned int i = 0; i < n; i++) {
		assert_int_equal(wire_address(f->stack.frames[i]), f->reference.pc[i]);
		/*
		 * Whether the leaf is one is up to who copies the stack. libdwfl says so of the
		 * trampoline, too, to whose first byte a signal's handler returns.
		 */
		if (i && (i + 1 >= n || !f->reference.is_exact[i + 1]))
			assert_int_equal(wire_is_exact(f->stack.frames[i]),
					 f->reference.is_exact[i]);
	}
}

static void expect_whole(struct fixture *f, void (*fn)(void), bool second)
{
	uint64_t taught = f->taught;

	assert_int_equal(unwind_child(f, fn, second), 0);
	expect_same(f, f->reference.n);
	assert_int_equal(f->stack.end, CHAINLOG_STACK_WHOLE);
	assert_int_equal(f->taught - taught, f->stack.n);
}

/* ---- tests --------------------------------------------------------------------------------- */

static void a_stack_through_libc_is_whole(void **state)
{
	expect_whole(*state, through_qsort, false);
}

static void frames_of_variable_size_are_followed(void **state)
{
	expect_whole(*state, with_alloca, false);
	expect_whole(*state, with_realigned_frame, false);
}

static void what_a_signal_interrupted_is_found(void **state)
{
#if defined(__aarch64__)
	struct fixture *f = *state;

	/* libdwfl does not get through the vDSO of arm64, which has no call frame information. */
	unwind_child(f, in_signal_handler, false);
	assert_int_equal(f->stack.end, CHAINLOG_STACK_WHOLE);
	assert_true(f->stack.n > f->reference.n);
#else
	expect_whole(*state, in_signal_handler, false);
#endif
}

static void a_call_may_be_a_functions_last_instruction(void **state)
{
	expect_whole(*state, never_returns, false);
}

static void a_thread_ends_where_it_was_cloned(void **state)
{
	expect_whole(*state, in_thread, true);
}

static void a_stack_of_too_many_frames_is_cut(void **state)
{
	struct fixture *f = *state;

	unwind_child(f, deep, false);
	assert_int_equal(f->stack.end, CHAINLOG_STACK_DEPTH);
	expect_same(f, WIRE_STACK_MAX);
}

static void a_stack_beyond_the_copy_is_cut_and_says_so(void **state)
{
	struct fixture *f = *state;

	unwind_child(f, through_qsort, false);
	f->copy.len = 200;
	complete(f);
	assert_int_equal(f->stack.end, CHAINLOG_STACK_UNREADABLE);
	assert_true(f->stack.n > 1 && f->stack.n < f->reference.n);
	expect_same(f, f->stack.n);
}

#if defined(__x86_64__)
/* read(2) as Go and musl have it: no frame, and nothing that describes one. */
long read_by_stub(int fd, void *buf, size_t len);
__asm__(".text\n"
	".type read_by_stub, @function\n"
	"read_by_stub:\n"
	"\txor %eax, %eax\n"
	"\tsyscall\n"
	"\tret\n"
	".size read_by_stub, . - read_by_stub\n");

static void in_a_stub(void)
{
	char byte;

	sink += (int)read_by_stub(STDIN_FILENO, &byte, 1);
}

/* Else its caller is missing in all later stacks. */
static void a_stub_whose_return_address_is_unreadable_teaches_nothing(void **state)
{
	struct fixture *f = *state;
	uint64_t taught;
	uint32_t len;

	unwind_child(f, in_a_stub, false);
	taught = f->taught;
	len = f->copy.len;
	f->copy.len = 0;
	complete(f);
	assert_int_equal(f->stack.end, CHAINLOG_STACK_UNREADABLE);
	assert_int_equal(f->stack.n, 1);
	assert_int_equal(f->taught, taught);
	f->copy.len = len;
	complete(f);
	assert_true(f->stack.n > 2);
	/* It has 43 bytes, and with the sanitizers' checks 222. */
	assert_in_range(f->stack.frames[1], (uintptr_t)in_a_stub, (uintptr_t)in_a_stub + 250);
	assert_true(f->taught > taught);
}
#endif

/* How many context switches it has made. */
static uint64_t switches_of(pid_t pid)
{
	unsigned long long n, sum = 0;
	char path[40], line[200];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "voluntary_ctxt_switches: %llu", &n) == 1 ||
		    sscanf(line, "nonvoluntary_ctxt_switches: %llu", &n) == 1)
			sum += n;
	fclose(f);
	return sum;
}

/*
 * The pc of a thread in a system call. On arm64 it was at the call itself while it was stopped, as
 * the kernel has set it back for the call to be made again.
 */
static uint64_t pc_of(pid_t pid)
{
	char path[40], line[200] = "", *last;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	fclose(f);
	last = strrchr(line, ' ');
	assert_non_null(last);
	return strtoull(last, NULL, 16);
}

/* It may be where it was, but have come there by another way. */
static void beyond_the_copy_only_a_thread_is_read_that_has_not_run_since(void **state)
{
	struct fixture *f = *state;
	uint32_t whole;
	int pipes[2];
	pid_t pid;

	assert_int_equal(pipe(pipes), 0);
	f->child = pid = fork();
	if (!pid) {
		dup2(pipes[0], STDIN_FILENO);
		through_qsort();
		_exit(0);
	}
	wait_until_asleep(pid, false);
	stop_thread(pid);
	copy_thread(&f->copy, pid, pid);
	assert_int_equal(ptrace(PTRACE_DETACH, pid, NULL, NULL), 0);
	wait_until_asleep(pid, false);
	f->copy.switches = switches_of(pid);
	f->copy.frames[0] = f->copy.regs[UNWIND_PC] = pc_of(pid);
	f->copy.look = f->copy.frames[0] - 1;
	complete(f);
	whole = f->stack.n;
	assert_int_equal(f->stack.end, CHAINLOG_STACK_WHOLE);
	f->copy.len = 200;
	complete(f);
	assert_int_equal(f->stack.end, CHAINLOG_STACK_WHOLE);
	assert_int_equal(f->stack.n, whole);
	f->copy.switches--;
	complete(f);
	assert_int_equal(f->stack.end, CHAINLOG_STACK_UNREADABLE);
	assert_in_range(f->stack.n, 1, whole - 1);
	close(pipes[0]);
	close(pipes[1]);
}

static void what_is_no_code_is_no_frame(void **state)
{
	struct fixture *f = *state;

	skip_if_refused(); /* what is mapped is told by perf_event_open() */
	unwind_child(f, through_qsort, false);
	memset(f->copy.words, 0x5a, sizeof(f->copy.words));
	complete(f);
	assert_int_equal(f->stack.end, CHAINLOG_STACK_NO_RULE);
	expect_same(f, 1);
}

/* Copies the stack of a child that runs the file, and ends the child. */
static void copy_child_of(struct fixture *f, const char *path)
{
	struct child c = start_child(path, NULL);

	wait_until_asleep(c.pid, false);
	stop_thread(c.pid);
	copy_thread(&f->copy, c.pid, c.pid);
	assert_int_equal(unwind_by_libdwfl(c.pid, c.pid, &f->reference), 0);
	kill(c.pid, SIGKILL);
	end_child(&c);
}

/* It has rules, which nobody knows any more, and no frame pointers maybe. */
static void in_a_file_that_was_gone_too_soon_nothing_is_guessed(void **state)
{
	struct fixture *f = *state;
	char path[64];

	skip_if_refused(); /* what is mapped is told by perf_event_open() */
	copy_self(path);
	copy_child_of(f, path);
	unlink(path);
	symbolizer_poll(f->sym);
	complete(f);
	assert_int_equal(f->stack.end, CHAINLOG_STACK_NO_RULE);
	/* libc's frames, and the one that they say is in the file. */
	assert_true(f->stack.n > 1 && f->stack.n < f->reference.n);
	expect_same(f, f->stack.n);
}

/* As a library of containers, of which the first one ends too soon. */
static void a_file_that_was_missing_has_rules_when_it_is_mapped_again(void **state)
{
	struct fixture *f = *state;
	char path[64], elsewhere[80];

	skip_if_refused(); /* what is mapped is told by perf_event_open() */
	copy_self(path);
	snprintf(elsewhere, sizeof(elsewhere), "%s.elsewhere", path);
	copy_child_of(f, path);
	assert_int_equal(rename(path, elsewhere), 0);
	symbolizer_poll(f->sym);
	complete(f);
	assert_int_equal(f->stack.end, CHAINLOG_STACK_NO_RULE);
	assert_int_equal(rename(elsewhere, path), 0);
	copy_child_of(f, path);
	symbolizer_poll(f->sym);
	complete(f);
	unlink(path);
	assert_int_equal(f->stack.end, CHAINLOG_STACK_WHOLE);
	expect_same(f, f->reference.n);
}

/* Above any pid that Linux gives. */
#define NOBODY 10000001u

static void a_stack_of_an_unknown_process_is_cut_and_teaches_nothing(void **state)
{
	struct fixture *f = *state;
	uint64_t taught;

	unwind_child(f, never_returns, false);
	taught = f->taught;
	f->copy.tgid = NOBODY;
	f->copy.tid = 0;
	/* What ends a stack by the ABI, where there is no rule. */
	f->copy.regs[UNWIND_FP] = 0;
	complete(f);
	assert_int_equal(f->stack.end, CHAINLOG_STACK_NO_RULE);
	assert_int_equal(f->stack.n, 1);
	assert_int_equal(f->taught, taught);
}

static void a_record_that_is_none_is_refused(void **state)
{
	struct fixture *f = *state;

	unwind_child(f, never_returns, false);
	assert_int_equal(unwinder_complete(f->u, &f->copy, 100, &f->stack), -EBADMSG);
	assert_int_equal(unwinder_complete(f->u, &f->copy,
					   offsetof(struct wire_copy, words) + f->copy.len - 1,
					   &f->stack),
			 -EBADMSG);
	f->copy.n = WIRE_STACK_MAX + 1;
	assert_int_equal(unwinder_complete(f->u, &f->copy, sizeof(f->copy), &f->stack), -EBADMSG);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_stack_through_libc_is_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(frames_of_variable_size_are_followed, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_a_signal_interrupted_is_found, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_call_may_be_a_functions_last_instruction, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_thread_ends_where_it_was_cloned, setup, teardown),
		cmocka_unit_test_setup_teardown(a_stack_of_too_many_frames_is_cut, setup, teardown),
		cmocka_unit_test_setup_teardown(a_stack_beyond_the_copy_is_cut_and_says_so, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			beyond_the_copy_only_a_thread_is_read_that_has_not_run_since, setup,
			teardown),
#if defined(__x86_64__)
		cmocka_unit_test_setup_teardown(
			a_stub_whose_return_address_is_unreadable_teaches_nothing, setup, teardown),
#endif
		cmocka_unit_test_setup_teardown(what_is_no_code_is_no_frame, setup, teardown),
		cmocka_unit_test_setup_teardown(in_a_file_that_was_gone_too_soon_nothing_is_guessed,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_file_that_was_missing_has_rules_when_it_is_mapped_again, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_stack_of_an_unknown_process_is_cut_and_teaches_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(a_record_that_is_none_is_refused, setup, teardown),
	};

	if (argc == 2 && !strcmp(argv[1], "child"))
		return be_child();
	return cmocka_run_group_tests_name("unwind", tests, NULL, NULL);
}
