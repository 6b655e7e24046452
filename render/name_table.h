/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RENDER_NAME_TABLE_H
#define RENDER_NAME_TABLE_H
/*
 * Interned frame names: each distinct byte string is stored once and gets a dense id, in order of
 * first appearance. No encoding is assumed. All bytes are in one arena. Most names are at most
 * NAME_HEAD bytes long; the hash table holds these bytes itself, so that such a lookup touches no
 * other memory. The lookup is inline: reading folded stacks spends most of its time in it.
 */
#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define NAME_HEAD 24 /* bytes compared at once */

/* name_end() reads up to this many bytes past the `;`, name_key() past the end of the name. */
#define NAME_SLACK 32

struct name_key {
	uint64_t head[NAME_HEAD / 8]; /* first bytes in memory order, zeros after the name's end */
	uint32_t hash;
	size_t len; /* bytes */
};

struct name_slot {
	uint64_t head[NAME_HEAD / 8];
	uint32_t len;
	uint32_t used; /* id + 1; 0: free */
};

struct name_ref {
	uint64_t off; /* of the first byte in the arena */
	uint32_t len; /* bytes */
};

struct name_table {
	char *bytes; /* the arena */
	size_t used, cap;
	struct name_ref *ref; /* by id */
	uint32_t n, ref_cap;
	struct name_slot *slot; /* open addressing */
	uint32_t mask;
};

/* 0 or -ENOMEM. name_table_free() also accepts a zeroed table and one whose init failed. */
int name_table_init(struct name_table *nt);
void name_table_free(struct name_table *nt);

/* Set *id to the id of [p, p+len), a new one if needed. 0, -ENOMEM, -EOVERFLOW at 2^31 names. */
int name_table_add(struct name_table *nt, const char *p, size_t len, uint32_t *id);

/* The slow path of name_table_add_key(): any length, new names. */
int name_table_add_slow(struct name_table *nt, const char *p, const struct name_key *key,
			uint32_t *id);

/*
 * The position of each name among its siblings: rank[2*id] for a frame with callees, rank[2*id+1]
 * for a leaf. The order is that of the folded lines under sort(1) in the C locale: `;` follows the
 * name of a frame with callees, a blank follows that of a leaf. The caller frees *rank.
 * 0 or -ENOMEM.
 */
int name_table_rank(const struct name_table *nt, uint32_t **rank);

static inline const char *name_str(const struct name_table *nt, uint32_t id)
{
	return nt->bytes + nt->ref[id].off;
}

static inline size_t name_len(const struct name_table *nt, uint32_t id)
{
	return nt->ref[id].len;
}

static inline bool name_is(const struct name_table *nt, uint32_t id, const char *s)
{
	return name_len(nt, id) == strlen(s) && !memcmp(name_str(nt, id), s, strlen(s));
}

static inline uint64_t name_word(const char *p)
{
	uint64_t w;

	memcpy(&w, p, 8);
	return w;
}

/* A mask of n bytes starts at byte NAME_HEAD - n: masking needs no branch on the length. */
static const char name_mask[2 * NAME_HEAD] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
					     "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff";

/* The distance from p to the next `;`, which must exist. */
static inline size_t name_end(const char *p)
{
	size_t i = 0;

#ifdef __SSE2__
	const __m128i semi = _mm_set1_epi8(';');

	for (;; i += 32) {
		__m128i a = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
		__m128i b = _mm_loadu_si128((const __m128i *)(const void *)(p + i + 16));
		unsigned low = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(a, semi));
		unsigned high = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(b, semi));

		if (low | high)
			return i + (unsigned)__builtin_ctz(low | high << 16);
	}
#else
	const uint64_t ones = UINT64_C(0x0101010101010101);

	for (;; i += 8) {
		uint64_t x = le64toh(name_word(p + i)) ^ ';' * ones;
		uint64_t zero = (x - ones) & ~x & ones << 7; /* exact up to the first match */

		if (zero)
			return i + (unsigned)__builtin_ctzll(zero) / 8;
	}
#endif
}

static inline void name_key(const char *p, size_t len, struct name_key *key)
{
	const char *mask = name_mask + NAME_HEAD - (len < NAME_HEAD ? len : NAME_HEAD);
	uint64_t h = len;

	for (size_t i = NAME_HEAD; i < len; i += 8) {
		size_t n = len - i < 8 ? len - i : 8;

		h ^= name_word(p + i) & name_word(name_mask + NAME_HEAD - n);
		h *= UINT64_C(0xff51afd7ed558ccd);
		h ^= h >> 32;
	}
	/* Unrolled: gcc -O2 keeps a loop here, with 8 % more instructions for the whole program. */
	key->head[0] = name_word(p) & name_word(mask);
	key->head[1] = name_word(p + 8) & name_word(mask + 8);
	key->head[2] = name_word(p + 16) & name_word(mask + 16);
	key->len = len;
	h += key->head[0] * UINT64_C(0x9e3779b97f4a7c15) +
	     key->head[1] * UINT64_C(0xff51afd7ed558ccd) +
	     key->head[2] * UINT64_C(0xbf58476d1ce4e5b9);
	key->hash = (uint32_t)((h ^ h >> 32) * UINT64_C(0xc4ceb9fe1a85ec53) >> 32);
}

/* Is the slot's name as long as the key's, with the same first NAME_HEAD bytes? */
static inline bool name_slot_fits(const struct name_slot *s, const struct name_key *key)
{
	return !((s->head[0] ^ key->head[0]) | (s->head[1] ^ key->head[1]) |
		 (s->head[2] ^ key->head[2]) | (s->len ^ key->len));
}

/* name_table_add() for a name at p whose key is known. */
static inline int name_table_add_key(struct name_table *nt, const char *p,
				     const struct name_key *key, uint32_t *id)
{
	uint32_t i = key->hash & nt->mask;

	for (; key->len <= NAME_HEAD && nt->slot[i].used; i = (i + 1) & nt->mask)
		if (name_slot_fits(&nt->slot[i], key)) {
			*id = nt->slot[i].used - 1;
			return 0;
		}
	return name_table_add_slow(nt, p, key, id);
}

#endif
