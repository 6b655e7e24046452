// SPDX-License-Identifier: GPL-2.0-or-later
/* The views beside chains: json, wakers, --view wakeup, --no-idle; headings of trees. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/kernel_functions.h"
#include "fold/fold.h"
#include "words/kernel_stacks.h"
#include "base/json_object.h"
#include "synth_script.h"

static void gives(const char *script, const struct options *o, const char *format,
		  const char *expected)
{
	expect_text(script_formatted(script, o, format), expected);
}

/* ---- json ----------------------------------------------------------------------------------- */

static void a_wait_as_json(void **state)
{
	struct options o = script_options(101);

	(void)state;
	o.parts = PART_BLOCKED | PART_RUNNABLE | PART_PREEMPTED;
	gives(script_chain, &o, "json",
	      "{\"tid\":101,\"pid\":101,\"name\":\"A\",\"start\":100000,\"wake\":900000,"
	      "\"end\":930000,\"kind\":\"sleep\",\"state\":\"S\",\"flags\":[],\"blocked\":800000,"
	      "\"runnable\":30000,\"preempted\":0,"
	      "\"stack\":{\"user\":[\"umain\",\"usleep\"],\"kernel\":[\"ksys\",\"ksleep\"]},"
	      "\"pieces\":[{\"links\":[{\"name\":\"B\",\"tid\":102,\"pid\":102,"
	      "\"context\":\"task\",\"stack\":{\"user\":[\"usend\"],\"kernel\":[\"ksend\","
	      "\"kwake\"]}}],\"end\":\"running\",\"ns\":400000},"
	      "{\"links\":[{\"name\":\"B\",\"tid\":102,\"pid\":102,\"context\":\"task\","
	      "\"stack\":{\"user\":[\"usend\"],\"kernel\":[\"ksend\",\"kwake\"]}},"
	      "{\"name\":null,\"tid\":null,\"pid\":null,\"context\":\"interrupt\","
	      "\"handler\":\"hrtimer_wakeup\",\"stack\":{\"user\":[],\"kernel\":["
	      "\"asm_sysvec_apic_timer_interrupt\",\"__hrtimer_run_queues\",\"hrtimer_wakeup\","
	      "\"try_to_wake_up\"]}}],\"end\":\"timer\",\"ns\":400000},"
	      "{\"links\":[],\"end\":\"runnable\",\"ns\":30000}]}\n"
	      "{\"tid\":101,\"pid\":101,\"name\":\"A\",\"start\":950000,\"wake\":null,"
	      "\"end\":970000,\"kind\":\"preempted\",\"state\":\"R\",\"flags\":[],\"blocked\":0,"
	      "\"runnable\":0,\"preempted\":20000,"
	      "\"stack\":{\"user\":[\"upre\"],\"kernel\":[\"kpre\"]},"
	      "\"pieces\":[{\"links\":[],\"end\":\"preempted\",\"ns\":20000}]}\n"
	      "{\"tid\":101,\"pid\":101,\"name\":\"A\",\"start\":1000000,\"wake\":null,"
	      "\"end\":2000000,\"kind\":\"sleep\",\"state\":\"S\","
	      "\"flags\":[\"not_woken\",\"still\"],\"blocked\":1000000,\"runnable\":0,"
	      "\"preempted\":0,"
	      "\"stack\":{\"user\":[\"umain\",\"usleep\"],\"kernel\":[\"ksys\",\"ksleep\"]},"
	      "\"pieces\":[{\"links\":[],\"end\":\"not woken\",\"ns\":1000000}]}\n");
}

static void json_shows_what_options_ask_for(void **state)
{
	struct options o = script_options(101);

	(void)state;
	o.parts = PART_BLOCKED;
	o.from_ns = 650000;
	o.to_ns = 750000;
	o.user = false;
	o.blocked_stacks = true;
	/* 650..700 is B's sleep, 700..750 its work; the times of the wait itself are not cut. */
	gives(script_chain, &o, "json",
	      "{\"tid\":101,\"pid\":101,\"name\":\"A\",\"start\":100000,\"wake\":900000,"
	      "\"end\":930000,\"kind\":\"sleep\",\"state\":\"S\",\"flags\":[],\"blocked\":100000,"
	      "\"runnable\":0,\"preempted\":0,\"stack\":{\"kernel\":[\"ksys\",\"ksleep\"]},"
	      "\"pieces\":[{\"links\":[{\"name\":\"B\",\"tid\":102,\"pid\":102,"
	      "\"context\":\"task\",\"stack\":{\"kernel\":[\"ksend\",\"kwake\"]}}],"
	      "\"end\":\"running\",\"ns\":50000},"
	      "{\"links\":[{\"name\":\"B\",\"tid\":102,\"pid\":102,\"context\":\"task\","
	      "\"stack\":{\"kernel\":[\"ksend\",\"kwake\"]}},"
	      "{\"name\":null,\"tid\":null,\"pid\":null,\"context\":\"interrupt\","
	      "\"handler\":\"hrtimer_wakeup\",\"stack\":{\"kernel\":["
	      "\"asm_sysvec_apic_timer_interrupt\",\"__hrtimer_run_queues\",\"hrtimer_wakeup\","
	      "\"try_to_wake_up\"]},\"blocked_stack\":{\"kernel\":[\"klock\"]}}],"
	      "\"end\":\"timer\",\"ns\":50000}]}\n");
}

static void top_gives_the_longest_waits_of_all_threads(void **state)
{
	struct options o;
	char *text;

	(void)state;
	options_init(&o);
	o.top = 2;
	o.depth = 0;
	text = script_formatted(script_chain, &o, "json");
	/* 1000 us of A that does not end, then its 830 us; B's 400 us are not among the two. */
	char *second = strchr(text, '\n');

	assert_non_null(second);
	assert_non_null(strstr(text, "\"start\":1000000,"));
	assert_true(strstr(text, "\"start\":1000000,") < second);
	assert_non_null(strstr(second, "\"start\":100000,"));
	assert_string_equal(strchr(second + 1, '\n'), "\n");
	free(text);
}

static void strings_are_json_whatever_their_bytes(void **state)
{
	static const struct {
		const char *raw, *json;
	} cases[] = {
		{ "", "\"\"" },
		{ "plain name/0:1;x", "\"plain name/0:1;x\"" },
		{ "q\"b\\s/", "\"q\\\"b\\\\s/\"" },
		{ "\n\t\x1b[2J\x01\x7f", "\"\\u000a\\u0009\\u001b[2J\\u0001\\u007f\"" },
		{ "\xc2\x9b"
		  "2J",
		  "\"\\u009b2J\"" }, /* a C1 control character */
		{ "\xc3\xa4\xe2\x82\xac", "\"\xc3\xa4\xe2\x82\xac\"" },
		{ "\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\"" },
		{ "\xff\xfe", "\"\\ufffd\\ufffd\"" },
		{ "\xc3", "\"\\ufffd\"" }, /* cut */
		{ "\xe2\x82", "\"\\ufffd\\ufffd\"" },
		{ "\xc0\xaf", "\"\\ufffd\\ufffd\"" }, /* overlong */
		{ "\xe0\x80\x80", "\"\\ufffd\\ufffd\\ufffd\"" },
		{ "\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"" },	    /* a surrogate */
		{ "\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"" }, /* beyond U+10FFFF */
		{ "\xf8\x88\x80\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\"" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct text_buf b = { 0 };

		json_string(&b, cases[i].raw);
		assert_string_equal(b.p, cases[i].json);
		text_free(&b);
	}
}

static void hostile_names_in_json(void **state)
{
	struct options o = script_options(101);

	(void)state;
	o.kernel = false;
	gives("0   c0 - R > A\n"
	      "10  c0 A renames-to \"}\xff\x1b]\n"
	      "100 c0 A S > - |f\"\xc3\n"
	      "end 1000\n",
	      &o, "json",
	      "{\"tid\":101,\"pid\":101,\"name\":\"\\\"}\\ufffd\\u001b]\",\"start\":100000,"
	      "\"wake\":null,\"end\":1000000,\"kind\":\"sleep\",\"state\":\"S\","
	      "\"flags\":[\"not_woken\",\"still\"],\"blocked\":900000,\"runnable\":0,"
	      "\"preempted\":0,\"stack\":{\"user\":[\"f\\\"\\ufffd\"]},"
	      "\"pieces\":[{\"links\":[],\"end\":\"not woken\",\"ns\":900000}]}\n");
}

/* ---- wakers --------------------------------------------------------------------------------- */

static void who_wakes_whom(void **state)
{
	struct options o;

	(void)state;
	options_init(&o);
	gives(script_chain, &o, "wakers",
	      "WAKER                       TARGET               COUNT         BLOCKED         "
	      "LONGEST\n"
	      "[not woken]                 A                        1           1.000        "
	      "   1.000\n"
	      "B                           A                        1           0.800         "
	      "  0.800\n"
	      "[interrupt] hrtimer_wakeup  B                        1           0.400         "
	      "  0.400\n"
	      "all of them                                          3           2.200        "
	      "   1.000\n"
	      "(times in ms; 3 pairs)\n");
	o.top = 1;
	o.unit = UNIT_NS;
	gives(script_lengths, &o, "wakers",
	      "WAKER             TARGET               COUNT         BLOCKED         LONGEST\n"
	      "C                 B                        1            9000            9000\n"
	      "[other]                                    3            5999            3000\n"
	      "all of them                                4           14999            9000\n"
	      "(times in ns; 2 pairs)\n");
}

static void handlers_of_interrupts(void **state)
{
	static const struct {
		const char *stack, *handler;
	} cases[] = {
		{ "try_to_wake_up;hrtimer_wakeup;__hrtimer_run_queues;hrtimer_interrupt",
		  "hrtimer_wakeup" },
		{ "try_to_wake_up;process_timeout;call_timer_fn;run_timer_softirq;handle_softirqs",
		  "process_timeout" },
		{ "try_to_wake_up;complete;blk_done_softirq;handle_softirqs;common_interrupt",
		  "blk_done_softirq" },
		{ "kick_pool;vring_interrupt;__handle_irq_event_percpu;handle_edge_irq;"
		  "asm_common_interrupt",
		  "vring_interrupt" },
		{ "wake;tcp_v4_rcv;virtnet_poll;__napi_poll;net_rx_action;handle_softirqs",
		  "virtnet_poll" },
		{ "f;tasklet_action_common.isra.0;__do_softirq", "f" },
		/* Nobody's handler: the softirq code itself wakes ksoftirqd. */
		{ "try_to_wake_up;handle_softirqs;common_interrupt", "handle_softirqs" },
		{ "try_to_wake_up;something;asm_sysvec_unheard_of", "asm_sysvec_unheard_of" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct synth *m = synth_new();
		uint32_t stack = synth_kstack(m, cases[i].stack);
		struct kernel_stacks *k;
		struct trace *t;
		uint32_t frame;

		synth_switch(m, 0, 1, 101, 'S', 0, cases[i].stack);
		synth_end(m, 10);
		t = synth_open(m);
		kernel_stacks_new(&k, t);
		frame = irq_handler(k, stack, UINT32_MAX);
		assert_true(frame);
		assert_string_equal(trace_string(t, trace_frame(t, frame)->symbol),
				    cases[i].handler);
		assert_int_equal(irq_handler(k, stack, 0), 0);
		kernel_stacks_free(k);
		trace_close(t);
		synth_free(m);
	}
}

/* ---- --view wakeup -------------------------------------------------------------------------- */

static void wakers_stacks_only(void **state)
{
	struct options o;

	(void)state;
	options_init(&o);
	o.view = VIEW_WAKEUP;
	gives(script_chain, &o, "folded",
	      "B;usend;-;ksend;kwake;A 800\n"
	      "[interrupt];asm_sysvec_apic_timer_interrupt;__hrtimer_run_queues;hrtimer_wakeup;"
	      "try_to_wake_up;B 400\n"
	      "[not woken];A 1000\n");
	o.no_delim = o.annotate = true;
	o.top = 2;
	gives(script_chain, &o, "folded",
	      "B_[w];usend_[w];ksend_[w];kwake_[w];A 800\n[not woken];A 1000\n"
	      "[other] 400\n");
	o.no_delim = o.annotate = false;
	o.user = false;
	o.parts = PART_BLOCKED;
	gives(script_chain, &o, "folded", "B;ksend;kwake;A 800\n[not woken];A 1000\n[other] 400\n");
}

/* ---- --no-idle ------------------------------------------------------------------------------ */

static void only_who_waits_at_the_top_of_its_loop_is_idle(void **state)
{
	static const struct {
		const char *stack;
		bool idle;
	} cases[] = {
		{ "__schedule;schedule;worker_thread;kthread;ret_from_fork", true },
		{ "worker_thread;kthread", true }, /* as taken from a thread that sleeps */
		{ "__schedule;schedule;io_schedule;folio_wait_bit;process_one_work;worker_thread",
		  false },
		{ "__schedule;schedule;schedule_timeout;rcu_gp_fqs_loop;rcu_gp_kthread", true },
		{ "__schedule;schedule;smpboot_thread_fn;kthread", true },
		{ "__schedule;schedule;kswapd;kthread", true },
		{ "__schedule;schedule;schedule_timeout;balance_pgdat;kswapd;kthread", false },
		{ "__schedule;schedule;schedule_hrtimeout_range_clock;do_epoll_wait;do_syscall_64",
		  false }, /* it depends on what ends it */
		{ "__schedule;schedule;schedule_timeout;__skb_wait_for_more_packets;unix_accept",
		  true },
		{ "__schedule;schedule;schedule_timeout;__skb_wait_for_more_packets;"
		  "__unix_dgram_recvmsg",
		  false },
		{ "__schedule;schedule;futex_do_wait;futex_wait", false },
		{ "__schedule;schedule;do_nanosleep;hrtimer_nanosleep", false },
		{ "__schedule;schedule;anon_pipe_read;vfs_read", false },
		{ "__schedule;schedule", false },
		{ "worker_threads_are_not;kthread", false },
		{ "kcompactd.part.0;kthread", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct synth *m = synth_new();
		uint32_t stack = synth_kstack(m, cases[i].stack);
		struct kernel_stacks *k;
		struct trace *t;

		synth_switch(m, 0, 1, 101, 'S', 0, cases[i].stack);
		synth_end(m, 10);
		t = synth_open(m);
		kernel_stacks_new(&k, t);
		if (!!(kernel_stack_wait_flags(k, stack) & KFUNC_AWAITS_WORK) != cases[i].idle)
			fail_msg("idle is wrong for %s", cases[i].stack);
		assert_int_equal(kernel_stack_wait_flags(k, 0), 0);
		kernel_stacks_free(k);
		trace_close(t);
		synth_free(m);
	}
}

static void idle_waits_are_left_out_and_counted(void **state)
{
	static const char script[] = "0   c0 - R > A\n"
				     "0   c1 - R > B\n"
				     "100 c0 A S > - schedule;do_epoll_wait\n"
				     "300 c1 B wakes A w\n"
				     "310 c0 - R > A\n"
				     "400 c0 A S > - schedule;futex_do_wait\n"
				     "500 c1 B wakes A w\n"
				     "500 c0 - R > A\n"
				     "550 c0 A R > - do_epoll_wait\n"
				     "560 c0 - R > A\n"
				     "end 1000\n";
	struct options o = script_options(101);
	struct synth *m = script_made(script);
	struct trace *t = synth_open(m);
	struct timelines *tl;
	struct fold *fold;
	struct chain_summary s;

	(void)state;
	o.no_idle = true;
	o.parts = PART_BLOCKED | PART_RUNNABLE | PART_PREEMPTED;
	expect_text(trace_folded(t, &o), "A;do_epoll_wait;[preempted] 10\n"
					 "A;do_epoll_wait;schedule;[runnable] 10\n"
					 "A;futex_do_wait;schedule;--;w;B;[running] 100\n");
	assert_int_equal(timelines_new(&tl, t), 0);
	o.from_ns = 200000;
	fold_new(&fold, tl, &o, FOLD_BY_NAME);
	s = *fold_summary(fold);
	fold_free(fold);
	assert_int_equal(s.waits, 3);
	assert_int_equal(s.idle_waits, 1);
	assert_int_equal(s.idle_ns, 100000);
	assert_int_equal(s.blocked_ns, 100000);
	assert_int_equal(s.not_shown_ns, 0);
	o.parts = PART_BLOCKED | PART_RUNNABLE;
	o.to_ns = 555000;
	fold_new(&fold, tl, &o, FOLD_BY_NAME);
	s = *fold_summary(fold);
	fold_free(fold);
	assert_int_equal(s.waits, 2);
	assert_int_equal(s.preempted_ns, 0);
	assert_int_equal(s.not_shown_ns, 5000);
	timelines_free(tl);
	trace_close(t);
	synth_free(m);
}

/* ---- trees ---------------------------------------------------------------------------------- */

static void a_renamed_thread_has_a_heading_for_each_name(void **state)
{
	struct options o = script_options(101);

	(void)state;
	gives("0   c0 - R > A\n"
	      "0   c1 - R > B\n"
	      "100 c0 A S > - one\n"
	      "200 c1 B wakes A w\n"
	      "200 c0 - R > A\n"
	      "210 c0 A renames-to worker\n"
	      "300 c0 A S > - two\n"
	      "500 c1 B wakes A w\n"
	      "500 c0 - R > A\n"
	      "600 c0 A S > - three\n"
	      "650 c1 B wakes A w\n"
	      "650 c0 - R > A\n"
	      "end 1000\n",
	      &o, "tree",
	      "A (101)\n"
	      "  +0.000100000 s  slept 100.000 us (S)\n"
	      "    in one\n"
	      "    woken by B (102), which ran 100.000 us\n"
	      "      in w\n"
	      "worker (101)\n"
	      "  +0.000300000 s  slept 200.000 us (S)\n"
	      "    in two\n"
	      "    woken by B (102), which ran 200.000 us\n"
	      "      in w\n"
	      "  +0.000600000 s  slept 50.000 us (S)\n"
	      "    in three\n"
	      "    woken by B (102), which ran 50.000 us\n"
	      "      in w\n");
}

static void the_longest_waits_of_all_threads_as_trees(void **state)
{
	struct options o;

	(void)state;
	options_init(&o);
	o.top = 2;
	o.parts = PART_BLOCKED;
	gives(script_chain, &o, "tree",
	      "A (101)\n"
	      "  +0.001000000 s  slept 1.000 ms (S)\n"
	      "    in ksleep < ksys | usleep < umain\n"
	      "    not woken: slept until the recording ended\n"
	      "A (101)\n"
	      "  +0.000100000 s  slept 800.000 us (S)\n"
	      "    in ksleep < ksys | usleep < umain\n"
	      "    woken by B (102), which ran 400.000 us, slept 400.000 us\n"
	      "      in kwake < ksend | usend\n"
	      "      asleep in klock | ulock\n"
	      "      woken by a timer (hrtimer_wakeup): 400.000 us\n"
	      "        in hrtimer_wakeup < __hrtimer_run_queues < "
	      "asm_sysvec_apic_timer_interrupt\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wait_as_json),
		cmocka_unit_test(json_shows_what_options_ask_for),
		cmocka_unit_test(top_gives_the_longest_waits_of_all_threads),
		cmocka_unit_test(strings_are_json_whatever_their_bytes),
		cmocka_unit_test(hostile_names_in_json),
		cmocka_unit_test(who_wakes_whom),
		cmocka_unit_test(handlers_of_interrupts),
		cmocka_unit_test(wakers_stacks_only),
		cmocka_unit_test(only_who_waits_at_the_top_of_its_loop_is_idle),
		cmocka_unit_test(idle_waits_are_left_out_and_counted),
		cmocka_unit_test(a_renamed_thread_has_a_heading_for_each_name),
		cmocka_unit_test(the_longest_waits_of_all_threads_as_trees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
