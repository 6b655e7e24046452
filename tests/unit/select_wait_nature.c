// SPDX-License-Identifier: GPL-2.0-or-later
/* --no-idle, --ended and what looks like a deadlock: told from a sleep's stack and its outcome. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>

#include "select/wait_nature.h"
#include "synth_script.h"

/* The lines of A's waits with --no-idle. */
static void busy(const char *script, const char *expected)
{
	struct options o = script_options(101);

	o.no_idle = true;
	o.parts = PART_BLOCKED;
	expect_text(script_folded(script, &o), expected);
}

/* A is a proxy that asks its upstream B, which reads from a disk, and waits for the answer. */
static void a_client_that_waits_for_its_upstream_is_not_idle(void **state)
{
	(void)state;
	busy("0    c0 - R > A\n"
	     "0    c1 - R > C\n"
	     "10   c0 A S > - schedule;do_epoll_wait\n"
	     "20   c2 - R > B\n"
	     "30   c2 B S > - schedule;do_epoll_wait\n"
	     "100  c1 C wakes A request\n" /* C was not asked */
	     "100  c0 - R > A\n"
	     "110  c0 A wakes B send\n"
	     "111  c2 - R > B\n"
	     "120  c0 A S > - schedule;do_epoll_wait\n"
	     "130  c2 B wakes A write_space;recv\n" /* B has read the question */
	     "130  c0 - R > A\n"
	     "140  c0 A S > - schedule;do_epoll_wait\n"
	     "200  c2 B D > - schedule;read\n"
	     "500  c3 - wakes B done;asm_common_interrupt\n"
	     "500  c2 - R > B\n"
	     "600  c2 B wakes A answer\n"
	     "600  c0 - R > A\n"
	     "end 1000\n",
	     "A;do_epoll_wait;schedule;--;answer;B;--;done;asm_common_interrupt;[interrupt] 300\n"
	     "A;do_epoll_wait;schedule;--;answer;B;[running] 160\n"
	     "A;do_epoll_wait;schedule;--;write_space;recv;B;[running] 10\n");
}

static void an_answer_may_come_to_another_thread_of_the_process(void **state)
{
	(void)state;
	/* D, of A's process, asks B. */
	busy("thread A S/P\n"
	     "thread D R/P\n"
	     "thread P R\n"
	     "0    c1 - R > D\n"
	     "0    c2 - R > B\n"
	     "5    c2 B S > - schedule;do_epoll_wait\n"
	     "10   c3 - wakes A timer;asm_sysvec_apic_timer_interrupt\n"
	     "10   c0 - R > A\n"
	     "20   c0 A S > - schedule;do_epoll_wait\n"
	     "110  c1 D wakes B send\n"
	     "110  c2 - R > B\n"
	     "400  c2 B wakes A answer\n"
	     "400  c0 - R > A\n"
	     "end 1000\n",
	     "A;[unknown stack];--;timer;asm_sysvec_apic_timer_interrupt;[interrupt] 10\n"
	     "A;do_epoll_wait;schedule;--;answer;B;--;send;D;[running] 90\n"
	     "A;do_epoll_wait;schedule;--;answer;B;[running] 290\n");
}

static void an_event_loop_without_an_answer_is_idle(void **state)
{
	(void)state;
	/* A timer, and a request of C, whom nobody of A's process had asked anything. */
	busy("0    c0 - R > A\n"
	     "0    c1 - R > C\n"
	     "50   c1 C S > - read\n"
	     "60   c2 - wakes C timer;asm_sysvec_apic_timer_interrupt\n"
	     "60   c1 - R > C\n"
	     "100  c0 A S > - schedule;do_epoll_wait\n"
	     "200  c3 - wakes A timer;asm_sysvec_apic_timer_interrupt\n"
	     "200  c0 - R > A\n"
	     "300  c0 A S > - schedule;do_epoll_wait\n"
	     "400  c1 C wakes A request\n"
	     "400  c0 - R > A\n"
	     "end 1000\n",
	     "");
}

static void who_is_never_woken_is_idle_but_for_locks(void **state)
{
	(void)state;
	busy("thread A S futex_wait|pthread_cond_wait;pool_take;main\nend 1000\n", "");
	busy("thread A S anon_pipe_read|read;main\nend 1000\n", "");
	busy("thread A S futex_wait|__lll_lock_wait;pthread_mutex_lock;work;main\nend 1000\n",
	     "A;main;work;pthread_mutex_lock;__lll_lock_wait;-;futex_wait;[not woken] 1000\n");
	busy("thread A D schedule;io_schedule;folio_wait_bit|read;main\nend 1000\n",
	     "A;main;read;-;folio_wait_bit;io_schedule;schedule;[not woken] 1000\n");
	busy("thread A D schedule;kthread\nend 1000\n", "");
}

static void a_deadlock_is_known_by_its_lock(void **state)
{
	static const struct {
		const char *stack;
		bool stuck;
	} cases[] = {
		{ "S futex_wait|__lll_lock_wait;pthread_mutex_lock;f", true },
		{ "S futex_wait|std::mutex::lock;f", true },
		{ "S schedule;locks_lock_inode_wait;flock_lock|flock", true },
		{ "S rt_mutex_schedule;rt_mutex_slowlock_block;f|f", true },
		{ "D schedule;f", true },
		{ "S futex_wait|pthread_cond_wait;slave_deadlock_handler", false },
		{ "S futex_wait|pthread_cond_wait;with_lock", false },
		{ "S schedule;block_on;clock_nanosleep;unlock", false },
		{ "S futex_wait|wait;queue_take;worker;lock", false },
		{ "S schedule;worker_thread;kthread", false },
	};
	char script[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct synth *m;
		struct trace *t;
		struct timelines *tl;
		struct kernel_stacks *k;
		const struct wait *w;

		snprintf(script, sizeof(script), "thread A %s\nend 1000\n", cases[i].stack);
		m = script_made(script);
		t = synth_open(m);
		kernel_stacks_new(&k, t);
		assert_int_equal(timelines_new(&tl, t), 0);
		w = &timelines_thread(tl, 0)->waits[0];
		if (wait_looks_stuck(tl, k, w) != cases[i].stuck)
			fail_msg("stuck is wrong for %s", cases[i].stack);
		timelines_free(tl);
		kernel_stacks_free(k);
		trace_close(t);
		synth_free(m);
	}
}

static void ended_leaves_out_who_nobody_woke(void **state)
{
	static const char script[] = "0   c0 - R > A\n"
				     "0   c1 - R > B\n"
				     "100 c0 A S > - recv\n"
				     "300 c1 B wakes A send\n"
				     "300 c0 - R > A\n"
				     "400 c0 A S > - recv\n"
				     "end 1000\n";
	struct options o = script_options(101);

	(void)state;
	expect_text(script_folded(script, &o), "A;recv;--;send;B;[running] 200\n"
					       "A;recv;[not woken] 600\n");
	o.ended = true;
	expect_text(script_folded(script, &o), "A;recv;--;send;B;[running] 200\n");
	expect_text(script_formatted(script, &o, "hist"),
		    "        msecs                  : count     distribution\n"
		    "        0.000 -> 0.001         : 0        |                                   "
		    "     |\n"
		    "        0.002 -> 0.003         : 0        |                                   "
		    "     |\n"
		    "        0.004 -> 0.007         : 0        |                                   "
		    "     |\n"
		    "        0.008 -> 0.015         : 0        |                                   "
		    "     |\n"
		    "        0.016 -> 0.031         : 0        |                                   "
		    "     |\n"
		    "        0.032 -> 0.063         : 0        |                                   "
		    "     |\n"
		    "        0.064 -> 0.127         : 0        |                                   "
		    "     |\n"
		    "        0.128 -> 0.255         : 1        "
		    "|****************************************|\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_client_that_waits_for_its_upstream_is_not_idle),
		cmocka_unit_test(an_answer_may_come_to_another_thread_of_the_process),
		cmocka_unit_test(an_event_loop_without_an_answer_is_idle),
		cmocka_unit_test(who_is_never_woken_is_idle_but_for_locks),
		cmocka_unit_test(a_deadlock_is_known_by_its_lock),
		cmocka_unit_test(ended_leaves_out_who_nobody_woke),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
