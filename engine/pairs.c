// SPDX-License-Identifier: GPL-2.0-or-later
#include "pairs.h"

#include <stdlib.h>

/* Fibonacci hashing: multiply, keep the high bits. */
static uint32_t slot_of(uint32_t a, uint32_t b, uint32_t mask)
{
	uint64_t k = ((uint64_t)a << 32 | b) * 0x9e3779b97f4a7c15u;

	k ^= k >> 29;
	k *= 0xbf58476d1ce4e5b9u;
	return (uint32_t)(k >> 32) & mask;
}

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
		uint32_t i = slot_of(p->at[id].a, p->at[id].b, mask);

		while (slots[i])
			i = (i + 1) & mask;
		slots[i] = id;
	}
	free(p->slots);
	p->slots = slots;
	p->mask = mask;
	return 0;
}

uint32_t pairs_find(const struct pairs *p, uint32_t a, uint32_t b)
{
	if (!p->mask)
		return 0;
	for (uint32_t i = slot_of(a, b, p->mask);; i = (i + 1) & p->mask) {
		uint32_t id = p->slots[i];

		if (!id || (p->at[id].a == a && p->at[id].b == b))
			return id;
	}
}

uint32_t pairs_id_new(struct pairs *p, uint32_t a, uint32_t b, int *is_new)
{
	uint32_t id = pairs_find(p, a, b);
	uint32_t i;

	*is_new = 0;
	if (id)
		return id;
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
	for (i = slot_of(a, b, p->mask); p->slots[i]; i = (i + 1) & p->mask)
		;
	p->slots[i] = id;
	*is_new = 1;
	return id;
}

uint32_t pairs_id(struct pairs *p, uint32_t a, uint32_t b)
{
	int is_new;

	return pairs_id_new(p, a, b, &is_new);
}

void pairs_free(struct pairs *p)
{
	free(p->at);
	free(p->slots);
	*p = (struct pairs) { 0 };
}
