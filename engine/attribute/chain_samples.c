// SPDX-License-Identifier: GPL-2.0-or-later
#include "chain_samples.h"

#include <errno.h>
#include <stdlib.h>

#include "timeline/stolen_time.h"

int chain_samples_init(struct chain_samples *s, const struct timelines *tl, chain_ran_fn ran,
		       chain_interrupted_fn interrupted, void *arg)
{
	*s = (struct chain_samples) { .timelines = NULL };
	if (!timelines_interrupts(tl))
		interrupted = NULL;
	if (!timelines_sampled(tl) && !interrupted)
		return 0;
	s->hints = calloc((size_t)timelines_threads(tl) + 1, sizeof(*s->hints));
	if (!s->hints)
		return -ENOMEM;
	s->timelines = tl;
	s->ran = ran;
	s->interrupted = interrupted;
	s->arg = arg;
	return 0;
}

void chain_samples_free(struct chain_samples *s)
{
	free(s->hints);
	*s = (struct chain_samples) { .timelines = NULL };
}

void chain_samples_add(struct chain_samples *s, uint32_t node, uint32_t thread, uint64_t from_ns,
		       uint64_t to_ns, int64_t count)
{
	const struct sample *end, *first = timelines_samples(s->timelines, thread, &end);
	uint32_t *hint = &s->hints[thread];
	const struct sample *at = first + *hint;

	if ((at > first && at[-1].ns >= from_ns) || (at < end && at->ns < from_ns)) {
		at = sample_at(first, end, from_ns);
		*hint = (uint32_t)(at - first);
	}
	for (; at < end && at->ns < to_ns; at++)
		s->ran(s->arg, node, at->pair, count);
}

void chain_samples_window(struct chain_samples *s, uint32_t node, uint32_t thread, uint64_t from_ns,
			  uint64_t to_ns)
{
	uint64_t ns = 0;

	if (s->interrupted)
		ns = stolen_time_of_thread(timelines_interrupts(s->timelines), thread, from_ns,
					   to_ns);
	if (ns)
		s->interrupted(s->arg, node, ns);
	chain_samples_add(s, node, thread, from_ns, to_ns, 1);
}

const struct sample *sample_way_take(struct sample_way *way, uint64_t from_ns, uint64_t to_ns)
{
	if (way->last != way->first && way->last[-1].ns >= to_ns)
		way->last = sample_at(way->first, way->last, to_ns);
	if (way->last == way->first || way->last[-1].ns < from_ns)
		return NULL;
	return --way->last;
}
