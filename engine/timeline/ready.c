// SPDX-License-Identifier: GPL-2.0-or-later
#include "ready.h"

#include <errno.h>
#include <stdlib.h>

#include "base/pairs.h"
#include "common/grow.h"
#include "trace/trace.h"

int ready_add(struct ready_notes *r, const struct ready_note *note)
{
	struct ready_note *p = grow_array(r->at, r->n, &r->cap, sizeof(*p));

	if (!p)
		return -ENOMEM;
	r->at = p;
	p[r->n++] = *note;
	return 0;
}

/* A wait has at most one thing that is ready, beside what it waited for. */
static bool lacks_ready(const struct pairs *pairs, uint32_t id)
{
	const struct pair *p = id ? &pairs->at[id] : NULL;

	return p && p->a & TRACE_PAIR_OBJECT && !(p->b && pairs->at[p->b].a & TRACE_PAIR_OBJECT);
}

int ready_pair(struct pairs *pairs, uint32_t object, uint32_t *pair)
{
	uint32_t id;

	if (!lacks_ready(pairs, *pair))
		return 0;
	id = pairs_id(pairs, TRACE_PAIR_OBJECT | object, *pair);
	if (!id)
		return -ENOMEM;
	*pair = id;
	return 0;
}

void ready_free(struct ready_notes *r)
{
	free(r->at);
	*r = (struct ready_notes) { .at = NULL };
}
