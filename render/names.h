/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RENDER_NAMES_H
#define RENDER_NAMES_H
/*
 * Frame names, each kept once. A name is any run of bytes (no encoding is assumed here) and is
 * known by a small number, in order of first appearance. All bytes live in one arena.
 */
#include <stddef.h>
#include <stdint.h>

struct name_ref {
	uint64_t off; /* of its first byte in the arena */
	uint32_t len; /* bytes */
	uint32_t hash;
	uint32_t after; /* the name that last came after this one, a guess for the next time */
};

struct names {
	char *bytes;
	size_t used, cap;
	struct name_ref *ref;
	uint32_t n, ref_cap;
	uint32_t *slot; /* open addressing: name number + 1, 0 is free */
	uint32_t mask;
};

/* All return 0 or -ENOMEM; names_free() takes a zeroed or failed one too. */
int names_init(struct names *ns);
void names_free(struct names *ns);

/* The number of name [p, p+len), added if new, into *id. -EOVERFLOW past 2^31 names. */
int names_get(struct names *ns, const char *p, size_t len, uint32_t *id);

/*
 * The number of the name that starts at p and ends at the next `;` or at end, into *id, and its
 * length into *len. It comes after name `before` in its stack: callees repeat, so the last one
 * seen there is tried first, which saves finding the name's end and hashing it.
 */
int names_next(struct names *ns, uint32_t before, const char *p, const char *end, size_t *len,
	       uint32_t *id);

static inline const char *names_str(const struct names *ns, uint32_t id)
{
	return ns->bytes + ns->ref[id].off;
}

static inline size_t names_len(const struct names *ns, uint32_t id)
{
	return ns->ref[id].len;
}

/*
 * Where each name stands among its siblings: rank[2*id] for a frame that calls further frames,
 * rank[2*id+1] for a leaf. Compared as the folded lines themselves would be by sort(1): after an
 * inner frame's name comes `;`, after a leaf's a blank. The caller frees *rank.
 */
int names_rank(const struct names *ns, uint32_t **rank);

#endif
