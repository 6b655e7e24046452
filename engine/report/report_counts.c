// SPDX-License-Identifier: GPL-2.0-or-later
#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "select/wait_nature.h"
#include "attribute/waker_name.h"

/* Returned by a visit: too many figures, the steps have to be longer. */
#define TOO_MANY 1

struct counter {
	struct report_counts *c;
	const struct timelines *timelines;
	struct names *names;
	struct waker_names *waker_names;
	const uint32_t *row_of;
	uint64_t *waker_ns; /* by text id: blocked time that its wakeups ended */
	size_t n_waker_ns;
	uint32_t *number; /* by text id: 1 + its index in c->wakers; 0: one of the others */
};

uint32_t report_step(const struct report_steps *s, uint64_t ns)
{
	/* A wait that ends where a step begins counts in the step before. */
	uint64_t step = ns > s->from_ns ? (ns - 1 - s->from_ns) / s->step_ns : 0;

	return step < s->n ? (uint32_t)step : s->n - 1;
}

uint64_t report_end_ns(const struct chosen_wait *p)
{
	return p->shown.off_to_ns > p->shown.off_from_ns ? p->shown.off_to_ns
							 : p->shown.blocked_to_ns;
}

static void set_steps(struct report_steps *s, uint32_t n)
{
	uint64_t ns = s->to_ns - s->from_ns;

	s->step_ns = ns / n + (ns % n != 0);
	if (!s->step_ns)
		s->step_ns = 1;
	s->n = (uint32_t)(ns / s->step_ns + (ns % s->step_ns != 0));
	if (!s->n)
		s->n = 1;
}

/* Adds up the blocked time that each waker's wakeups ended. */
static int weigh_waker(void *arg, const struct chosen_wait *p)
{
	struct counter *k = arg;
	uint32_t waker;

	if (p->wait->kind != WAIT_SLEEP)
		return 0;
	waker = waker_name(k->waker_names, p->wait);
	if (!waker)
		return -ENOMEM;
	if (waker >= k->n_waker_ns) {
		size_t n = (size_t)waker * 2 + 64;
		uint64_t *q = realloc(k->waker_ns, n * sizeof(*q));

		if (!q)
			return -ENOMEM;
		memset(q + k->n_waker_ns, 0, (n - k->n_waker_ns) * sizeof(*q));
		k->waker_ns = q;
		k->n_waker_ns = n;
	}
	/* + 1: a waker of waits without blocked time counts as a waker, too. */
	k->waker_ns[waker] += p->shown.blocked_to_ns - p->shown.blocked_from_ns + 1;
	return 0;
}

/* Selects the wakers with most time, in the order of their text ids. */
static int choose_wakers(struct counter *k)
{
	struct report_counts *c = k->c;

	k->number = calloc(k->n_waker_ns + 1, sizeof(*k->number));
	if (!k->number)
		return -ENOMEM;
	for (uint32_t i = 1; i < k->n_waker_ns; i++) {
		uint32_t least = 0;

		if (!k->waker_ns[i])
			continue;
		if (c->n_wakers < REPORT_WAKERS) {
			c->wakers[c->n_wakers++] = i;
			continue;
		}
		c->other_wakers = true;
		for (uint32_t j = 1; j < c->n_wakers; j++)
			if (k->waker_ns[c->wakers[j]] < k->waker_ns[c->wakers[least]])
				least = j;
		if (k->waker_ns[c->wakers[least]] < k->waker_ns[i])
			c->wakers[least] = i;
	}
	for (uint32_t i = 0; i < c->n_wakers; i++)
		k->number[c->wakers[i]] = i + 1;
	return 0;
}

static unsigned int slot_of(uint64_t ns)
{
	return 63 - (unsigned int)__builtin_clzll(ns / 1000 | 1);
}

static int count_length(struct report_counts *c, uint32_t row, uint32_t step, uint64_t ns)
{
	uint64_t *longest = &c->longest_ns[(size_t)row * c->steps.n + step], *count;

	count = pair_table_at(&c->lengths, row * REPORT_SLOTS + slot_of(ns), step, sizeof(*count));
	if (!count)
		return -ENOMEM;
	(*count)++;
	c->row_waits[row]++;
	if (*longest < ns)
		*longest = ns;
	if (c->row_longest_ns[row] < ns)
		c->row_longest_ns[row] = ns;
	return 0;
}

static int count_wakeup(struct report_counts *c, uint32_t row, uint32_t waker, uint32_t step,
			uint64_t blocked_ns)
{
	struct report_wakeups *sums =
		pair_table_at(&c->wakeups, row * (REPORT_WAKERS + 1) + waker, step, sizeof(*sums));

	if (!sums)
		return -ENOMEM;
	sums->count++;
	sums->blocked_ns += blocked_ns;
	return 0;
}

/* The number of a class; REPORT_CLASSES - 1 if there are too many. */
static uint32_t class_of(struct report_counts *c, uint32_t text)
{
	uint32_t i = 0;

	while (i < c->n_classes && c->classes[i] != text)
		i++;
	if (i == c->n_classes && i < REPORT_CLASSES - 1)
		c->classes[c->n_classes++] = text;
	return i;
}

static int count_asleep(struct counter *k, uint32_t row, const struct wait *w, uint32_t step,
			uint64_t ns)
{
	uint32_t class = wait_class(k->timelines, w->stack);
	uint32_t text =
		class == SUMS_UNKNOWN ? names_adopt(k->names, "") : names_string(k->names, class);
	uint64_t *sum;

	if (!text)
		return -ENOMEM;
	sum = pair_table_at(&k->c->asleep, row * REPORT_CLASSES + class_of(k->c, text), step,
			    sizeof(*sum));
	if (!sum)
		return -ENOMEM;
	*sum += ns;
	return 0;
}

static int count(void *arg, const struct chosen_wait *p)
{
	struct counter *k = arg;
	struct report_counts *c = k->c;
	uint32_t row = k->row_of[p->thread];
	uint32_t step = report_step(&c->steps, report_end_ns(p)), waker;
	uint64_t asleep_ns = p->shown.blocked_to_ns - p->shown.blocked_from_ns;
	int err = count_length(c, row, step, p->shown.whole_ns);

	if (!err && p->wait->kind == WAIT_SLEEP) {
		waker = waker_name(k->waker_names, p->wait);
		if (!waker)
			return -ENOMEM;
		waker = k->number[waker] ? k->number[waker] - 1 : c->n_wakers;
		err = count_wakeup(c, row, waker, step, asleep_ns);
		if (!err && asleep_ns)
			err = count_asleep(k, row, p->wait, step, asleep_ns);
	}
	if (err)
		return err;
	return c->steps.n > 1 &&
			       (c->lengths.keys.n > REPORT_CELLS ||
				c->wakeups.keys.n > REPORT_CELLS || c->asleep.keys.n > REPORT_CELLS)
		       ? TOO_MANY
		       : 0;
}

void report_counts_free(struct report_counts *c)
{
	pair_table_free(&c->lengths);
	pair_table_free(&c->wakeups);
	pair_table_free(&c->asleep);
	free(c->longest_ns);
	free(c->row_waits);
	free(c->row_longest_ns);
	c->longest_ns = c->row_waits = c->row_longest_ns = NULL;
}

static int count_in_steps(struct counter *k, const struct timelines *tl, struct wait_filter *s,
			  uint32_t n)
{
	struct report_counts *c = k->c;

	report_counts_free(c);
	set_steps(&c->steps, n);
	c->longest_ns = calloc((size_t)c->n_rows * c->steps.n + 1, sizeof(*c->longest_ns));
	c->row_waits = calloc((size_t)c->n_rows + 1, sizeof(*c->row_waits));
	c->row_longest_ns = calloc((size_t)c->n_rows + 1, sizeof(*c->row_longest_ns));
	if (!c->longest_ns || !c->row_waits || !c->row_longest_ns)
		return -ENOMEM;
	return top_waits_walk(tl, s, 0, count, k);
}

int report_count(struct report *r)
{
	const struct timelines *tl = r->in->timelines;
	struct report_counts *c = &r->counts;
	struct counter k = { .c = c, .timelines = tl, .names = r->names, .row_of = r->row_of };
	uint32_t n = REPORT_STEPS;
	int err;

	*c = (struct report_counts) { .n_rows = r->n_rows + 1 };
	wait_filter_window(r->filter, &c->steps.from_ns, &c->steps.to_ns);
	if (c->steps.to_ns > timelines_end_ns(tl))
		c->steps.to_ns = timelines_end_ns(tl);
	if (c->steps.from_ns > c->steps.to_ns)
		c->steps.from_ns = c->steps.to_ns;
	err = waker_names_new(&k.waker_names, tl, r->names);
	if (!err)
		err = top_waits_walk(tl, r->filter, 0, weigh_waker, &k);
	if (!err)
		err = choose_wakers(&k);
	while (!err && (err = count_in_steps(&k, tl, r->filter, n)) == TOO_MANY) {
		n /= 2;
		err = 0;
	}
	waker_names_free(k.waker_names);
	free(k.waker_ns);
	free(k.number);
	return err;
}

enum report_group report_thread_group(const struct report *r, uint32_t thread)
{
	const struct thread *th = timelines_thread(r->in->timelines, thread);

	if (!*trace_string(r->in->trace, timelines_name(r->in->timelines, thread, th->end_ns)))
		return REPORT_NAMELESS;
	return !r->command || r->command[thread] ? REPORT_OWN : REPORT_OTHER;
}
