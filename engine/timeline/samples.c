// SPDX-License-Identifier: GPL-2.0-or-later
#include "samples.h"

#include <stdlib.h>

#include "common/xalloc.h"
#include "common/lower_bound.h"

void samples_add(struct samples *s, const struct sample *sample)
{
	XGROW(s->at, s->n, s->cap);
	s->at[s->n++] = *sample;
	s->any = true;
}

/* A counting sort: samples of one thread keep their order. */
void samples_sort(struct samples *s, uint32_t n_threads)
{
	struct sample *sorted;

	if (!s->n)
		return;
	s->first = xcalloc((size_t)n_threads + 2, sizeof(*s->first));
	sorted = xmalloc(s->n * sizeof(*sorted));
	/* first[i + 1] becomes where thread i begins, then where it ends. */
	for (size_t i = 0; i < s->n; i++)
		s->first[s->at[i].thread + 2]++;
	for (uint32_t i = 0; i < n_threads; i++)
		s->first[i + 2] += s->first[i + 1];
	for (size_t i = 0; i < s->n; i++)
		sorted[s->first[s->at[i].thread + 1]++] = s->at[i];
	free(s->at);
	s->at = sorted;
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
