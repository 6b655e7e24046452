// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A tree of kernel stacks with hardly any room, in a real kernel: stacks that are not used any more
 * make room for others, and what is known without a walk is what a walk finds. Needs rights.
 */

#include "test.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernel/bpf_private.h"
#include "kernel/clock.h"
#include "kernel/grace.h"
#include "common/kallsyms.h"
#include "may_record.h"

#define STEPS 120 /* of which a recording on this machine takes thousands */
#define SECONDS 14
#define PHASE_MS 500

static struct bpf_session *session;
static struct kallsyms *kallsyms;
static uint64_t events;

/* How many of the frames are the tracer's own. */
static uint32_t tracer_frames(const struct wire_layout_sample *sample)
{
	struct kallsyms_symbol sym;
	uint32_t n = 0;

	while (n < sample->n && kallsyms_find(kallsyms, sample->frames[n], &sym) && sym.is_tracer)
		n++;
	return n;
}

/* As the collector does. */
static int take(void *ctx, const struct wire_record *r, size_t len)
{
	const struct wire_layout_sample *sample = (const void *)r;

	(void)ctx;
	(void)len;
	if (r->kind == WIRE_STACK_LAYOUT_SAMPLE)
		(void)bpf_session_learn(session, sample, tracer_frames(sample));
	events += r->kind < WIRE_EVENT_KINDS;
	return 0;
}

/* Sleeps and wakes by other system calls in each phase, until it is killed. */
static _Noreturn void sleep_in_turn(void)
{
	int pipes[2], sockets[2], event = eventfd(0, EFD_NONBLOCK);
	uint64_t one = 1;
	char byte = 0;

	if (pipe(pipes) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
		_exit(1);
	if (!fork()) {
		/* The other side, which ends with its parent's ends of these. */
		close(pipes[1]);
		close(sockets[1]);
		for (struct pollfd p[] = { { pipes[0], POLLIN, 0 }, { sockets[0], POLLIN, 0 } };
		     poll(p, 2, -1) > 0;)
			for (int i = 0; i < 2; i++)
				if (p[i].revents && read(p[i].fd, &byte, 1) < 1)
					_exit(0);
	}
	for (;;) {
		switch (clock_now_ns() / 1000000u / PHASE_MS % 5) {
		case 0:
			nanosleep(&(struct timespec) { .tv_nsec = 50000 }, NULL);
			break;
		case 1:
			if (write(pipes[1], &byte, 1) < 1)
				_exit(1);
			poll(NULL, 0, 1);
			break;
		case 2:
			if (write(sockets[1], &byte, 1) < 1)
				_exit(1);
			usleep(50);
			break;
		case 3:
			if (write(event, &one, 8) < 8 && read(event, &one, 8) < 8)
				_exit(1);
			poll(&(struct pollfd) { event, POLLPRI, 0 }, 1, 1);
			break;
		default:
			if (!fork())
				_exit(0);
			wait(NULL);
		}
	}
}

static void open_session(const struct bpf_options *o)
{
	char why[300] = "";

	skip_if_refused();
	assert_int_equal(bpf_session_open(&session, o, why, sizeof(why)), 0);
	assert_int_equal(kallsyms_new(&kallsyms), 0);
	assert_int_equal(kallsyms_load(kallsyms, "/proc/kallsyms"), 0);
}

static void close_session(void)
{
	bpf_session_detach(session);
	bpf_session_close(session);
	kallsyms_free(kallsyms);
}

/* Begins to record. Returns the load's pid, and when it began. */
static pid_t begin_beside_load(uint64_t *begin_ns)
{
	char why[300] = "";
	pid_t load;

	assert_int_equal(bpf_session_attach(session, why, sizeof(why)), 0);
	load = fork();
	if (!load)
		sleep_in_turn();
	*begin_ns = bpf_session_begin(session, 0);
	return load;
}

/* Plain programs know no stack without a walk. */
#define skip_if_plain()                                                                \
	do {                                                                           \
		if (bpf_session_programs(session) != BPF_USUAL) {                      \
			close_session();                                               \
			print_message("this kernel refuses the usual BPF programs\n"); \
			skip();                                                        \
		}                                                                      \
	} while (0)

/*
 * Whether the kernel measures how long BPF programs run, as interrupts.sh asks it to. It then calls
 * them from another place, so that a walk finds another one of the tracer's own frames.
 */
static bool measures_run_times(void)
{
	FILE *f = fopen("/proc/sys/kernel/bpf_stats_enabled", "re");
	int c = f ? fgetc(f) : EOF;

	if (f)
		fclose(f);
	return c == '1';
}

/* False: it was switched on or off meanwhile. */
static bool full_tree_forgets_and_stays_exact(void)
{
	struct bpf_options o = { .kernel_stacks = true, .verify = true, .buffer_size = 1 << 20 };
	struct bpf_counts before, after = { 0 };
	uint64_t begin_ns, half_ns, had = 0;
	bool measures = measures_run_times(), switched = false;
	pid_t load;

	open_session(&o);
	skip_if_plain();
	session->trie.steps_max = STEPS;
	load = begin_beside_load(&begin_ns);
	half_ns = begin_ns + SECONDS / 2 * 1000000000ull;
	while (clock_now_ns() < begin_ns + SECONDS * 1000000000ull) {
		assert_true(bpf_session_drain(session, 0, bpf_session_cpus(session), take, NULL) >=
			    0);
		assert_int_equal(bpf_session_recycle(session), 0);
		assert_true(session->trie.used <= STEPS);
		if (!had && clock_now_ns() > half_ns) {
			assert_int_equal(bpf_session_counts(session, &before), 0);
			had = bpf_session_forgotten(session);
		}
		switched |= measures_run_times() != measures;
		poll(NULL, 0, 5);
	}
	kill(load, SIGKILL);
	waitpid(load, NULL, 0);
	bpf_session_end(session);
	if (switched) {
		close_session();
		return false;
	}
	assert_int_equal(bpf_session_counts(session, &after), 0);
	print_message(
		"%llu events, %llu kernel stacks known, %llu walked, %u layouts, %llu forgotten\n",
		(unsigned long long)events, (unsigned long long)after.known,
		(unsigned long long)after.walked, bpf_session_layouts(session),
		(unsigned long long)bpf_session_forgotten(session));
	assert_true(had > 0);
	assert_true(after.verified > 1000);
	assert_int_equal(after.mismatches, 0);
	/* It does not end with what it knew first. */
	assert_true(after.known > before.known + 100);
	close_session();
	return true;
}

TEST(a_full_tree_forgets_and_stays_exact)
{
	int tries = 3;

	while (!full_tree_forgets_and_stays_exact())
		assert_true(--tries > 0);
}

/* Drains for as long, or until as much is forgotten. */
static void drain_until_forgotten(uint64_t n, uint64_t ms)
{
	uint64_t until_ns = clock_now_ns() + ms * 1000000u;

	while (bpf_session_forgotten(session) < n && clock_now_ns() < until_ns) {
		assert_true(bpf_session_drain(session, 0, bpf_session_cpus(session), take, NULL) >=
			    0);
		assert_int_equal(bpf_session_recycle(session), 0);
		poll(NULL, 0, 5);
	}
}

TEST(layouts_with_code_that_is_gone_are_forgotten)
{
	struct bpf_options o = { .kernel_stacks = true, .buffer_size = 1 << 20 };
	uint64_t begin_ns;
	uint32_t known;
	pid_t load;

	open_session(&o);
	skip_if_plain();
	load = begin_beside_load(&begin_ns);
	drain_until_forgotten(1, 3000);
	known = bpf_session_layouts(session);
	/* There is no code of the kernel. */
	bpf_session_code_gone(session, 1, 2);
	drain_until_forgotten(1, 500);
	assert_int_equal(bpf_session_forgotten(session), 0);
	bpf_session_code_gone(session, 0, UINT64_MAX);
	drain_until_forgotten(known, 20000);
	kill(load, SIGKILL);
	waitpid(load, NULL, 0);
	bpf_session_end(session);
	assert_true(known > 0);
	assert_in_range(bpf_session_forgotten(session), known, UINT64_MAX);
	close_session();
}

TEST(a_grace_period_ends)
{
	struct grace *g;
	int ms = 0;

	skip_if_refused();
	assert_int_equal(grace_new(&g), 0);
	for (int i = 0; i < 3; i++) {
		assert_true(grace_begin(g));
		for (; !grace_is_over(g) && ms < 20000; ms++)
			poll(NULL, 0, 1);
	}
	assert_true(ms < 20000);
	grace_free(g);
}
