// SPDX-License-Identifier: GPL-2.0-or-later
/* Whom else a waker woke meanwhile (chain-semantics, section 13). */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/woken_meanwhile.h"
#include "synth_script.h"

/* A waits for B from 100 to 900, in which time B answers C twice, and D once. */
static const char server[] = "thread C S wait|ask\n"
			     "thread D S wait|ask\n"
			     "0    c0 - R > A\n"
			     "0    c1 - R > B\n"
			     "100  c0 A S > - wait|ask\n"
			     "300  c1 B wakes C wake|answer\n"
			     "300  c0 - R > C\n"
			     "310  c0 C S > - wait|ask\n"
			     "400  c1 B wakes D wake|answer\n"
			     "400  c2 - R > D\n"
			     "410  c2 D S > - wait|ask\n"
			     "700  c1 B wakes C wake|answer\n"
			     "700  c3 - R > C\n"
			     "750  c1 B wakes D x;asm_common_interrupt;y\n"
			     "900  c1 B wakes A wake|answer\n"
			     "900  c0 - R > A\n"
			     "end 900\n";

static void a_waker_is_said_to_have_woken_others(void **state)
{
	struct options o = script_options(101);
	char *got;

	(void)state;
	expect_text(script_formatted(server, &o, "tree"),
		    "A (101)\n"
		    "  +0.000100000 s  slept 800.000 us (S)\n"
		    "    in wait | ask\n"
		    "    woken by B (102), which ran 800.000 us; meanwhile it woke C 2 times "
		    "(0.500 ms), D once (0.100 ms)\n"
		    "      in wake | answer\n");
	got = script_formatted(server, &o, "causes");
	assert_non_null(strstr(got, "  B/102 ran, 62 % for C, 12 % for\n"
				    "         D, then woke the waiter in answer\n"));
	free(got);
	got = script_formatted(server, &o, "html");
	assert_non_null(
		strstr(got, "B/102 ran, 62 % for C, 12 % for D, then woke the waiter in answer<"));
	free(got);
	got = script_formatted(server, &o, "json");
	assert_non_null(strstr(got, "\"end\":\"running\",\"ns\":800000,\"served\":["
				    "{\"name\":\"C\",\"wakings\":2,\"served_ns\":500000},"
				    "{\"name\":\"D\",\"wakings\":1,\"served_ns\":100000}]}"));
	free(got);
}

/* B wakes one of seven threads after the other, and sleeps now and then. */
static struct synth *busy_server(int wakings)
{
	struct synth *m = synth_new();
	uint64_t ns = 1000, random = 1;

	synth_thread(m, 102, "server");
	for (uint32_t i = 0; i < 7; i++)
		synth_thread(m, 110 + i, i % 2 ? "odd" : "even");
	synth_switch(m, 0, ns, 0, 'R', 102, "");
	for (int i = 0; i < wakings; i++) {
		uint32_t tid;

		random = random * 6364136223846793005u + 1442695040888963407u;
		tid = 110 + (uint32_t)(random >> 33) % 7;
		synth_waking(m, 0, ns += 1 + (random >> 40) % 1000, 102, tid, "wake;answer");
		synth_switch(m, 1, ns += 10, 0, 'R', tid, "");
		synth_switch(m, 1, ns += 10, tid, 'S', 0, "wait;ask");
	}
	synth_end(m, ns + 1000);
	return m;
}

/* Adds up one by one. */
static void add_slowly(struct sum sums[2], const struct timelines *tl, uint32_t waker,
		       uint64_t from_ns, uint64_t to_ns)
{
	uint64_t at_ns = from_ns;

	for (;;) {
		const struct wait *next = NULL;
		uint32_t who = 0;

		for (uint32_t i = 0; i < timelines_threads(tl); i++) {
			const struct thread *th = timelines_thread(tl, i);

			for (uint32_t k = 0; k < th->n_waits; k++) {
				const struct wait *w = &th->waits[k];

				if (w->kind == WAIT_SLEEP && w->waker == waker &&
				    w->wake_ns >= from_ns && w->wake_ns < to_ns &&
				    (!next || w->wake_ns < next->wake_ns)) {
					next = w;
					who = th->tid % 2;
				}
			}
		}
		if (!next)
			return;
		sums[who].count++;
		sums[who].amount += next->wake_ns - at_ns;
		at_ns = next->wake_ns;
		from_ns = at_ns + 1;
	}
}

static void expect_the_same(int wakings)
{
	static const uint64_t parts[][2] = { { 0, 100 }, { 3, 97 }, { 40, 41 }, { 50, 50 } };
	struct synth *m = busy_server(wakings);
	struct trace *t = synth_open(m);
	struct kernel_stacks *kernel;
	struct timelines *tl;
	struct woken_meanwhile *s;

	assert_int_equal(timelines_new(&tl, t), 0);
	kernel_stacks_new(&kernel, t);
	woken_meanwhile_new(&s, tl, kernel);
	for (size_t p = 0; p < 4; p++) {
		uint64_t start = timelines_start_ns(tl), len = timelines_end_ns(tl) - start;
		uint64_t from = start + len * parts[p][0] / 100,
			 to = start + len * parts[p][1] / 100;
		struct sum slow[2] = { { 0 } }, fast[2] = { { 0 } };
		struct sums sums = { .n = 0 };
		uint32_t waker = 0;

		while (timelines_thread(tl, waker)->tid != 102)
			waker++;
		woken_meanwhile_add(&sums, 1, s, waker, from, to);
		for (uint32_t i = 1; i <= sums.table.keys.n; i++) {
			const struct sum *sum = &((struct sum *)sums.table.at)[i];

			fast[!strcmp(trace_string(t, sum->key), "odd")] = *sum;
		}
		add_slowly(slow, tl, waker, from, to);
		for (int i = 0; i < 2; i++) {
			assert_int_equal(fast[i].count, slow[i].count);
			assert_int_equal(fast[i].amount, slow[i].amount);
		}
		sums_free(&sums);
	}
	woken_meanwhile_free(s);
	kernel_stacks_free(kernel);
	timelines_free(tl);
	trace_close(t);
	synth_free(m);
}

/* With totals of blocks, and so few that there are none. */
static void many_wakings_give_what_one_by_one_gives(void **state)
{
	(void)state;
	expect_the_same(2000);
	expect_the_same(400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_waker_is_said_to_have_woken_others),
		cmocka_unit_test(many_wakings_give_what_one_by_one_gives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
