// SPDX-License-Identifier: GPL-2.0-or-later
#include "stalls.h"

#include <errno.h>
#include <stdlib.h>

#include "common/grow.h"

int stalls_event(struct stalls *s, uint64_t ns, uint64_t last_ns)
{
	if (s->seen_ns && ns > s->seen_ns && ns - s->seen_ns >= STALL_MIN_NS) {
		struct stall *p = grow_array(s->at, s->n, &s->cap, sizeof(*p));

		if (!p)
			return -ENOMEM;
		s->at = p;
		p[s->n++] = (struct stall) { s->seen_ns, ns };
	}
	if (s->seen_ns < last_ns)
		s->seen_ns = last_ns;
	return 0;
}

void stalls_finish(struct stalls *s, uint64_t ran_ns, size_t samples)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->n && samples; i++) {
		uint64_t length_ns = s->at[i].to_ns - s->at[i].from_ns;

		if (length_ns / STALL_MIN_SAMPLES >= ran_ns / samples)
			s->at[kept++] = s->at[i];
	}
	s->n = kept;
}

void stalls_free(struct stalls *s)
{
	free(s->at);
	*s = (struct stalls) { .n = 0 };
}
