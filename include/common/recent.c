// SPDX-License-Identifier: GPL-2.0-or-later
#include "recent.h"

#include <stdlib.h>

#include "grow.h"

static size_t half_bytes(const struct recent_half *h)
{
	return h->keys.arena_len + h->keys.n * (sizeof(*h->keys.keys) + sizeof(*h->ids)) +
	       (h->keys.index.mask ? ((size_t)h->keys.index.mask + 1) * sizeof(uint32_t) : 0);
}

static void turn(struct recent *r)
{
	struct recent_half young = r->old;

	r->old = r->young;
	r->young = young;
	intern_clear(&r->young.keys);
}

static uint32_t find(const struct recent_half *h, const void *key, size_t len)
{
	uint32_t i = intern_find(&h->keys, key, len);

	return i ? h->ids[i - 1] : 0;
}

uint32_t recent_id(struct recent *r, size_t max_bytes, const void *key, size_t len, bool *is_new)
{
	uint32_t id = find(&r->young, key, len), i, *ids;

	*is_new = false;
	if (id)
		return id;
	if (half_bytes(&r->young) > max_bytes / 2)
		turn(r);
	ids = grow_array(r->young.ids, r->young.keys.n, &r->young.cap, sizeof(*ids));
	if (!ids || r->last == UINT32_MAX)
		return 0;
	r->young.ids = ids;
	id = find(&r->old, key, len);
	i = intern_id(&r->young.keys, key, len, NULL);
	if (!i)
		return 0;
	*is_new = !id;
	ids[i - 1] = id ? id : ++r->last;
	return ids[i - 1];
}

void recent_free(struct recent *r)
{
	intern_free(&r->young.keys);
	intern_free(&r->old.keys);
	free(r->young.ids);
	free(r->old.ids);
	*r = (struct recent) { .last = 0 };
}
