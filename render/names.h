/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RENDER_NAMES_H
#define RENDER_NAMES_H
/*
 * Frame names, each kept once. A name is any run of bytes (no encoding is assumed here) and is
 * known by a small number, in order of first appearance. All bytes live in one arena; the first
 * ones, which are all of most names, stand in the hash table itself.
 */
#include <stddef.h>
#include <stdint.h>

#include "name_key.h"

struct name_slot {
	uint64_t head[NAME_HEAD / 8];
	uint32_t len;
	uint32_t used; /* name number + 1; 0: free */
};

struct name_ref {
	uint64_t off; /* of its first byte in the arena */
	uint32_t len; /* bytes */
};

struct names {
	char *bytes;
	size_t used, cap;
	struct name_ref *ref;
	uint32_t n, ref_cap;
	struct name_slot *slot; /* open addressing */
	uint32_t mask;
};

/* All return 0 or -ENOMEM; names_free() takes a zeroed or failed one too. */
int names_init(struct names *ns);
void names_free(struct names *ns);

/* The number of name [p, p+len), added if new, into *id. -EOVERFLOW past 2^31 names. */
int names_get(struct names *ns, const char *p, size_t len, uint32_t *id);

/* The same for a name at p whose key is known. */
int names_find(struct names *ns, const char *p, const struct name_key *key, uint32_t *id);

static inline const char *names_str(const struct names *ns, uint32_t id)
{
	return ns->bytes + ns->ref[id].off;
}

static inline size_t names_len(const struct names *ns, uint32_t id)
{
	return ns->ref[id].len;
}

/* Likewise, quick where the name is known and not longer than its head. */
static inline int names_find_quick(struct names *ns, const char *p, const struct name_key *key,
				   uint32_t *id)
{
	uint32_t i = key->hash & ns->mask;

	for (; key->len <= NAME_HEAD && ns->slot[i].used; i = (i + 1) & ns->mask) {
		const struct name_slot *s = &ns->slot[i];

		if ((s->head[0] ^ key->head[0]) | (s->head[1] ^ key->head[1]) |
		    (s->head[2] ^ key->head[2]) | (s->len ^ key->len))
			continue;
		*id = s->used - 1;
		return 0;
	}
	return names_find(ns, p, key, id);
}

/*
 * Where each name stands among its siblings: rank[2*id] for a frame that calls further frames,
 * rank[2*id+1] for a leaf. Compared as the folded lines themselves would be by sort(1): after an
 * inner frame's name comes `;`, after a leaf's a blank. The caller frees *rank.
 */
int names_rank(const struct names *ns, uint32_t **rank);

#endif
