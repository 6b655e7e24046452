// SPDX-License-Identifier: GPL-2.0-or-later
#include "names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int names_init(struct names *ns)
{
	memset(ns, 0, sizeof(*ns));
	ns->mask = 1023;
	ns->slot = calloc((size_t)ns->mask + 1, sizeof(*ns->slot));
	return ns->slot ? 0 : -ENOMEM;
}

void names_free(struct names *ns)
{
	free(ns->bytes);
	free(ns->ref);
	free(ns->slot);
	memset(ns, 0, sizeof(*ns));
}

/* Eight bytes a step, each mixed by a multiply and a fold; the length goes in first. */
static uint32_t hash_bytes(const char *p, size_t len)
{
	uint64_t h = len * UINT64_C(0x9e3779b97f4a7c15) + 1;

	while (len >= 8) {
		uint64_t w;

		memcpy(&w, p, 8);
		h = (h ^ w) * UINT64_C(0xff51afd7ed558ccd);
		h ^= h >> 32;
		p += 8;
		len -= 8;
	}
	if (len) {
		uint64_t w = 0;

		memcpy(&w, p, len);
		h = (h ^ w) * UINT64_C(0xff51afd7ed558ccd);
		h ^= h >> 32;
	}
	h *= UINT64_C(0xc4ceb9fe1a85ec53);
	return (uint32_t)(h >> 32);
}

static int grow_slots(struct names *ns)
{
	uint32_t mask = ns->mask * 2 + 1;
	uint32_t *slot = calloc((size_t)mask + 1, sizeof(*slot));

	if (!slot)
		return -ENOMEM;
	for (uint32_t id = 0; id < ns->n; id++) {
		uint32_t i = ns->ref[id].hash & mask;

		while (slot[i])
			i = (i + 1) & mask;
		slot[i] = id + 1;
	}
	free(ns->slot);
	ns->slot = slot;
	ns->mask = mask;
	return 0;
}

static int append(struct names *ns, const char *p, size_t len, uint32_t hash, uint32_t *id)
{
	if (ns->n >= INT32_MAX || len > UINT32_MAX)
		return -EOVERFLOW;
	if (ns->n == ns->ref_cap) {
		uint32_t cap = ns->ref_cap ? ns->ref_cap * 2 : 1024;
		struct name_ref *ref = realloc(ns->ref, cap * sizeof(*ref));

		if (!ref)
			return -ENOMEM;
		ns->ref = ref;
		ns->ref_cap = cap;
	}
	if (ns->cap - ns->used < len || !ns->bytes) {
		size_t cap = ns->cap ? ns->cap : 16384;
		char *bytes;

		while (cap - ns->used < len)
			cap *= 2;
		bytes = realloc(ns->bytes, cap);
		if (!bytes)
			return -ENOMEM;
		ns->bytes = bytes;
		ns->cap = cap;
	}
	if (len)
		memcpy(ns->bytes + ns->used, p, len);
	ns->ref[ns->n] = (struct name_ref) { .off = ns->used, .len = (uint32_t)len, .hash = hash };
	ns->used += len;
	*id = ns->n++;
	return 0;
}

int names_get(struct names *ns, const char *p, size_t len, uint32_t *id)
{
	uint32_t hash = hash_bytes(p, len);
	uint32_t i = hash & ns->mask;
	int err;

	for (; ns->slot[i]; i = (i + 1) & ns->mask) {
		const struct name_ref *r = &ns->ref[ns->slot[i] - 1];

		if (r->hash == hash && r->len == len &&
		    (!len || !memcmp(ns->bytes + r->off, p, len))) {
			*id = ns->slot[i] - 1;
			return 0;
		}
	}
	err = append(ns, p, len, hash, id);
	if (err)
		return err;
	ns->slot[i] = *id + 1;
	return ns->n > ns->mask / 2 ? grow_slots(ns) : 0;
}

int names_next(struct names *ns, uint32_t before, const char *p, const char *end, size_t *len,
	       uint32_t *id)
{
	uint32_t guess = ns->ref[before].after;
	const struct name_ref *r = &ns->ref[guess];
	size_t left = (size_t)(end - p);
	const char *semi;
	int err;

	if (r->len && r->len <= left && (r->len == left || p[r->len] == ';') &&
	    !memcmp(ns->bytes + r->off, p, r->len)) {
		*len = r->len;
		*id = guess;
		return 0;
	}
	semi = memchr(p, ';', left);
	*len = semi ? (size_t)(semi - p) : left;
	err = names_get(ns, p, *len, id);
	if (!err)
		ns->ref[before].after = *id;
	return err;
}

static int compare(const void *a, const void *b, void *arg)
{
	const struct names *ns = arg;
	uint32_t ka = *(const uint32_t *)a, kb = *(const uint32_t *)b;
	const struct name_ref *ra = &ns->ref[ka / 2], *rb = &ns->ref[kb / 2];
	size_t common = ra->len < rb->len ? ra->len : rb->len;
	int d = common ? memcmp(ns->bytes + ra->off, ns->bytes + rb->off, common) : 0;
	int ca, cb;

	if (d)
		return d;
	ca = ra->len > common ? (unsigned char)ns->bytes[ra->off + common] : ka & 1 ? ' ' : ';';
	cb = rb->len > common ? (unsigned char)ns->bytes[rb->off + common] : kb & 1 ? ' ' : ';';
	if (ca != cb)
		return ca < cb ? -1 : 1;
	if (ra->len != rb->len)
		return ra->len < rb->len ? -1 : 1;
	return ka < kb ? -1 : ka > kb;
}

int names_rank(const struct names *ns, uint32_t **rank)
{
	size_t n = (size_t)ns->n * 2;
	uint32_t *key = malloc((n + 1) * sizeof(*key));
	uint32_t *out = malloc((n + 1) * sizeof(*out));

	if (!key || !out) {
		free(key);
		free(out);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		key[i] = (uint32_t)i;
	qsort_r(key, n, sizeof(*key), compare, (void *)(uintptr_t)ns);
	for (size_t i = 0; i < n; i++)
		out[key[i]] = (uint32_t)i;
	free(key);
	*rank = out;
	return 0;
}
