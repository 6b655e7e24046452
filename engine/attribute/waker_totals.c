// SPDX-License-Identifier: GPL-2.0-or-later
#include "waker_totals.h"

#include <stdlib.h>
#include <string.h>

struct waker_totals *waker_totals_new(void)
{
	return calloc(1, sizeof(struct waker_totals));
}

void waker_totals_free(struct waker_totals *t)
{
	struct waker_entry *of;

	if (!t)
		return;
	of = t->entries.at;
	for (size_t id = 1; id < t->entries.cap; id++)
		totals_free(&of[id].totals);
	intern_free(&t->keys);
	pairs_free(&t->kinds);
	pair_table_free(&t->entries);
	pair_table_free(&t->grafted);
	free(t);
}

struct waker_entry *waker_totals_entry(struct waker_totals *t, uint32_t thread, uint32_t links_left,
				       uint32_t root)
{
	uint32_t kind = pairs_id(&t->kinds, links_left, root);

	return kind ? pair_table_at(&t->entries, thread, kind, sizeof(struct waker_entry)) : NULL;
}

uint32_t *waker_totals_grafted(struct waker_totals *t, uint32_t node, uint32_t relative)
{
	return pair_table_at(&t->grafted, node, relative, sizeof(uint32_t));
}

struct amount_key waker_totals_key(const struct waker_totals *t, uint32_t id)
{
	struct amount_key key;
	size_t len;

	memcpy(&key, intern_bytes(&t->keys, id, &len), sizeof(key));
	return key;
}
