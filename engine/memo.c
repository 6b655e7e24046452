// SPDX-License-Identifier: GPL-2.0-or-later
#include "memo.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "grow.h"

static uint64_t load64(const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* All bits of both factors reach all bits of the result. */
static uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hash(uint64_t seed, const void *key, size_t len)
{
	static const uint64_t k[4] = { 0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u,
				       0x94d049bb133111ebu, 0xd6e8feb86659fd93u };
	const unsigned char *p = key;
	uint64_t a = seed ^ len, b = seed + k[0], tail[4] = { 0 };

	/* Two chains of multiplications, which the CPU works on at the same time. */
	for (; len >= 32; p += 32, len -= 32) {
		a = mix(a ^ load64(p) ^ k[0], load64(p + 8) ^ k[1]);
		b = mix(b ^ load64(p + 16) ^ k[2], load64(p + 24) ^ k[3]);
	}
	memcpy(tail, p, len);
	a = mix(a ^ tail[0] ^ k[0], tail[1] ^ k[1]);
	b = mix(b ^ tail[2] ^ k[2], tail[3] ^ k[3]);
	return mix(a ^ seed, b ^ k[0]);
}

static int grow_slots(struct memo *m)
{
	size_t mask = m->mask ? m->mask * 2 + 1 : 1023;
	uint32_t *slots = mask < UINT32_MAX / 2 ? calloc(mask + 1, sizeof(*slots)) : NULL;

	if (!slots)
		return -1;
	if (!m->mask && getrandom(&m->seed, sizeof(m->seed), GRND_NONBLOCK) < 0)
		m->seed = (uint64_t)(uintptr_t)slots; /* where this lies is random, too */
	for (size_t e = 0; e < m->n; e++) {
		size_t i = (size_t)m->entries[e].hash & mask;

		while (slots[i])
			i = (i + 1) & mask;
		slots[i] = (uint32_t)e + 1;
	}
	free(m->slots);
	m->slots = slots;
	m->mask = mask;
	return 0;
}

static uint32_t *add(struct memo *m, uint64_t h, const void *key, size_t len, size_t slot)
{
	struct memo_entry *e = grow_array(m->entries, m->n, &m->cap_entries, sizeof(*e));

	if (!e)
		return NULL;
	m->entries = e;
	if (m->cap - m->len < len) {
		size_t cap = m->cap * 2 + len + 4096;
		char *p = realloc(m->keys, cap);

		if (!p)
			return NULL;
		m->keys = p;
		m->cap = cap;
	}
	memcpy(m->keys + m->len, key, len);
	e += m->n++;
	*e = (struct memo_entry) { h, m->len, (uint32_t)len, 0 };
	m->len += len;
	m->slots[slot] = (uint32_t)m->n;
	return &e->value;
}

uint32_t *memo_at(struct memo *m, const void *key, size_t len)
{
	uint64_t h;
	size_t i;

	if (m->n >= m->mask / 3 * 2 && grow_slots(m))
		return NULL;
	h = hash(m->seed, key, len);
	for (i = (size_t)h & m->mask; m->slots[i]; i = (i + 1) & m->mask) {
		struct memo_entry *e = &m->entries[m->slots[i] - 1];

		if (e->hash == h && e->len == len && !memcmp(m->keys + e->at, key, len))
			return &e->value;
	}
	return add(m, h, key, len, i);
}

void memo_clear(struct memo *m)
{
	if (m->slots)
		memset(m->slots, 0, (m->mask + 1) * sizeof(*m->slots));
	m->n = 0;
	m->len = 0;
}

void memo_free(struct memo *m)
{
	free(m->keys);
	free(m->entries);
	free(m->slots);
	*m = (struct memo) { 0 };
}
