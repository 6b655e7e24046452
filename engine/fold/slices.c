// SPDX-License-Identifier: GPL-2.0-or-later
#include "slices.h"

#include <stdlib.h>

#include "base/compare.h"
#include "common/xalloc.h"

/*
 * About this many waits make a slice, unless tests say another number; or as many as there are
 * threads if these are more, as each slice looks at all of them.
 */
#define SLICE_WAITS 32768u
/* Waits for each one whose end is looked at to find where slices end, and most samples a slice. */
#define SAMPLE_EVERY 256u
#define SLICE_SAMPLES 128u

static int by_time(const void *pa, const void *pb)
{
	return compare_numbers(*(const uint64_t *)pa, *(const uint64_t *)pb);
}

static uint32_t slice_waits(void)
{
	const char *told = getenv("CHAINWALK_SLICE");
	uint32_t n = told ? (uint32_t)strtoul(told, NULL, 10) : SLICE_WAITS;

	return n ? n : 1;
}

/* The ends of every `every`-th wait, thread by thread, in order of time. */
static void take_samples(const struct slices *s, uint32_t every, uint64_t *ends, size_t n)
{
	size_t taken = 0, before = 0; /* waits of the threads before */

	for (uint32_t i = s->first; i < s->end; i++) {
		const struct thread *th = timelines_thread(s->timelines, i);

		for (; taken < n && taken * every < before + th->n_waits; taken++)
			ends[taken] = th->waits[taken * every - before].in_ns;
		before += th->n_waits;
	}
	qsort(ends, n, sizeof(*ends), by_time);
}

void slices_init(struct slices *s, const struct timelines *tl, bool clients)
{
	uint32_t in_slice = slice_waits(), every;
	size_t waits = 0, n_samples;
	uint64_t *ends;

	*s = (struct slices) { .timelines = tl };
	timelines_range(tl, clients, &s->first, &s->end);
	for (uint32_t i = s->first; i < s->end; i++)
		waits += timelines_thread(tl, i)->n_waits;
	if (s->end - s->first > SLICE_WAITS)
		in_slice = s->end - s->first;
	every = in_slice / SLICE_SAMPLES;
	every = every > SAMPLE_EVERY ? SAMPLE_EVERY : every ? every : 1;
	n_samples = (waits + every - 1) / every;
	s->n = (uint32_t)(waits / in_slice) + 1;
	s->bounds = xmalloc(((size_t)s->n + 1) * sizeof(*s->bounds));
	ends = xmalloc((n_samples + 1) * sizeof(*ends));
	take_samples(s, every, ends, n_samples);
	s->bounds[0] = 0;
	for (uint32_t i = 1; i < s->n; i++)
		s->bounds[i] = ends[n_samples * i / s->n];
	s->bounds[s->n] = UINT64_MAX;
	free(ends);
}

void slices_free(struct slices *s)
{
	free(s->bounds);
	s->bounds = NULL;
}

/* The number of the thread's waits that end at or before ns; at: that for an earlier time. */
static uint32_t position_from(const struct thread *th, uint32_t at, uint64_t ns)
{
	uint32_t step = 16;

	while (at + step < th->n_waits && th->waits[at + step].in_ns <= ns) {
		at += step;
		step *= 2;
	}
	for (; step; step /= 2)
		while (at + step <= th->n_waits && th->waits[at + step - 1].in_ns <= ns)
			at += step;
	return at;
}

/* position: by thread, of a slice before. */
static void visit_slice(const struct slices *s, uint32_t slice, uint32_t *position,
			struct wait_visitor v)
{
	uint64_t from_ns = s->bounds[slice], to_ns = s->bounds[slice + 1];
	uint64_t long_before_ns = slice ? s->bounds[slice - 1] : 0;

	for (uint32_t i = s->first; i < s->end; i++) {
		const struct thread *th = timelines_thread(s->timelines, i);
		uint32_t k;

		if (!v.wants(v.arg, th))
			continue;
		k = position_from(th, position[i - s->first], from_ns);
		for (; k < th->n_waits && th->waits[k].in_ns <= to_ns; k++)
			v.visit(v.arg, i, &th->waits[k], th->waits[k].out_ns < long_before_ns);
		position[i - s->first] = k;
	}
}

void slices_walk(struct slices *s, struct wait_visitor v)
{
	uint32_t *position = xcalloc((size_t)(s->end - s->first) + 1, sizeof(*position));
	uint32_t i;

	while ((i = atomic_fetch_add(&s->next, 1)) < s->n)
		visit_slice(s, i, position, v);
	free(position);
}

uint64_t slices_share_from(const struct slices *s, uint32_t i, uint32_t n)
{
	return s->bounds[(uint64_t)s->n * i / n];
}
