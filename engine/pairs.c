// SPDX-License-Identifier: GPL-2.0-or-later
#include "pairs.h"

#include <stdlib.h>

static int grow_slots(struct pairs *p)
{
	uint32_t mask = p->mask ? p->mask * 2 + 1 : 63;
	uint32_t *slots;

	if (mask > UINT32_MAX / 2)
		return -1;
	slots = calloc((size_t)mask + 1, sizeof(*slots));
	if (!slots)
		return -1;
	for (uint32_t id = 1; id <= p->n; id++) {
		uint32_t i = pairs_slot(p->at[id].a, p->at[id].b, mask);

		while (slots[i])
			i = (i + 1) & mask;
		slots[i] = id;
	}
	free(p->slots);
	p->slots = slots;
	p->mask = mask;
	return 0;
}

uint32_t pairs_add(struct pairs *p, uint32_t a, uint32_t b)
{
	uint32_t id, i;

	/* At most two thirds full. */
	if ((!p->mask || p->n >= p->mask / 3 * 2) && grow_slots(p))
		return 0;
	if (p->n + 1 >= p->cap) {
		uint32_t cap = p->cap ? p->cap + p->cap / 2 : 64;
		struct pair *at = realloc(p->at, (size_t)cap * sizeof(*at));

		if (!at)
			return 0;
		p->at = at;
		p->cap = cap;
	}
	id = ++p->n;
	p->at[id] = (struct pair) { a, b };
	for (i = pairs_slot(a, b, p->mask); p->slots[i]; i = (i + 1) & p->mask)
		;
	p->slots[i] = id;
	return id;
}

void pairs_free(struct pairs *p)
{
	free(p->at);
	free(p->slots);
	*p = (struct pairs) { 0 };
}
