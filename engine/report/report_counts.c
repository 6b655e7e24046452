// SPDX-License-Identifier: GPL-2.0-or-later
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "common/xalloc.h"
#include "select/wait_nature.h"
#include "attribute/waker_name.h"

/* Of one waker, by its name, before it is known which wakers have numbers. */
struct waker_seen {
	uint32_t text;
	uint64_t ns; /* blocked time that its wakeups ended */
};

struct counter {
	struct report_counts *c;
	const struct timelines *timelines;
	struct names *names;
	struct waker_names *waker_names;
	const uint32_t *row_of;
	struct waker_seen *wakers;
	uint32_t n_wakers;
	size_t cap_wakers;
	uint32_t *seen; /* by text id: 1 + its place in wakers; 0: none yet */
	size_t n_seen;
	/* struct report_wakeups, by (place in wakers * n_rows + row, step). */
	struct pair_table wakeups;
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

static unsigned int slot_of(uint64_t ns)
{
	return 63 - (unsigned int)__builtin_clzll(ns / 1000 | 1);
}

static void count_length(struct report_counts *c, uint32_t row, uint32_t step, uint64_t ns)
{
	uint64_t *longest = &c->longest_ns[(size_t)row * c->steps.n + step], *count;

	count = pair_table_at(&c->lengths, row * REPORT_SLOTS + slot_of(ns), step, sizeof(*count));
	(*count)++;
	c->row_waits[row]++;
	if (*longest < ns)
		*longest = ns;
	if (c->row_longest_ns[row] < ns)
		c->row_longest_ns[row] = ns;
}

/* The place of a waker of this name. */
static uint32_t waker_of(struct counter *k, uint32_t text)
{
	if (text >= k->n_seen) {
		size_t n = (size_t)text * 2 + 64;
		uint32_t *p = xreallocarray(k->seen, 1, n * sizeof(*p));

		memset(p + k->n_seen, 0, (n - k->n_seen) * sizeof(*p));
		k->seen = p;
		k->n_seen = n;
	}
	if (!k->seen[text]) {
		XGROW(k->wakers, k->n_wakers, k->cap_wakers);
		if (k->n_wakers >= UINT32_MAX / k->c->n_rows)
			out_of_memory();
		k->wakers[k->n_wakers++] = (struct waker_seen) { text, 0 };
		k->seen[text] = k->n_wakers;
	}
	return k->seen[text] - 1;
}

static void count_wakeup(struct counter *k, uint32_t row, const struct wait *w, uint32_t step,
			 uint64_t blocked_ns)
{
	uint32_t text = waker_name(k->waker_names, w);
	uint32_t waker = waker_of(k, text);
	struct report_wakeups *sums =
		pair_table_at(&k->wakeups, waker * k->c->n_rows + row, step, sizeof(*sums));

	sums->count++;
	sums->blocked_ns += blocked_ns;
	/* + 1: a waker of waits without blocked time counts as a waker, too. */
	k->wakers[waker].ns += blocked_ns + 1;
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

static void count_asleep(struct counter *k, uint32_t row, const struct wait *w, uint32_t step,
			 uint64_t ns)
{
	uint32_t class = wait_class(k->timelines, w->stack);
	uint32_t text =
		class == SUMS_UNKNOWN ? names_adopt(k->names, "") : names_string(k->names, class);
	uint64_t *sum;

	sum = pair_table_at(&k->c->asleep, row * REPORT_CLASSES + class_of(k->c, text), step,
			    sizeof(*sum));
	*sum += ns;
}

/* ---- steps that are longer ------------------------------------------------------------------- */

static void add_numbers(void *to, const void *from)
{
	*(uint64_t *)to += *(const uint64_t *)from;
}

static void add_wakeups(void *to, const void *from)
{
	struct report_wakeups *sum = to;
	const struct report_wakeups *more = from;

	sum->count += more->count;
	sum->blocked_ns += more->blocked_ns;
}

/* Makes one step of two, in a table by (anything, step). */
static void join_cells(struct pair_table *t, size_t size, void (*add)(void *to, const void *from))
{
	struct pair_table joined = { .at = NULL };

	for (uint32_t id = 1; id <= t->keys.n; id++) {
		struct pair key = t->keys.at[id];
		void *to = pair_table_at(&joined, key.a, key.b / 2, size);

		add(to, (const char *)t->at + id * size);
	}
	pair_table_free(t);
	*t = joined;
}

/* Makes one step of two. */
static void join_steps(struct counter *k)
{
	struct report_counts *c = k->c;
	uint32_t n = c->steps.n, joined = (n + 1) / 2;

	join_cells(&c->lengths, sizeof(uint64_t), add_numbers);
	join_cells(&c->asleep, sizeof(uint64_t), add_numbers);
	join_cells(&k->wakeups, sizeof(struct report_wakeups), add_wakeups);
	for (uint32_t row = 0; row < c->n_rows; row++)
		for (uint32_t i = 0; i < joined; i++) {
			const uint64_t *of = &c->longest_ns[(size_t)row * n + 2 * i];

			c->longest_ns[(size_t)row * joined + i] =
				2 * i + 1 < n && of[1] > of[0] ? of[1] : of[0];
		}
	c->steps.step_ns *= 2;
	c->steps.n = joined;
}

/* Wakers without a number of their own become one when all are known: till then more have room. */
#define SEEN_CELLS (4 * REPORT_CELLS)

/* Makes steps longer until there is room for the figures. */
static void make_room(struct counter *k)
{
	const struct report_counts *c = k->c;

	while (c->steps.n > 1 &&
	       (c->lengths.keys.n > REPORT_CELLS || c->asleep.keys.n > REPORT_CELLS ||
		k->wakeups.keys.n > SEEN_CELLS))
		join_steps(k);
}

static bool count(void *arg, const struct chosen_wait *p)
{
	struct counter *k = arg;
	struct report_counts *c = k->c;
	uint32_t row = k->row_of[p->thread];
	uint32_t step = report_step(&c->steps, report_end_ns(p));
	uint64_t asleep_ns = p->shown.blocked_to_ns - p->shown.blocked_from_ns;

	count_length(c, row, step, p->shown.whole_ns);
	if (p->wait->kind == WAIT_SLEEP) {
		count_wakeup(k, row, p->wait, step, asleep_ns);
		if (asleep_ns)
			count_asleep(k, row, p->wait, step, asleep_ns);
	}
	make_room(k);
	return true;
}

/* ---- wakers --------------------------------------------------------------------------------- */

static int by_text(const void *pa, const void *pb)
{
	return compare_numbers(((const struct waker_seen *)pa)->text,
			       ((const struct waker_seen *)pb)->text);
}

/*
 * Gives numbers to the wakers with most time, in the order of their text ids. By text id: 1 + the
 * number; 0: it has none. To be freed.
 */
static uint32_t *choose_wakers(struct counter *k)
{
	struct report_counts *c = k->c;
	uint32_t *number = xcalloc(k->n_seen + 1, sizeof(*number));
	struct waker_seen chosen[REPORT_WAKERS];
	struct waker_seen *all = xmalloc((k->n_wakers + 1u) * sizeof(*all));

	for (uint32_t i = 0; i < k->n_wakers; i++)
		all[i] = k->wakers[i];
	if (k->n_wakers)
		qsort(all, k->n_wakers, sizeof(*all), by_text);
	for (uint32_t i = 0; i < k->n_wakers; i++) {
		uint32_t least = 0;

		if (c->n_wakers < REPORT_WAKERS) {
			chosen[c->n_wakers++] = all[i];
			continue;
		}
		c->other_wakers = true;
		for (uint32_t j = 1; j < c->n_wakers; j++)
			if (chosen[j].ns < chosen[least].ns)
				least = j;
		if (chosen[least].ns < all[i].ns)
			chosen[least] = all[i];
	}
	for (uint32_t i = 0; i < c->n_wakers; i++) {
		c->wakers[i] = chosen[i].text;
		number[chosen[i].text] = i + 1;
	}
	free(all);
	return number;
}

/* Puts the wakeups where they belong now that wakers have numbers. */
static void number_wakeups(struct counter *k)
{
	struct report_counts *c = k->c;
	const struct report_wakeups *sums = k->wakeups.at;
	uint32_t *number = choose_wakers(k);

	for (uint32_t id = 1; id <= k->wakeups.keys.n; id++) {
		struct pair key = k->wakeups.keys.at[id];
		uint32_t of = number[k->wakers[key.a / c->n_rows].text];
		uint32_t waker = of ? of - 1 : c->n_wakers, row = key.a % c->n_rows;
		struct report_wakeups *to = pair_table_at(
			&c->wakeups, row * (REPORT_WAKERS + 1) + waker, key.b, sizeof(*to));

		add_wakeups(to, &sums[id]);
	}
	free(number);
	pair_table_free(&k->wakeups);
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

void report_count(struct report *r)
{
	const struct timelines *tl = r->in->timelines;
	struct report_counts *c = &r->counts;
	struct counter k = { .c = c, .timelines = tl, .names = r->names, .row_of = r->row_of };

	*c = (struct report_counts) { .n_rows = r->n_rows + 1 };
	wait_filter_window(r->filter, &c->steps.from_ns, &c->steps.to_ns);
	if (c->steps.to_ns > timelines_end_ns(tl))
		c->steps.to_ns = timelines_end_ns(tl);
	if (c->steps.from_ns > c->steps.to_ns)
		c->steps.from_ns = c->steps.to_ns;
	set_steps(&c->steps, REPORT_STEPS);
	c->longest_ns = xcalloc((size_t)c->n_rows * c->steps.n + 1, sizeof(*c->longest_ns));
	c->row_waits = xcalloc((size_t)c->n_rows + 1, sizeof(*c->row_waits));
	c->row_longest_ns = xcalloc((size_t)c->n_rows + 1, sizeof(*c->row_longest_ns));
	waker_names_new(&k.waker_names, tl, r->names);
	top_waits_walk(tl, r->filter, 0, count, &k);
	number_wakeups(&k);
	while (c->wakeups.keys.n > REPORT_CELLS && c->steps.n > 1) {
		join_steps(&k);
		join_cells(&c->wakeups, sizeof(struct report_wakeups), add_wakeups);
	}
	waker_names_free(k.waker_names);
	pair_table_free(&k.wakeups);
	free(k.wakers);
	free(k.seen);
}

enum report_group report_thread_group(const struct report *r, uint32_t thread)
{
	const struct thread *th = timelines_thread(r->in->timelines, thread);

	if (!*trace_string(r->in->trace, timelines_name(r->in->timelines, thread, th->end_ns)))
		return REPORT_NAMELESS;
	return !r->command || r->command[thread] ? REPORT_OWN : REPORT_OTHER;
}
