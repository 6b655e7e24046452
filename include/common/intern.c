// SPDX-License-Identifier: GPL-2.0-or-later
#include "intern.h"

#include <stdlib.h>
#include <string.h>

#include "grow.h"

struct intern_chunk {
	struct intern_chunk *older;
	size_t cap;
	char bytes[];
};

/* What is looked for. */
struct intern_wanted {
	const void *key;
	uint32_t len, hash;
};

static bool intern_same(const void *table, uint32_t id, const void *wanted)
{
	const struct intern_wanted *w = wanted;
	const struct intern *t = table;
	const struct intern_key *k = &t->keys[id - 1];

	return k->hash == w->hash && k->len == w->len &&
	       (!w->len || !memcmp(k->bytes, w->key, w->len));
}

static uint32_t intern_hash(const void *table, uint32_t id)
{
	return ((const struct intern *)table)->keys[id - 1].hash;
}

/* Makes room for one more key of len bytes. */
static bool intern_reserve(struct intern *t, size_t len)
{
	if (!t->index.mask)
		t->seed = hash_seed();
	if (t->n == UINT32_MAX / 4 || !id_index_reserve(&t->index, t->n, 256, intern_hash, t))
		return false;
	if (!GROW(t->keys, t->n, t->cap))
		return false;
	if (t->left <= len) {
		/* Twice as large each time, so that there are few. */
		size_t cap = t->n_bytes + len + 1024;
		struct intern_chunk *chunk = malloc(sizeof(*chunk) + cap);

		if (!chunk)
			return false;
		*chunk = (struct intern_chunk) { t->chunks, cap };
		t->chunks = chunk;
		t->left = cap;
	}
	return true;
}

uint32_t intern_id(struct intern *t, const void *key, size_t len, bool *is_new)
{
	struct intern_wanted w = { key, (uint32_t)len, 0 };
	uint32_t *slot, id;
	char *bytes;

	if (is_new)
		*is_new = false;
	/* Room for a new one comes first: the slots may move. */
	if (len > UINT32_MAX || !intern_reserve(t, len))
		return 0;
	w.hash = hash_bytes(t->seed, key, len);
	slot = id_index_slot(&t->index, w.hash, intern_same, t, &w);
	id = *slot;
	if (id)
		return id;
	if (is_new)
		*is_new = true;
	bytes = t->chunks->bytes + t->chunks->cap - t->left;
	if (len)
		memcpy(bytes, key, len);
	bytes[len] = 0;
	t->keys[t->n] = (struct intern_key) { bytes, w.len, w.hash };
	t->left -= len + 1;
	t->n_bytes += len + 1;
	*slot = ++t->n;
	return t->n;
}

uint32_t intern_find(const struct intern *t, const void *key, size_t len)
{
	struct intern_wanted w = { key, (uint32_t)len, 0 };

	if (!t->index.mask || len > UINT32_MAX)
		return 0;
	w.hash = hash_bytes(t->seed, key, len);
	return *id_index_slot(&t->index, w.hash, intern_same, t, &w);
}

static void free_chunks(struct intern_chunk *c)
{
	for (struct intern_chunk *older; c; c = older) {
		older = c->older;
		free(c);
	}
}

void intern_clear(struct intern *t)
{
	id_index_clear(&t->index);
	t->n = 0;
	t->n_bytes = 0;
	/* The newest is the largest. */
	if (t->chunks) {
		free_chunks(t->chunks->older);
		t->chunks->older = NULL;
		t->left = t->chunks->cap;
	}
}

void intern_free(struct intern *t)
{
	id_index_free(&t->index);
	free(t->keys);
	free_chunks(t->chunks);
	*t = (struct intern) { .n = 0 };
}
