// SPDX-License-Identifier: GPL-2.0-or-later
/* Slices of a trace: each wait is in one of them, and they are equal in work. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>

#include "fold/slices.h"
#include "synth.h"

#define ROUNDS 100000u
#define QUIET_NS UINT64_C(600000000000) /* ten minutes */

/* Two threads wake each other, and then hardly anything happens for ten minutes. */
static struct timelines *busy_then_quiet(struct synth *m, struct trace **t)
{
	struct timelines *tl;
	uint64_t ns = 1000;

	synth_thread(m, 7, "seven");
	synth_thread(m, 8, "eight");
	synth_switch(m, 0, ns, 0, 'R', 7, "");
	for (uint32_t i = 0; i < ROUNDS; i++) {
		synth_waking(m, 0, ns + 100, 7, 8, "wake");
		synth_switch(m, 0, ns + 200, 7, 'S', 8, "sleep");
		synth_waking(m, 0, ns + 300, 8, 7, "wake");
		synth_switch(m, 0, ns + 400, 8, 'S', 7, "sleep");
		ns += i < ROUNDS - 2 ? 500 : QUIET_NS / 2;
	}
	synth_end(m, ns);
	*t = synth_open(m);
	assert_int_equal(timelines_new(&tl, *t), 0);
	return tl;
}

struct visits {
	const struct slices *slices;
	uint64_t *waits; /* by slice */
	uint64_t n;
	bool out_of_order; /* a wait is not in the slice in which it ends */
	uint32_t slice;
};

static bool wants_all(void *arg, const struct thread *th)
{
	(void)arg;
	(void)th;
	return true;
}

/* One worker takes the slices in order. */
static void count(void *arg, uint32_t thread, const struct wait *w, bool is_long)
{
	struct visits *v = arg;
	const uint64_t *bounds = v->slices->bounds;

	(void)thread;
	(void)is_long;
	while (w->in_ns > bounds[v->slice + 1])
		v->slice++;
	v->out_of_order |= w->in_ns <= bounds[v->slice];
	v->waits[v->slice]++;
	v->n++;
}

static void slices_are_equal_in_work(void **state)
{
	struct synth *m = synth_new();
	struct visits v = { .n = 0 };
	struct slices s;
	struct trace *t;
	struct timelines *tl = busy_then_quiet(m, &t);
	uint64_t all = 0, mean;

	(void)state;
	for (uint32_t i = 0; i < timelines_threads(tl); i++)
		all += timelines_thread(tl, i)->n_waits;
	slices_init(&s, tl, false);
	assert_true(s.n > 3);
	v.slices = &s;
	v.waits = calloc(s.n, sizeof(*v.waits));
	assert_non_null(v.waits);
	slices_walk(&s, (struct wait_visitor) { &v, wants_all, count });
	assert_int_equal(v.n, all);
	assert_false(v.out_of_order);
	mean = all / s.n;
	for (uint32_t i = 0; i < s.n; i++)
		assert_in_range(v.waits[i], mean - mean / 8, mean + mean / 8);
	/* So are shares of them. */
	assert_int_equal(slices_share_from(&s, 0, 2), 0);
	assert_true(slices_share_from(&s, 1, 2) < 1000 + 500 * (uint64_t)ROUNDS);
	assert_true(slices_share_from(&s, 2, 2) == UINT64_MAX);
	free(v.waits);
	slices_free(&s);
	timelines_free(tl);
	trace_close(t);
	synth_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices_are_equal_in_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
