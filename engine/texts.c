// SPDX-License-Identifier: GPL-2.0-or-later
#include "texts.h"

#include <stdlib.h>
#include <string.h>

#include "grow.h"

static uint32_t hash(const char *s, size_t len)
{
	uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)s[i]) * 0x100000001b3u;
	return (uint32_t)(h ^ h >> 32);
}

static int grow_slots(struct texts *t)
{
	uint32_t mask = t->mask ? t->mask * 2 + 1 : 255;
	uint32_t *slots = mask < UINT32_MAX / 2 ? calloc((size_t)mask + 1, sizeof(*slots)) : NULL;

	if (!slots)
		return -1;
	for (uint32_t id = 1; id <= t->n; id++) {
		const char *s = texts_get(t, id);
		uint32_t i = hash(s, strlen(s)) & mask;

		while (slots[i])
			i = (i + 1) & mask;
		slots[i] = id;
	}
	free(t->slots);
	t->slots = slots;
	t->mask = mask;
	return 0;
}

uint32_t texts_id(struct texts *t, const char *s, size_t len)
{
	uint32_t h = hash(s, len), i;
	void *p;

	if ((!t->mask || t->n >= t->mask / 3 * 2) && grow_slots(t))
		return 0;
	for (i = h & t->mask; t->slots[i]; i = (i + 1) & t->mask) {
		const char *have = texts_get(t, t->slots[i]);

		if (!strncmp(have, s, len) && !have[len])
			return t->slots[i];
	}
	p = grow_array(t->at, (size_t)t->n + 1, &t->cap_at, sizeof(*t->at));
	if (!p)
		return 0;
	t->at = p;
	if (t->cap - t->len < len + 1) {
		size_t cap = t->cap * 2 + len + 4096;

		p = realloc(t->bytes, cap);
		if (!p)
			return 0;
		t->bytes = p;
		t->cap = cap;
	}
	t->at[++t->n] = t->len;
	memcpy(t->bytes + t->len, s, len);
	t->bytes[t->len + len] = '\0';
	t->len += len + 1;
	t->slots[i] = t->n;
	return t->n;
}

const char *texts_get(const struct texts *t, uint32_t id)
{
	return id && id <= t->n ? t->bytes + t->at[id] : "";
}

void texts_free(struct texts *t)
{
	free(t->bytes);
	free(t->at);
	free(t->slots);
	*t = (struct texts) { 0 };
}

void text_put(struct text_buf *b, const char *s, size_t len)
{
	if (b->failed || !len)
		return;
	if (b->cap - b->len <= len) {
		size_t cap = b->cap * 2 + len + 256;
		char *p = realloc(b->p, cap);

		if (!p) {
			b->failed = 1;
			return;
		}
		b->p = p;
		b->cap = cap;
	}
	memcpy(b->p + b->len, s, len);
	b->len += len;
	b->p[b->len] = '\0';
}

void text_puts(struct text_buf *b, const char *s)
{
	text_put(b, s, strlen(s));
}

void text_free(struct text_buf *b)
{
	free(b->p);
	*b = (struct text_buf) { 0 };
}
