// SPDX-License-Identifier: GPL-2.0-or-later
#include "name_table.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Names that were found; a page of this is only touched when it is used. */
#define CACHED 65536

/* name_end() reads up to this many bytes past the `;`, find_name() past the end of the name. */
#define NAME_SLACK 32

int name_table_init(struct name_table *nt)
{
	memset(nt, 0, sizeof(*nt));
	nt->cache = calloc(CACHED, sizeof(*nt->cache));
	return nt->cache ? 0 : -ENOMEM;
}

void name_table_free(struct name_table *nt)
{
	intern_free(&nt->names);
	free(nt->cache);
	nt->cache = NULL;
}

int name_table_add(struct name_table *nt, const char *p, size_t len, uint32_t *id)
{
	uint32_t n = intern_id(&nt->names, p, len, NULL);

	*id = n - 1;
	return n ? 0 : -ENOMEM;
}

static uint64_t load_word(const char *p)
{
	uint64_t w;

	memcpy(&w, p, 8);
	return w;
}

/* A mask of n bytes starts at byte NAME_HEAD - n: masking needs no branch on the length. */
static const char name_mask[2 * NAME_HEAD] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
					     "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff";

/* name_table_add() for a name that is followed by NAME_SLACK bytes. */
static int find_name(struct name_table *nt, const char *p, size_t len, uint32_t *id)
{
	struct name_cached name, *c;
	const char *mask;
	uint64_t h;
	int err;

	if (len > NAME_HEAD)
		return name_table_add(nt, p, len, id);
	mask = name_mask + NAME_HEAD - len;
	/* Unrolled: gcc -O2 keeps a loop here, with 8 % more instructions for the whole program. */
	name.head[0] = load_word(p) & load_word(mask);
	name.head[1] = load_word(p + 8) & load_word(mask + 8);
	name.head[2] = load_word(p + 16) & load_word(mask + 16);
	h = name.head[0] * UINT64_C(0x9e3779b97f4a7c15) +
	    name.head[1] * UINT64_C(0xff51afd7ed558ccd) +
	    name.head[2] * UINT64_C(0xbf58476d1ce4e5b9);
	c = &nt->cache[((h ^ h >> 32) * UINT64_C(0xc4ceb9fe1a85ec53) >> 32) % CACHED];
	if (c->used && !((c->head[0] ^ name.head[0]) | (c->head[1] ^ name.head[1]) |
			 (c->head[2] ^ name.head[2]) | (c->len ^ len))) {
		*id = c->used - 1;
		return 0;
	}
	err = name_table_add(nt, p, len, id);
	if (err)
		return err;
	name.len = (uint32_t)len;
	name.used = *id + 1;
	*c = name;
	return 0;
}

/* ---- the order of siblings ---- */

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
	size_t n = (size_t)nt->names.n * 2;
	struct sorted *list = malloc((n + 1) * sizeof(*list));
	uint32_t *out = malloc((n + 1) * sizeof(*out));

	if (!list || !out) {
		free(list);
		free(out);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		size_t len = name_len(nt, (uint32_t)i / 2);
		char head[16] = { 0 };

		memcpy(head, name_str(nt, (uint32_t)i / 2), len < 16 ? len : 16);
		if (len < 16)
			head[len] = i & 1 ? ' ' : ';';
		list[i] = (struct sorted) {
			{ be64toh(load_word(head)), be64toh(load_word(head + 8)) }, (uint32_t)i
		};
	}
	qsort_r(list, n, sizeof(*list), compare, (void *)(uintptr_t)nt);
	for (size_t i = 0; i < n; i++)
		out[list[i].index] = (uint32_t)i;
	free(list);
	*rank = out;
	return 0;
}

/* ---- stacks ---- */

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
		uint64_t x = le64toh(load_word(p + i)) ^ ';' * ones;
		uint64_t zero = (x - ones) & ~x & ones << 7; /* exact up to the first match */

		if (zero)
			return i + (unsigned)__builtin_ctzll(zero) / 8;
	}
#endif
}

static size_t common_prefix(const char *a, const char *b, size_t n)
{
	size_t i = 0;

	while (i + 8 <= n && !memcmp(a + i, b + i, 8))
		i += 8;
	while (i < n && a[i] == b[i])
		i++;
	return i;
}

static int grow_depth(struct split *s)
{
	uint32_t cap = s->depth_cap ? s->depth_cap * 2 : 128;
	void *p = realloc(s->id, cap * sizeof(*s->id));

	if (!p)
		return -ENOMEM;
	s->id = p;
	p = realloc(s->end, cap * sizeof(*s->end));
	if (!p)
		return -ENOMEM;
	s->end = p;
	s->depth_cap = cap;
	return 0;
}

/* Make the text the last one, followed by `;` and the slack that is read after it. */
static int keep_text(struct split *s, const char *stack, size_t len, size_t same)
{
	size_t need = len + 1 + NAME_SLACK;

	if (need > s->last_cap) {
		size_t cap = need * 2;
		char *p = realloc(s->last, cap);

		if (!p)
			return -ENOMEM;
		memset(p + s->last_cap, 0, cap - s->last_cap);
		s->last = p;
		s->last_cap = cap;
	}
	if (len > same)
		memcpy(s->last + same, stack + same, len - same);
	s->last[len] = ';';
	s->last_len = len;
	return 0;
}

int split_stack(struct split *s, struct name_table *names, const char *stack, size_t len)
{
	uint32_t d = s->depth;
	size_t same, at = 0;
	int err;

	while (len && stack[len - 1] == ';')
		len--;
	same = common_prefix(stack, s->last, len < s->last_len ? len : s->last_len);

	/* A frame is shared if it ends at the same byte of both, within their common bytes. */
	while (d && (s->end[d - 1] > same || (s->end[d - 1] < len && stack[s->end[d - 1]] != ';')))
		d--;
	if (d)
		at = s->end[d - 1] + 1;
	s->shared = d;
	s->depth = 0; /* after an error below, nothing is shared with the incomplete stack */
	err = keep_text(s, stack, len, same);
	while (!err && at < len) {
		const char *name = s->last + at;
		size_t n = name_end(name);

		if (d == s->depth_cap)
			err = grow_depth(s);
		if (err)
			break;
		err = find_name(names, name, n, &s->id[d]);
		if (n == 2 && name[0] == '-' && name[1] == '-')
			s->chain = true;
		at += n;
		s->end[d++] = at++;
	}
	if (!err)
		s->depth = d;
	return err;
}

void split_free(struct split *s)
{
	free(s->id);
	free(s->end);
	free(s->last);
	memset(s, 0, sizeof(*s));
}
