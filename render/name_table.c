// SPDX-License-Identifier: GPL-2.0-or-later
#include "name_table.h"

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

int name_table_init(struct name_table *nt)
{
	memset(nt, 0, sizeof(*nt));
	nt->mask = 1023;
	nt->slot = new_slots(nt->mask);
	return nt->slot ? 0 : -ENOMEM;
}

void name_table_free(struct name_table *nt)
{
	free(nt->bytes);
	free(nt->ref);
	free(nt->slot);
	memset(nt, 0, sizeof(*nt));
}

static int grow_slots(struct name_table *nt)
{
	uint32_t mask = nt->mask * 2 + 1;
	struct name_slot *slot = new_slots(mask);

	if (!slot)
		return -ENOMEM;
	for (uint32_t j = 0; j <= nt->mask; j++) {
		const struct name_slot *old = &nt->slot[j];
		struct name_key key;
		uint32_t i;

		if (!old->used)
			continue;
		name_key(name_str(nt, old->used - 1), old->len, &key);
		i = key.hash & mask;
		while (slot[i].used)
			i = (i + 1) & mask;
		slot[i] = *old;
	}
	free(nt->slot);
	nt->slot = slot;
	nt->mask = mask;
	return 0;
}

static int append(struct name_table *nt, const char *p, size_t len, uint32_t *id)
{
	if (nt->n >= INT32_MAX || len >= UINT32_MAX)
		return -EOVERFLOW;
	if (nt->n == nt->ref_cap) {
		uint32_t cap = nt->ref_cap ? nt->ref_cap * 2 : 1024;
		struct name_ref *ref = realloc(nt->ref, cap * sizeof(*ref));

		if (!ref)
			return -ENOMEM;
		nt->ref = ref;
		nt->ref_cap = cap;
	}
	if (nt->cap - nt->used < len + NAME_SLACK || !nt->bytes) {
		size_t cap = nt->cap ? nt->cap : 16384;
		char *bytes;

		while (cap - nt->used < len + NAME_SLACK)
			cap *= 2;
		bytes = realloc(nt->bytes, cap);
		if (!bytes)
			return -ENOMEM;
		memset(bytes + nt->used, 0, cap - nt->used);
		nt->bytes = bytes;
		nt->cap = cap;
	}
	if (len)
		memcpy(nt->bytes + nt->used, p, len);
	nt->ref[nt->n] = (struct name_ref) { .off = nt->used, .len = (uint32_t)len };
	nt->used += len;
	*id = nt->n++;
	return 0;
}

int name_table_add_slow(struct name_table *nt, const char *p, const struct name_key *key,
			uint32_t *id)
{
	uint32_t i = key->hash & nt->mask;
	int err;

	for (; nt->slot[i].used; i = (i + 1) & nt->mask) {
		*id = nt->slot[i].used - 1;
		if (name_slot_fits(&nt->slot[i], key) &&
		    (key->len <= NAME_HEAD ||
		     !memcmp(name_str(nt, *id) + NAME_HEAD, p + NAME_HEAD, key->len - NAME_HEAD)))
			return 0;
	}
	err = append(nt, p, key->len, id);
	if (err)
		return err;
	nt->slot[i] = (struct name_slot) {
		.head = { key->head[0], key->head[1], key->head[2] },
		.len = (uint32_t)key->len,
		.used = *id + 1,
	};
	return nt->n > nt->mask / 2 ? grow_slots(nt) : 0;
}

int name_table_add(struct name_table *nt, const char *p, size_t len, uint32_t *id)
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
	err = name_table_add_slow(nt, copy, &key, id);
	if (copy != small)
		free(copy);
	return err;
}

/* A sort item: the first 16 bytes, with what follows the name, as numbers of the same order. */
struct sorted {
	uint64_t head[2];
	uint32_t index; /* in rank[] */
};

/* The byte at i of the name in a folded line; i is at most its length. */
static int line_byte(const struct name_table *nt, uint32_t index, size_t i)
{
	if (i < name_len(nt, index / 2))
		return (unsigned char)name_str(nt, index / 2)[i];
	return index & 1 ? ' ' : ';';
}

static int compare_names(const struct name_table *nt, uint32_t a, uint32_t b)
{
	size_t la = name_len(nt, a / 2), lb = name_len(nt, b / 2), common = la < lb ? la : lb;
	int d = common ? memcmp(name_str(nt, a / 2), name_str(nt, b / 2), common) : 0;

	if (!d)
		d = line_byte(nt, a, common) - line_byte(nt, b, common);
	if (d)
		return d;
	if (la != lb)
		return la < lb ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int compare(const void *a, const void *b, void *arg)
{
	const struct sorted *x = a, *y = b;

	for (int i = 0; i < 2; i++)
		if (x->head[i] != y->head[i])
			return x->head[i] < y->head[i] ? -1 : 1;
	return compare_names(arg, x->index, y->index);
}

int name_table_rank(const struct name_table *nt, uint32_t **rank)
{
	size_t n = (size_t)nt->n * 2;
	struct sorted *list = malloc((n + 1) * sizeof(*list));
	uint32_t *out = malloc((n + 1) * sizeof(*out));

	if (!list || !out) {
		free(list);
		free(out);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		const struct name_ref *r = &nt->ref[i / 2];
		char head[16] = { 0 };

		memcpy(head, nt->bytes + r->off, r->len < 16 ? r->len : 16);
		if (r->len < 16)
			head[r->len] = i & 1 ? ' ' : ';';
		list[i] = (struct sorted) {
			{ be64toh(name_word(head)), be64toh(name_word(head + 8)) }, (uint32_t)i
		};
	}
	qsort_r(list, n, sizeof(*list), compare, (void *)(uintptr_t)nt);
	for (size_t i = 0; i < n; i++)
		out[list[i].index] = (uint32_t)i;
	free(list);
	*rank = out;
	return 0;
}
