// SPDX-License-Identifier: GPL-2.0-or-later
#include "intern.h"

#include <stdlib.h>
#include <string.h>

uint32_t intern_hash(const void *key, size_t len)
{
	const uint8_t *p = key;
	uint64_t h = 0xcbf29ce484222325u ^ len, v;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&v, p, 8);
		h = (h ^ v) * 0x9e3779b97f4a7c15u;
		h ^= h >> 32;
	}
	v = 0;
	memcpy(&v, p, len);
	h = (h ^ v) * 0x9e3779b97f4a7c15u;
	return (uint32_t)(h >> 32);
}

static bool grow_slots(struct intern *t)
{
	uint32_t size = t->slots ? (t->mask + 1) * 2 : 1024;
	uint32_t *slots = calloc(size, sizeof(*slots));

	if (!slots || !size) {
		free(slots);
		return false;
	}
	for (uint32_t id = 1; id <= t->n; id++) {
		uint32_t i = t->keys[id - 1].hash & (size - 1);

		while (slots[i])
			i = (i + 1) & (size - 1);
		slots[i] = id;
	}
	free(t->slots);
	t->slots = slots;
	t->mask = size - 1;
	return true;
}

static bool add_key(struct intern *t, const void *key, size_t len, uint32_t hash)
{
	if (t->n == t->cap) {
		uint32_t cap = t->cap ? t->cap * 2 : 512;
		struct intern_key *keys = realloc(t->keys, cap * sizeof(*keys));

		if (!keys)
			return false;
		t->keys = keys;
		t->cap = cap;
	}
	if (t->arena_cap - t->arena_len < len) {
		size_t cap = (t->arena_cap + len) * 2;
		uint8_t *arena = realloc(t->arena, cap);

		if (!arena)
			return false;
		t->arena = arena;
		t->arena_cap = cap;
	}
	if (len)
		memcpy(t->arena + t->arena_len, key, len);
	t->keys[t->n++] = (struct intern_key) { t->arena_len, (uint32_t)len, hash };
	t->arena_len += len;
	return true;
}

uint32_t intern_id(struct intern *t, const void *key, size_t len, bool *is_new)
{
	uint32_t hash, i;

	if (is_new)
		*is_new = false;
	if (len > UINT32_MAX || t->n >= UINT32_MAX / 4)
		return 0;
	if ((!t->slots || t->n >= t->mask / 2) && !grow_slots(t))
		return 0;
	hash = intern_hash(key, len);
	for (i = hash & t->mask; t->slots[i]; i = (i + 1) & t->mask) {
		const struct intern_key *k = &t->keys[t->slots[i] - 1];

		if (k->hash == hash && k->len == len &&
		    (!len || !memcmp(t->arena + k->offset, key, len)))
			return t->slots[i];
	}
	if (!add_key(t, key, len, hash))
		return 0;
	t->slots[i] = t->n;
	if (is_new)
		*is_new = true;
	return t->n;
}

void intern_free(struct intern *t)
{
	free(t->slots);
	free(t->keys);
	free(t->arena);
	*t = (struct intern) { 0 };
}
