// SPDX-License-Identifier: GPL-2.0-or-later
#include "id_pool.h"

#include <stdlib.h>
#include <string.h>

#include "common/grow.h"

enum { FREE, RESERVED, LISTED, UNLISTED }; /* LISTED: in the index, found by its bytes */

/* Bytes that the allocator and the index add to each string. */
#define OVERHEAD 20u
/*
 * The limit of one pool, whose contents programs choose. On a busy machine it takes a tenth of
 * that.
 */
#define BYTES_MAX (256u << 20)

size_t id_pool_item_bytes(size_t len)
{
	return sizeof(struct id_pool_item) + OVERHEAD + len;
}

/* What is looked for. */
struct wanted {
	const void *key;
	size_t len;
	uint32_t hash;
};

static bool same(const void *items, uint32_t id, const void *wanted)
{
	const struct id_pool_item *i = (const struct id_pool_item *)items + id - 1;
	const struct wanted *w = wanted;

	return i->hash == w->hash && i->len == w->len && !memcmp(i->bytes, w->key, w->len);
}

static uint32_t hash_of(const void *items, uint32_t id)
{
	return ((const struct id_pool_item *)items)[id - 1].hash;
}

static uint32_t new_id(struct id_pool *p)
{
	uint32_t id = p->free_id;

	if (id) {
		p->free_id = p->items[id - 1].next;
		return id;
	}
	if (!GROW(p->items, p->n, p->cap))
		return 0;
	return p->n < UINT32_MAX / 4 ? ++p->n : 0;
}

static void give_back(struct id_pool *p, uint32_t id)
{
	p->items[id - 1] = (struct id_pool_item) { .next = p->free_id };
	p->free_id = id;
}

static bool set_bytes(struct id_pool *p, struct id_pool_item *i, const void *key, size_t len)
{
	i->bytes = malloc(len ? len : 1);
	if (!i->bytes)
		return false;
	memcpy(i->bytes, key, len);
	i->len = (uint32_t)len;
	p->bytes += id_pool_item_bytes(len);
	return true;
}

uint32_t id_pool_get(struct id_pool *p, const void *key, size_t len, uint64_t now_ns, bool *is_new)
{
	struct wanted w = { key, len, 0 };
	struct id_pool_item *i;
	uint32_t *slot, id;

	if (is_new)
		*is_new = false;
	if (!p->seed)
		p->seed = hash_seed() | 1;
	/* Room for a new one comes first: the slots may move. */
	if (!id_index_reserve(&p->index, p->n, 1024, hash_of, p->items))
		return 0;
	w.hash = hash_bytes(p->seed, key, len);
	slot = id_index_slot(&p->index, w.hash, same, p->items, &w);
	if (*slot) {
		id_pool_touch(p, *slot, now_ns);
		return *slot;
	}
	id = p->bytes < BYTES_MAX ? new_id(p) : 0;
	if (!id)
		return 0;
	i = &p->items[id - 1];
	*i = (struct id_pool_item) { .used_ns = now_ns, .hash = w.hash, .state = LISTED };
	if (!set_bytes(p, i, key, len)) {
		give_back(p, id);
		return 0;
	}
	*slot = id;
	if (is_new)
		*is_new = true;
	return id;
}

uint32_t id_pool_reserve(struct id_pool *p, uint64_t now_ns)
{
	uint32_t id = p->bytes < BYTES_MAX ? new_id(p) : 0;

	if (id)
		p->items[id - 1] = (struct id_pool_item) { .used_ns = now_ns, .state = RESERVED };
	return id;
}

bool id_pool_define(struct id_pool *p, uint32_t id, const void *key, size_t len)
{
	struct id_pool_item *i = &p->items[id - 1];

	if (i->state != RESERVED)
		return true;
	if (!set_bytes(p, i, key, len))
		return false;
	i->state = UNLISTED;
	return true;
}

const void *id_pool_key(const struct id_pool *p, uint32_t id, size_t *len)
{
	*len = p->items[id - 1].len;
	return p->items[id - 1].bytes;
}

void id_pool_text(const struct id_pool *p, uint32_t id, char *buf, size_t size)
{
	size_t len = 0;
	const char *s = id_pool_has(p, id) ? id_pool_key(p, id, &len) : NULL;

	if (!s)
		len = 0;
	if (len >= size)
		len = size - 1;
	if (len)
		memcpy(buf, s, len);
	buf[len] = '\0';
}

bool id_pool_has(const struct id_pool *p, uint32_t id)
{
	return id && id <= p->n && p->items[id - 1].state != FREE;
}

void id_pool_drop(struct id_pool *p, uint32_t id)
{
	struct id_pool_item *i = &p->items[id - 1];

	if (i->state == FREE)
		return;
	if (i->state == LISTED) {
		struct wanted w = { i->bytes, i->len, i->hash };

		id_index_remove(&p->index, id_index_slot(&p->index, i->hash, same, p->items, &w),
				hash_of, p->items);
	}
	if (i->bytes)
		p->bytes -= id_pool_item_bytes(i->len);
	free(i->bytes);
	give_back(p, id);
}

void id_pool_free(struct id_pool *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		free(p->items[i].bytes);
	free(p->items);
	id_index_free(&p->index);
	*p = (struct id_pool) { 0 };
}
