// SPDX-License-Identifier: GPL-2.0-or-later
#include "slices.h"

#include <errno.h>
#include <stdlib.h>

#include "base/compare.h"

/* About this many waits make a slice. */
#define SLICE_WAITS 32768u
/* Waits for each one whose end is looked at to find where slices end. */
#define SAMPLE_EVERY 256u

static int by_time(const void *pa, const void *pb)
{
	return compare_numbers(*(const uint64_t *)pa, *(const uint64_t *)pb);
}

/* The ends of every SAMPLE_EVERY-th wait, thread by thread, in order of time. */
static void take_samples(const struct timelines *tl, uint64_t *ends, size_t n)
{
	uint32_t n_threads = timelines_threads(tl);
	size_t taken = 0, before = 0; /* waits of the threads before */

	for (uint32_t i = 0; i < n_threads; i++) {
		const struct thread *th = timelines_thread(tl, i);

		for (; taken < n && taken * SAMPLE_EVERY < before + th->n_waits; taken++)
			ends[taken] = th->waits[taken * SAMPLE_EVERY - before].in_ns;
		before += th->n_waits;
	}
	qsort(ends, n, sizeof(*ends), by_time);
}

int slices_init(struct slices *s, const struct timelines *tl)
{
	uint32_t n_threads = timelines_threads(tl);
	size_t waits = 0, n_samples;
	uint64_t *ends;

	*s = (struct slices) { .timelines = tl };
	for (uint32_t i = 0; i < n_threads; i++)
		waits += timelines_thread(tl, i)->n_waits;
	n_samples = (waits + SAMPLE_EVERY - 1) / SAMPLE_EVERY;
	s->n = (uint32_t)(waits / SLICE_WAITS) + 1;
	s->bounds = malloc(((size_t)s->n + 1) * sizeof(*s->bounds));
	ends = malloc((n_samples + 1) * sizeof(*ends));
	if (!s->bounds || !ends) {
		free(ends);
		return -ENOMEM;
	}
	take_samples(tl, ends, n_samples);
	s->bounds[0] = 0;
	for (uint32_t i = 1; i < s->n; i++)
		s->bounds[i] = ends[n_samples * i / s->n];
	s->bounds[s->n] = UINT64_MAX;
	free(ends);
	return 0;
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
	uint32_t n = timelines_threads(s->timelines);

	for (uint32_t i = 0; i < n; i++) {
		const struct thread *th = timelines_thread(s->timelines, i);
		uint32_t k;

		if (!v.wants(v.arg, th))
			continue;
		k = position_from(th, position[i], from_ns);
		for (; k < th->n_waits && th->waits[k].in_ns <= to_ns; k++)
			v.visit(v.arg, i, &th->waits[k], th->waits[k].out_ns < long_before_ns);
		position[i] = k;
	}
}

int slices_walk(struct slices *s, struct wait_visitor v)
{
	uint32_t *position = calloc((size_t)timelines_threads(s->timelines) + 1, sizeof(*position));
	uint32_t i;

	if (!position)
		return -ENOMEM;
	while ((i = atomic_fetch_add(&s->next, 1)) < s->n)
		visit_slice(s, i, position, v);
	free(position);
	return 0;
}

uint64_t slices_share_from(const struct slices *s, uint32_t i, uint32_t n)
{
	return s->bounds[(uint64_t)s->n * i / n];
}
