/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recent.h - gives keys ids that ascend from 1, and recognizes those keys that came lately, in
 * bounded memory. A key that was forgotten is a new one when it comes again. It owns copies of the
 * keys, in two tables: when the young one is half of what may be kept, the old one is cleared, and
 * they change places. A key that is found in the old one becomes young again.
 */
#ifndef RECENT_H
#define RECENT_H

#include "common/grow.h"
#include "common/intern.h"

struct recent_half {
	struct intern keys;
	uint32_t *ids; /* by the number of the key - 1 */
	size_t cap;
};

/* All zero is an empty table. */
struct recent {
	struct recent_half young, old;
	uint32_t last; /* id given; the caller may give the next ones, too, which have no key */
};

static inline size_t recent_half_bytes(const struct recent_half *h)
{
	return h->keys.arena_len + h->keys.n * (sizeof(*h->keys.keys) + sizeof(*h->ids)) +
	       (h->keys.index.mask ? ((size_t)h->keys.index.mask + 1) * sizeof(uint32_t) : 0);
}

static inline void recent_turn(struct recent *r)
{
	struct recent_half young = r->old;

	r->old = r->young;
	r->young = young;
	intern_clear(&r->young.keys);
}

static inline uint32_t recent_in(const struct recent_half *h, const void *key, size_t len)
{
	uint32_t i = intern_find(&h->keys, key, len);

	return i ? h->ids[i - 1] : 0;
}

/*
 * Returns the id of the len bytes at key, given now if they are not known any more; *is_new says
 * so. What is kept takes max_bytes, about, the same in each call. 0: out of memory or of ids.
 */
static inline uint32_t recent_id(struct recent *r, size_t max_bytes, const void *key, size_t len,
				 bool *is_new)
{
	uint32_t id = recent_in(&r->young, key, len), i, *ids;

	*is_new = false;
	if (id)
		return id;
	if (recent_half_bytes(&r->young) > max_bytes / 2)
		recent_turn(r);
	ids = grow_array(r->young.ids, r->young.keys.n, &r->young.cap, sizeof(*ids));
	if (!ids || r->last == UINT32_MAX)
		return 0;
	r->young.ids = ids;
	id = recent_in(&r->old, key, len);
	i = intern_id(&r->young.keys, key, len, NULL);
	if (!i)
		return 0;
	*is_new = !id;
	ids[i - 1] = id ? id : ++r->last;
	return ids[i - 1];
}

static inline void recent_free(struct recent *r)
{
	intern_free(&r->young.keys);
	intern_free(&r->old.keys);
	free(r->young.ids);
	free(r->old.ids);
	*r = (struct recent) { .last = 0 };
}

#endif /* RECENT_H */
