// SPDX-License-Identifier: GPL-2.0-or-later
#include "pairs.h"

#include "common/grow.h"

static uint32_t hash_of(const void *at, uint32_t id)
{
	const struct pair *p = &((const struct pair *)at)[id];

	return hash_pair(p->a, p->b);
}

bool pairs_reserve(struct pairs *p)
{
	if (!id_index_reserve(&p->index, p->n, 64, hash_of, p->at))
		return false;
	if (p->n + 1 >= p->cap) {
		uint32_t cap = p->cap ? p->cap + p->cap / 2 : 64;
		struct pair *at = realloc(p->at, (size_t)cap * sizeof(*at));

		if (!at)
			return false;
		p->at = at;
		p->cap = cap;
	}
	return true;
}

bool pair_table_grow(struct pair_table *t, uint32_t id, size_t size)
{
	size_t had = t->cap;
	char *at = grow_array(t->at, id, &t->cap, size);

	if (!at)
		return false;
	memset(at + had * size, 0, (t->cap - had) * size);
	t->at = at;
	return true;
}

void pairs_clear(struct pairs *p)
{
	id_index_clear(&p->index);
	p->n = 0;
}

void pairs_free(struct pairs *p)
{
	free(p->at);
	id_index_free(&p->index);
	*p = (struct pairs) { .n = 0 };
}
