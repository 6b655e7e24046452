// SPDX-License-Identifier: GPL-2.0-or-later
#include "slices.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/progress.h"

/* About this many waits make a slice. */
#define SLICE_WAITS 32768u
#define WORKERS_MAX 64u

void slices_init(struct slices *s, const struct timelines *tl)
{
	uint64_t ns = timelines_end_ns(tl) - timelines_start_ns(tl), waits = 0;
	uint32_t n = timelines_threads(tl);

	for (uint32_t i = 0; i < n; i++)
		waits += timelines_thread(tl, i)->n_waits;
	*s = (struct slices) { .timelines = tl, .start_ns = timelines_start_ns(tl) };
	s->n = (uint32_t)(waits / SLICE_WAITS) + 1;
	s->span_ns = ns / s->n + 1;
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

/* The waits that end in (from_ns, to_ns]. position: by thread, of a slice before. */
static void visit_slice(const struct timelines *tl, uint64_t from_ns, uint64_t to_ns,
			uint32_t *position, struct wait_visitor v)
{
	uint32_t n = timelines_threads(tl);

	for (uint32_t i = 0; i < n; i++) {
		const struct thread *th = timelines_thread(tl, i);
		uint32_t k;

		if (!v.wants(v.arg, th))
			continue;
		k = position_from(th, position[i], from_ns);
		for (; k < th->n_waits && th->waits[k].in_ns <= to_ns; k++)
			v.visit(v.arg, i, &th->waits[k]);
		position[i] = k;
	}
}

int slices_walk(struct slices *s, struct wait_visitor v)
{
	uint32_t *position = calloc((size_t)timelines_threads(s->timelines) + 1, sizeof(*position));
	uint32_t i;

	if (!position)
		return -ENOMEM;
	while ((i = atomic_fetch_add(&s->next, 1)) < s->n) {
		visit_slice(s->timelines, i ? s->start_ns + i * s->span_ns : 0,
			    i + 1 < s->n ? s->start_ns + (i + 1) * s->span_ns : UINT64_MAX,
			    position, v);
		progress_add(1);
	}
	free(position);
	return 0;
}

uint64_t slices_share_from(const struct slices *s, uint32_t i, uint32_t n)
{
	if (i == n)
		return UINT64_MAX;
	return i ? s->start_ns + s->span_ns * s->n / n * i : 0;
}

void workers_run(void *workers, size_t size, uint32_t n, void *(*run)(void *worker))
{
	pthread_t threads[WORKERS_MAX];
	bool runs[WORKERS_MAX] = { false };
	char *at = workers;

	for (uint32_t i = 1; i < n && i < WORKERS_MAX; i++)
		runs[i] = !pthread_create(&threads[i], NULL, run, at + i * size);
	run(at);
	for (uint32_t i = 1; i < n; i++) {
		if (i < WORKERS_MAX && runs[i])
			pthread_join(threads[i], NULL);
		else
			run(at + i * size);
	}
}
