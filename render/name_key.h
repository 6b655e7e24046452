/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RENDER_NAME_KEY_H
#define RENDER_NAME_KEY_H
/*
 * What a name is looked up by: its first bytes as words, its length, a hash. Here as inline
 * functions, as this is what reading folded stacks spends its time on. Words are taken as they lie
 * in memory, zeros where the name has ended.
 */
#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define NAME_HEAD 24 /* bytes that are compared at once: all of most names */

/* Bytes behind a `;` that name_end() may look at, and name_key() behind the end of a name. */
#define NAME_SLACK 32

struct name_key {
	uint64_t head[NAME_HEAD / 8];
	uint32_t hash;
	size_t len; /* bytes */
};

static inline uint64_t name_word(const char *p)
{
	uint64_t w;

	memcpy(&w, p, 8);
	return w;
}

/* From byte NAME_HEAD - n on: n bytes that keep and then those that clear. No branch on a length.
 */
static const char name_keep[2 * NAME_HEAD] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
					     "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff";

/* Of the word at p, the bytes that are among the next n. */
static inline uint64_t name_part(const char *p, size_t n)
{
	return name_word(p) & name_word(name_keep + NAME_HEAD - (n < 8 ? n : 8));
}

/* How far the next `;` is; there must be one. */
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
		uint64_t zero = (x - ones) & ~x & ones << 7; /* right up to the first */

		if (zero)
			return i + (unsigned)__builtin_ctzll(zero) / 8;
	}
#endif
}

static inline void name_key(const char *p, size_t len, struct name_key *key)
{
	const char *keep = name_keep + NAME_HEAD - (len < NAME_HEAD ? len : NAME_HEAD);
	uint64_t h = len;

	for (size_t i = NAME_HEAD; i < len; i += 8) {
		h = (h ^ name_part(p + i, len - i)) * UINT64_C(0xff51afd7ed558ccd);
		h ^= h >> 32;
	}
	key->head[0] = name_word(p) & name_word(keep);
	key->head[1] = name_word(p + 8) & name_word(keep + 8);
	key->head[2] = name_word(p + 16) & name_word(keep + 16);
	key->len = len;
	h += key->head[0] * UINT64_C(0x9e3779b97f4a7c15) +
	     key->head[1] * UINT64_C(0xff51afd7ed558ccd) +
	     key->head[2] * UINT64_C(0xbf58476d1ce4e5b9);
	key->hash = (uint32_t)((h ^ h >> 32) * UINT64_C(0xc4ceb9fe1a85ec53) >> 32);
}

#endif
