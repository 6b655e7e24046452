/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bytes.h - bytes that are looked at one after the other, never beyond their end. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* What is left of some bytes: nothing can be read beyond the end. */
struct bytes {
	const uint8_t *at, *end;
};

static inline size_t left(const struct bytes *b)
{
	return (size_t)(b->end - b->at);
}

/* The byte that comes next, without taking it; 0 at the end. */
static inline uint8_t peek(const struct bytes *b)
{
	return b->at < b->end ? *b->at : 0;
}

/* Takes a number of 1 to 8 bytes. False: there are not as many. */
static inline bool take_big_endian(struct bytes *b, size_t size, uint64_t *number)
{
	if (left(b) < size)
		return false;
	*number = 0;
	for (size_t i = 0; i < size; i++)
		*number = *number << 8 | *b->at++;
	return true;
}

static inline bool take_little_endian(struct bytes *b, size_t size, uint64_t *number)
{
	if (left(b) < size)
		return false;
	*number = 0;
	for (size_t i = 0; i < size; i++)
		*number |= (uint64_t)*b->at++ << 8 * i;
	return true;
}

/* Takes a text that must come next. */
static inline bool take_text(struct bytes *b, const char *text)
{
	size_t n = strlen(text);

	if (left(b) < n || memcmp(b->at, text, n))
		return false;
	b->at += n;
	return true;
}

/* Takes the bytes up to one, and that one. False: it does not come. */
static inline bool take_until(struct bytes *b, uint8_t end, struct bytes *taken)
{
	const uint8_t *found = memchr(b->at, end, left(b));

	if (!found)
		return false;
	*taken = (struct bytes) { b->at, found };
	b->at = found + 1;
	return true;
}

static inline bool is_upper(uint8_t c)
{
	return c >= 'A' && c <= 'Z';
}

static inline bool is_lower(uint8_t c)
{
	return c >= 'a' && c <= 'z';
}

static inline bool is_letter(uint8_t c)
{
	return is_upper(c) || is_lower(c);
}

static inline bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static inline bool is_one_of(uint8_t c, const char *set)
{
	return c && strchr(set, c);
}

static inline uint8_t to_lower(uint8_t c)
{
	return is_upper(c) ? (uint8_t)(c - 'A' + 'a') : c;
}

static inline uint8_t to_upper(uint8_t c)
{
	return is_lower(c) ? (uint8_t)(c - 'a' + 'A') : c;
}
