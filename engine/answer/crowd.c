// SPDX-License-Identifier: GPL-2.0-or-later
#include "crowd.h"

#include <stdlib.h>

#include "base/compare.h"
#include "common/xalloc.h"

void crowd_add(struct crowd *c, uint32_t key, uint64_t from_ns, uint64_t to_ns)
{
	const struct crowd_edge edges[] = { { from_ns, key, 1 }, { to_ns, key, -1 } };

	for (size_t i = 0; i < 2; i++)
		XAPPEND(c->at, c->n, c->cap) = edges[i];
}

/* What ends when another one begins is over. */
static int by_key_and_time(const void *pa, const void *pb)
{
	const struct crowd_edge *a = pa, *b = pb;

	if (a->key != b->key)
		return compare_numbers(a->key, b->key);
	return a->ns != b->ns ? compare_numbers(a->ns, b->ns) : a->count - b->count;
}

void crowd_end(struct crowd *c, void (*put)(void *arg, uint32_t key, uint32_t most), void *arg)
{
	int32_t open = 0, most = 0;

	if (c->n)
		qsort(c->at, c->n, sizeof(*c->at), by_key_and_time);
	for (size_t i = 0; i < c->n; i++) {
		open += c->at[i].count;
		most = open > most ? open : most;
		if (i + 1 < c->n && c->at[i + 1].key == c->at[i].key)
			continue;
		put(arg, c->at[i].key, (uint32_t)most);
		most = 0;
	}
	free(c->at);
	*c = (struct crowd) { .n = 0 };
}
