// SPDX-License-Identifier: GPL-2.0-or-later
#include "stolen_time.h"

#include <stdlib.h>

#include "common/xalloc.h"
#include "common/lower_bound.h"
#include "cpus.h"

/* The time between two switches of a CPU, or the part of it in which a thread ran. */
struct stretch {
	uint64_t from_ns, to_ns;
	uint64_t ns;	    /* how much of it was taken */
	uint64_t before_ns; /* the sum of ns of all earlier ones with this key */
	uint32_t key;	    /* the CPU or the thread */
};

/* Sorted by key, then time. */
struct stretches {
	struct stretch *at;
	size_t n, cap;
	size_t *first; /* by key: its first one; and the end */
	uint32_t keys;
};

/* The last switch of a CPU. */
struct last {
	uint64_t from_ns, at_ns; /* the stretch that ended with it */
	uint64_t ran_from_ns;
	uint32_t thread;
	bool open; /* its event with what was taken has not come yet */
};

struct stolen_time {
	struct stretches cpus, threads;
	struct last *last; /* by CPU */
	size_t n_last, cap_last;
	uint64_t start_ns; /* where the first stretch of a CPU begins */
};

void stolen_time_new(struct stolen_time **out, uint64_t start_ns)
{
	*out = xcalloc(1, sizeof(**out));
	(*out)->start_ns = start_ns;
}

static void free_stretches(struct stretches *s)
{
	free(s->at);
	free(s->first);
}

void stolen_time_free(struct stolen_time *i)
{
	if (!i)
		return;
	free_stretches(&i->cpus);
	free_stretches(&i->threads);
	free(i->last);
	free(i);
}

static struct last *last_of(struct stolen_time *i, uint32_t cpu)
{
	while (i->n_last <= cpu)
		XAPPEND(i->last, i->n_last, i->cap_last) =
			(struct last) { .at_ns = i->start_ns, .thread = THREAD_NONE };
	return &i->last[cpu];
}

void stolen_time_switch(struct stolen_time *i, uint32_t cpu, uint32_t thread, uint64_t ran_from_ns,
			uint64_t at_ns)
{
	struct last *last = i ? last_of(i, cpu) : NULL;

	if (!last)
		return;
	/* In a loss: what came before it may be missing. */
	if (at_ns < last->at_ns)
		last->open = false;
	else
		*last = (struct last) { last->at_ns, at_ns, ran_from_ns, thread, true };
}

void stolen_time_lost(struct stolen_time *i, uint32_t cpu, uint64_t until_ns)
{
	size_t from = cpu, to = (size_t)cpu + 1;

	if (!i)
		return;
	if (cpu == UINT32_MAX) {
		from = 0;
		to = i->n_last;
		if (i->start_ns < until_ns)
			i->start_ns = until_ns;
	} else {
		last_of(i, cpu);
	}
	for (size_t k = from; k < to; k++)
		if (i->last[k].at_ns < until_ns)
			i->last[k] = (struct last) { .at_ns = until_ns, .thread = THREAD_NONE };
}

static void add(struct stretches *to, uint32_t key, uint64_t from_ns, uint64_t to_ns, uint64_t ns)
{
	if (from_ns >= to_ns)
		return;
	XGROW(to->at, to->n, to->cap);
	ns = ns < to_ns - from_ns ? ns : to_ns - from_ns;
	to->at[to->n++] = (struct stretch) { from_ns, to_ns, ns, 0, key };
}

void stolen_time_add(struct stolen_time *i, uint32_t cpu, uint64_t at_ns, uint64_t ns)
{
	struct last *last = i && cpu < i->n_last ? &i->last[cpu] : NULL;
	uint64_t from_ns;

	if (!last || !last->open || last->at_ns != at_ns)
		return;
	last->open = false;
	add(&i->cpus, cpu, last->from_ns, at_ns, ns);
	from_ns = last->ran_from_ns > last->from_ns ? last->ran_from_ns : last->from_ns;
	if (last->thread < THREAD_IDLE)
		add(&i->threads, last->thread, from_ns, at_ns, ns);
}

/* Where events are missing, a thread may seem to run on two CPUs: none of its time counts twice. */
static void follow(struct stretch *s, const struct stretch *last)
{
	if (s->from_ns < last->to_ns)
		s->from_ns = last->to_ns;
	if (s->ns > s->to_ns - s->from_ns)
		s->ns = s->to_ns - s->from_ns;
	s->before_ns = last->before_ns + last->ns;
}

/* A counting sort: those of one key keep their order. */
static void sort(struct stretches *s, uint32_t keys)
{
	struct stretch *sorted = xmalloc((s->n + 1) * sizeof(*sorted));

	s->first = xcalloc((size_t)keys + 2, sizeof(*s->first));
	/* first[k + 1] becomes where key k begins, then where it ends. */
	for (size_t k = 0; k < s->n; k++)
		s->first[s->at[k].key + 2]++;
	for (uint32_t k = 0; k < keys; k++)
		s->first[k + 2] += s->first[k + 1];
	for (size_t k = 0; k < s->n; k++)
		sorted[s->first[s->at[k].key + 1]++] = s->at[k];
	for (size_t k = 1; k < s->n; k++)
		if (sorted[k].key == sorted[k - 1].key)
			follow(&sorted[k], &sorted[k - 1]);
	free(s->at);
	s->at = sorted;
	s->keys = keys;
}

void stolen_time_finish(struct stolen_time *i, uint32_t threads)
{
	if (!i)
		return;
	sort(&i->cpus, (uint32_t)i->n_last);
	sort(&i->threads, threads);
}

/* How much of the stretch was taken up to at_ns, in proportion. */
static uint64_t up_to(const struct stretch *s, uint64_t at_ns)
{
	if (at_ns >= s->to_ns)
		return s->ns;
	return (uint64_t)((unsigned __int128)s->ns * (at_ns - s->from_ns) /
			  (s->to_ns - s->from_ns));
}

/* The sum of a key's up to at_ns, before which its first k stretches begin. */
static uint64_t sum_up_to(const struct stretch *first, size_t k, uint64_t at_ns)
{
	return k ? first[k - 1].before_ns + up_to(&first[k - 1], at_ns) : 0;
}

/* Whether [from_ns, to_ns) is between the i-th of a key's n stretches and the one before it. */
static inline bool is_between(const struct stretch *first, size_t n, size_t i, uint64_t from_ns,
			      uint64_t to_ns)
{
	return (!i || first[i - 1].to_ns <= from_ns) && (i == n || first[i].from_ns >= to_ns);
}

/*
 * hint: a guess how many of the key's stretches begin before from_ns; set to how many do.
 */
static uint64_t sum(const struct stretches *s, uint32_t key, uint64_t from_ns, uint64_t to_ns,
		    size_t *hint)
{
	const struct stretch *first;
	size_t n, from, to;

	if (key >= s->keys || from_ns >= to_ns)
		return 0;
	first = s->at + s->first[key];
	n = s->first[key + 1] - s->first[key];
	from = *hint < n ? *hint : n;
	if (is_between(first, n, from, from_ns, to_ns))
		return 0;
	from = LOWER_BOUND_NEAR(k, n, from, first[k].from_ns < from_ns);
	*hint = from;
	if (is_between(first, n, from, from_ns, to_ns))
		return 0;
	/* It is asked for times between two switches of a CPU, and these are what has stretches. */
	to = LOWER_BOUND_NEAR(k, n, from, first[k].from_ns < to_ns);
	return sum_up_to(first, to, to_ns) - sum_up_to(first, from, from_ns);
}

uint64_t stolen_time_of_cpu_next(const struct stolen_time *i, uint32_t cpu, uint64_t from_ns,
				 uint64_t to_ns, size_t *hint)
{
	return i ? sum(&i->cpus, cpu, from_ns, to_ns, hint) : 0;
}

uint64_t stolen_time_none_until(const struct stolen_time *i, uint32_t cpu, uint64_t to_ns,
				size_t hint)
{
	const struct stretch *first;
	size_t n;

	if (!i || cpu >= i->cpus.keys)
		return UINT64_MAX;
	first = i->cpus.at + i->cpus.first[cpu];
	n = i->cpus.first[cpu + 1] - i->cpus.first[cpu];
	if (hint > n || (hint && first[hint - 1].to_ns > to_ns) ||
	    (hint < n && first[hint].from_ns < to_ns))
		return to_ns;
	return hint < n ? first[hint].from_ns : UINT64_MAX;
}

uint64_t stolen_time_of_thread(const struct stolen_time *i, uint32_t thread, uint64_t from_ns,
			       uint64_t to_ns)
{
	return i ? sum(&i->threads, thread, from_ns, to_ns, &(size_t) { 0 }) : 0;
}
