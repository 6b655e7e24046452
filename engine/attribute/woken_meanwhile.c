// SPDX-License-Identifier: GPL-2.0-or-later
#include "woken_meanwhile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "common/lower_bound.h"
#include "running_totals.h"
#include "common/xalloc.h"

/*
 * A long window among many wakings of few threads costs as much as there are names (law 5): totals
 * over blocks of wakings.
 */
#define BLOCK 64u

enum {
	TOTAL_WAKINGS,
	TOTAL_NS,
};

struct waking {
	uint64_t ns;
	uint32_t wakee;
	uint32_t name; /* the wakee's then: string id */
};

/* A thread's wakings of others; in order, and with totals, when these were asked for. */
struct wakings {
	struct waking *at;
	size_t n;
	struct running_totals totals; /* (name, TOTAL_...), of whole blocks */
	bool is_sorted, is_summed;
};

struct woken_meanwhile {
	const struct timelines *timelines;
	struct waking *all;
	struct wakings *of; /* by thread */
	size_t *hints;	    /* by thread: where one was looked for last */
	bool is_shared;	    /* all but the hints belongs to another one, and is made */
};

/* True if a thread ended w, by itself or in an interrupt that borrowed its CPU. */
static bool by_thread(const struct wait *w)
{
	return w->kind == WAIT_SLEEP && w->waker < THREAD_IDLE && !w->goes_on &&
	       !(w->flags & (WAIT_NEW | WAIT_NOT_WOKEN));
}

static inline bool is_before(const struct waking *a, const struct waking *b)
{
	return a->ns != b->ns ? a->ns < b->ns : a->wakee < b->wakee;
}

/* Sorts by time; spare: room for half of them. They come as runs, one for each wakee. */
static void sort_wakings(struct waking *at, struct waking *spare, size_t n)
{
	size_t half = n / 2, i = 0, k = half, to = 0;

	if (n < 2)
		return;
	sort_wakings(at, spare, half);
	sort_wakings(at + half, spare, n - half);
	if (!is_before(&at[half], &at[half - 1]))
		return;
	memcpy(spare, at, half * sizeof(*at));
	while (i < half && k < n)
		at[to++] = is_before(&at[k], &spare[i]) ? at[k++] : spare[i++];
	memcpy(at + to, spare + i, (half - i) * sizeof(*at));
}

static void sort(struct wakings *of)
{
	struct waking *spare;

	if (of->is_sorted)
		return;
	of->is_sorted = true;
	spare = xmalloc((of->n / 2 + 1) * sizeof(*spare));
	sort_wakings(of->at, spare, of->n);
	free(spare);
}

/* Of those that are sorted. */
static void sum_up(struct wakings *of)
{
	if (of->is_summed)
		return;
	of->is_summed = true;
	/* Only whole blocks are asked for, and never the first waking. */
	for (size_t i = 1; of->n > 8 * BLOCK && i < of->n / BLOCK * BLOCK; i++) {
		const struct waking *w = &of->at[i];

		totals_add(&of->totals, w->name, TOTAL_WAKINGS, 1, 0);
		totals_add(&of->totals, w->name, TOTAL_NS, w->ns - w[-1].ns, 0);
		if ((i + 1) % BLOCK == 0)
			totals_end_block(&of->totals, (uint32_t)(i / BLOCK));
	}
}

/* Calls for each thread's waits: counts them, and with put puts those in place that it ended by
 * itself, which are as many at most. */
static void collect(struct woken_meanwhile *s, struct kernel_stacks *kernel, bool put)
{
	const struct timelines *tl = s->timelines;

	for (uint32_t i = 0; i < timelines_threads(tl); i++) {
		const struct thread *th = timelines_thread(tl, i);

		/* Kernel threads work for the waker, not the other way round. */
		for (uint32_t k = 0; k < th->n_waits && !(th->flags & THREAD_KTHREAD); k++) {
			const struct wait *w = &th->waits[k];
			struct wakings *of;

			if (!by_thread(w) || (put && waker_context(kernel, tl, w).interrupt))
				continue;
			of = &s->of[w->waker];
			if (put)
				of->at[of->n] =
					(struct waking) { w->wake_ns, i,
							  timelines_name(tl, i, w->wake_ns) };
			of->n++;
		}
	}
}

void woken_meanwhile_new(struct woken_meanwhile **out, const struct timelines *tl,
			 struct kernel_stacks *kernel)
{
	struct woken_meanwhile *s = xcalloc(1, sizeof(*s));
	uint32_t n = timelines_threads(tl);
	size_t all = 0;

	*out = s;
	s->timelines = tl;
	s->of = xcalloc((size_t)n + 1, sizeof(*s->of));
	s->hints = xcalloc((size_t)n + 1, sizeof(*s->hints));
	collect(s, kernel, false);
	for (uint32_t i = 0; i < n; i++)
		all += s->of[i].n;
	s->all = xmalloc((all + 1) * sizeof(*s->all));
	all = 0;
	for (uint32_t i = 0; i < n; i++) {
		s->of[i].at = s->all + all;
		all += s->of[i].n;
		s->of[i].n = 0;
	}
	collect(s, kernel, true);
}

void woken_meanwhile_share(struct woken_meanwhile **out, const struct woken_meanwhile *of)
{
	struct woken_meanwhile *s = xmalloc(sizeof(*s));

	*out = s;
	for (uint32_t i = 0; i < timelines_threads(of->timelines); i++) {
		sort(&of->of[i]);
		sum_up(&of->of[i]);
	}
	*s = *of;
	s->is_shared = true;
	s->hints = xcalloc((size_t)timelines_threads(of->timelines) + 1, sizeof(*s->hints));
}

void woken_meanwhile_free(struct woken_meanwhile *s)
{
	if (!s)
		return;
	free(s->hints);
	if (s->is_shared) {
		free(s);
		return;
	}
	for (uint32_t i = 0; s->of && i < timelines_threads(s->timelines); i++)
		totals_free(&s->of[i].totals);
	free(s->of);
	free(s->all);
	free(s);
}

/* ---- sums ----------------------------------------------------------------------------------- */

static void add(struct sums *to, uint32_t thing, uint32_t name, uint64_t wakings, uint64_t ns)
{
	struct sum *sum = sums_at(to, thing, name);

	sum->count += wakings;
	sum->amount += ns;
}

/* The blocks [from, to) of a thread's wakings. */
static void add_blocks(struct sums *to_sums, uint32_t thing, const struct running_totals *t,
		       size_t from, size_t to)
{
	for (uint32_t id = 1; id <= t->table.keys.n; id++) {
		struct pair key = t->table.keys.at[id];
		uint64_t amount = totals_between(t, id, (uint32_t)from, (uint32_t)to);

		if (amount)
			add(to_sums, thing, key.a, key.b == TOTAL_WAKINGS ? amount : 0,
			    key.b == TOTAL_NS ? amount : 0);
	}
}

/* The first waking at ns or later; that at hint is near it, as most are that are asked for. */
static size_t waking_near(const struct wakings *of, size_t hint, uint64_t ns)
{
	size_t low = hint, high = hint, step = 1;

	for (; low && of->at[low - 1].ns >= ns; step *= 2) {
		high = low - 1;
		low = high > step ? high - step : 0;
	}
	for (; high < of->n && of->at[high].ns < ns; step *= 2) {
		low = high + 1;
		high = of->n - low > step ? low + step : of->n;
	}
	return low + LOWER_BOUND(k, high - low, of->at[low + k].ns < ns);
}

void woken_meanwhile_add(struct sums *to, uint32_t thing, struct woken_meanwhile *s, uint32_t waker,
			 uint64_t from_ns, uint64_t to_ns)
{
	struct wakings *of = &s->of[waker];
	size_t end, i, keys;

	sort(of);
	end = waking_near(of, s->hints[waker], to_ns);
	i = waking_near(of, end, from_ns);
	if (end - i > 4 * BLOCK)
		sum_up(of);
	keys = of->totals.table.keys.n; /* 0: so few wakings that there are no totals */
	s->hints[waker] = end;
	while (i < end) {
		if (keys && keys < end - i && end - i > 4 * BLOCK && i && i % BLOCK == 0 &&
		    from_ns == of->at[i - 1].ns) {
			add_blocks(to, thing, &of->totals, i / BLOCK, end / BLOCK);
			i = end / BLOCK * BLOCK;
		} else {
			add(to, thing, of->at[i].name, 1, of->at[i].ns - from_ns);
			i++;
		}
		from_ns = of->at[i - 1].ns;
	}
}

#define SHOWN 3

static void put_sum(FILE *out, const struct names *names, const struct sum *sum)
{
	char ms[TEXT_MS_SIZE];

	fputs(names_text(names, sum->text), out);
	if (sum->count == 1)
		fputs(" once", out);
	else
		fprintf(out, " %" PRIu64 " times", sum->count);
	fprintf(out, " (%s ms)", text_ms(ms, sum->amount));
}

void woken_meanwhile_write(const struct sums *s, const struct names *names, uint32_t thing,
			   uint64_t of_ns, const char *before, FILE *out)
{
	size_t n;
	const struct sum *at = sums_of(s, thing, &n);
	uint64_t ns = 0;

	for (size_t i = 0; i < n; i++)
		ns += at[i].amount;
	if (!n || ns < of_ns / 20)
		return;
	fputs(before, out);
	for (size_t i = 0; i < n && i < SHOWN; i++) {
		fputs(i ? ", " : "", out);
		put_sum(out, names, &at[i]);
	}
	if (n > SHOWN)
		fprintf(out, " and %zu more", n - SHOWN);
}
