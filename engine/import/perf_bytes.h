/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_bytes.h - a place in bytes that nobody has checked, and small steps from there. A step that
 * does not fit returns false and leaves the place. Numbers are little-endian and need not be
 * aligned.
 */
#pragma once

#include <string.h>

#include "chainlog.h"
#include "import_perf.h"

struct perf_bytes {
	const uint8_t *p, *end;
};

static inline size_t perf_left(const struct perf_bytes *b)
{
	return (size_t)(b->end - b->p);
}

static inline bool perf_skip(struct perf_bytes *b, uint64_t n)
{
	if (n > perf_left(b))
		return false;
	b->p += n;
	return true;
}

/* The next n bytes, as a place of their own. */
static inline bool perf_take(struct perf_bytes *b, uint64_t n, struct perf_bytes *part)
{
	const uint8_t *p = b->p;

	if (!perf_skip(b, n))
		return false;
	*part = (struct perf_bytes) { p, b->p };
	return true;
}

static inline bool perf_u32(struct perf_bytes *b, uint32_t *v)
{
	if (perf_left(b) < 4)
		return false;
	*v = chainlog_get_le32(b->p);
	b->p += 4;
	return true;
}

static inline bool perf_u64(struct perf_bytes *b, uint64_t *v)
{
	if (perf_left(b) < 8)
		return false;
	*v = chainlog_get_le64(b->p);
	b->p += 8;
	return true;
}

/* A text up to its 0, which must be there. */
static inline bool perf_text(struct perf_bytes *b, struct import_name *text)
{
	const uint8_t *zero = b->p < b->end ? memchr(b->p, 0, perf_left(b)) : NULL;

	if (!zero)
		return false;
	*text = (struct import_name) { (const char *)b->p, (size_t)(zero - b->p) };
	b->p = zero + 1;
	return true;
}

/* A text that ends with its 0, or with the bytes. */
static inline struct import_name perf_text_in(const uint8_t *p, size_t len)
{
	return (struct import_name) { (const char *)p, strnlen((const char *)p, len) };
}

static inline bool perf_text_is(struct import_name s, const char *text)
{
	return strlen(text) == s.len && (!s.len || !memcmp(s.p, text, s.len));
}
