// SPDX-License-Identifier: GPL-2.0-or-later
#include "samples.h"

#include <errno.h>
#include <stdlib.h>

#include "common/grow.h"
#include "common/lower_bound.h"

int samples_add(struct samples *s, const struct sample *sample)
{
	if (!GROW(s->at, s->n, s->cap))
		return -ENOMEM;
	s->at[s->n++] = *sample;
	s->any = true;
	return 0;
}

/* A counting sort: samples of one thread keep their order. */
int samples_sort(struct samples *s, uint32_t n_threads)
{
	struct sample *sorted;

	if (!s->n)
		return 0;
	s->first = calloc((size_t)n_threads + 2, sizeof(*s->first));
	sorted = malloc(s->n * sizeof(*sorted));
	if (!s->first || !sorted) {
		free(sorted);
		return -ENOMEM;
	}
	/* first[i + 1] becomes where thread i begins, then where it ends. */
	for (size_t i = 0; i < s->n; i++)
		s->first[s->at[i].thread + 2]++;
	for (uint32_t i = 0; i < n_threads; i++)
		s->first[i + 2] += s->first[i + 1];
	for (size_t i = 0; i < s->n; i++)
		sorted[s->first[s->at[i].thread + 1]++] = s->at[i];
	free(s->at);
	s->at = sorted;
	return 0;
}

void samples_free(struct samples *s)
{
	free(s->at);
	free(s->first);
	*s = (struct samples) { .at = NULL };
}

const struct sample *sample_at(const struct sample *from, const struct sample *end, uint64_t ns)
{
	size_t n = (size_t)(end - from);

	return from + LOWER_BOUND(i, n, from[i].ns < ns);
}
