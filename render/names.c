// SPDX-License-Identifier: GPL-2.0-or-later
#include "names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static struct name_slot *new_slots(uint32_t mask)
{
	size_t bytes = ((size_t)mask + 1) * sizeof(struct name_slot);
	struct name_slot *slot = aligned_alloc(64, bytes);

	if (slot)
		memset(slot, 0, bytes);
	return slot;
}

int names_init(struct names *ns)
{
	memset(ns, 0, sizeof(*ns));
	ns->mask = 1023;
	ns->slot = new_slots(ns->mask);
	return ns->slot ? 0 : -ENOMEM;
}

void names_free(struct names *ns)
{
	free(ns->bytes);
	free(ns->ref);
	free(ns->slot);
	memset(ns, 0, sizeof(*ns));
}

static int grow_slots(struct names *ns)
{
	uint32_t mask = ns->mask * 2 + 1;
	struct name_slot *slot = new_slots(mask);

	if (!slot)
		return -ENOMEM;
	for (uint32_t j = 0; j <= ns->mask; j++) {
		const struct name_slot *old = &ns->slot[j];
		struct name_key key;
		uint32_t i;

		if (!old->used)
			continue;
		name_key(ns->bytes + ns->ref[old->used - 1].off, old->len, &key);
		i = key.hash & mask;
		while (slot[i].used)
			i = (i + 1) & mask;
		slot[i] = *old;
	}
	free(ns->slot);
	ns->slot = slot;
	ns->mask = mask;
	return 0;
}

static int append(struct names *ns, const char *p, size_t len, uint32_t *id)
{
	if (ns->n >= INT32_MAX || len >= UINT32_MAX)
		return -EOVERFLOW;
	if (ns->n == ns->ref_cap) {
		uint32_t cap = ns->ref_cap ? ns->ref_cap * 2 : 1024;
		struct name_ref *ref = realloc(ns->ref, cap * sizeof(*ref));

		if (!ref)
			return -ENOMEM;
		ns->ref = ref;
		ns->ref_cap = cap;
	}
	if (ns->cap - ns->used < len + NAME_SLACK || !ns->bytes) {
		size_t cap = ns->cap ? ns->cap : 16384;
		char *bytes;

		while (cap - ns->used < len + NAME_SLACK)
			cap *= 2;
		bytes = realloc(ns->bytes, cap);
		if (!bytes)
			return -ENOMEM;
		memset(bytes + ns->used, 0, cap - ns->used);
		ns->bytes = bytes;
		ns->cap = cap;
	}
	if (len)
		memcpy(ns->bytes + ns->used, p, len);
	ns->ref[ns->n] = (struct name_ref) { .off = ns->used, .len = (uint32_t)len };
	ns->used += len;
	*id = ns->n++;
	return 0;
}

static bool is_same(const struct names *ns, const struct name_slot *s, const char *p,
		    const struct name_key *key)
{
	if ((s->head[0] ^ key->head[0]) | (s->head[1] ^ key->head[1]) |
	    (s->head[2] ^ key->head[2]) | (s->len ^ key->len))
		return false;
	return key->len <= NAME_HEAD || !memcmp(ns->bytes + ns->ref[s->used - 1].off + NAME_HEAD,
						p + NAME_HEAD, key->len - NAME_HEAD);
}

int names_find(struct names *ns, const char *p, const struct name_key *key, uint32_t *id)
{
	uint32_t i = key->hash & ns->mask;
	int err;

	for (; ns->slot[i].used; i = (i + 1) & ns->mask)
		if (is_same(ns, &ns->slot[i], p, key)) {
			*id = ns->slot[i].used - 1;
			return 0;
		}
	err = append(ns, p, key->len, id);
	if (err)
		return err;
	ns->slot[i] = (struct name_slot) {
		.head = { key->head[0], key->head[1], key->head[2] },
		.len = (uint32_t)key->len,
		.used = *id + 1,
	};
	return ns->n > ns->mask / 2 ? grow_slots(ns) : 0;
}

int names_get(struct names *ns, const char *p, size_t len, uint32_t *id)
{
	char small[256], *copy = small;
	struct name_key key;
	int err;

	if (len > sizeof(small) - NAME_SLACK)
		copy = malloc(len + NAME_SLACK);
	if (!copy)
		return -ENOMEM;
	if (len)
		memcpy(copy, p, len);
	memset(copy + len, 0, NAME_SLACK);
	name_key(copy, len, &key);
	err = names_find(ns, copy, &key, id);
	if (copy != small)
		free(copy);
	return err;
}

/* A name as it is sorted: with what ends it, its first bytes as numbers that compare like them. */
struct sorted {
	uint64_t head[2];
	uint32_t key;
};

static int compare_rest(const struct names *ns, uint32_t ka, uint32_t kb)
{
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

static int compare(const void *a, const void *b, void *arg)
{
	const struct sorted *x = a, *y = b;

	for (int i = 0; i < 2; i++)
		if (x->head[i] != y->head[i])
			return x->head[i] < y->head[i] ? -1 : 1;
	return compare_rest(arg, x->key, y->key);
}

int names_rank(const struct names *ns, uint32_t **rank)
{
	size_t n = (size_t)ns->n * 2;
	struct sorted *list = malloc((n + 1) * sizeof(*list));
	uint32_t *out = malloc((n + 1) * sizeof(*out));

	if (!list || !out) {
		free(list);
		free(out);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		const struct name_ref *r = &ns->ref[i / 2];
		char head[16] = { 0 };

		memcpy(head, ns->bytes + r->off, r->len < 16 ? r->len : 16);
		if (r->len < 16)
			head[r->len] = i & 1 ? ' ' : ';';
		list[i] = (struct sorted) {
			{ be64toh(name_word(head)), be64toh(name_word(head + 8)) }, (uint32_t)i
		};
	}
	qsort_r(list, n, sizeof(*list), compare, (void *)(uintptr_t)ns);
	for (size_t i = 0; i < n; i++)
		out[list[i].key] = (uint32_t)i;
	free(list);
	*rank = out;
	return 0;
}
