/* SPDX-License-Identifier: GPL-2.0-or-later */
/* grow.h - arrays that double. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Makes room for one more item of size bytes in array, which has n of *cap. Returns the array,
 * which may have moved; or NULL when out of memory, and then the old one remains valid.
 */
static inline void *grow_array(void *array, size_t n, size_t *cap, size_t size)
{
	size_t want = *cap ? *cap * 2 : 16;
	void *p;

	if (n < *cap)
		return array;
	if (want > SIZE_MAX / 2 / size)
		return NULL;
	p = realloc(array, want * size);
	if (p)
		*cap = want;
	return p;
}

/* Private to GROW(). array: where the pointer to the array is. */
static inline bool grow_in_place(void *array, size_t n, size_t *cap, size_t size)
{
	void *p;

	memcpy(&p, array, sizeof(p));
	p = grow_array(p, n, cap, size);
	if (p)
		memcpy(array, &p, sizeof(p));
	return p;
}

/*
 * Makes room for item n in array, a variable that has room for cap, another one. False: out of
 * memory; then both are as they were.
 */
#define GROW(array, n, cap) grow_in_place(&(array), n, &(cap), sizeof(*(array)))

/* Private to GROW_ZEROED(). */
static inline bool grow_zeroed(void *array, size_t i, size_t *cap, size_t size)
{
	while (*cap <= i) {
		size_t from = *cap;
		uint8_t *p;

		if (!grow_in_place(array, from, cap, size))
			return false;
		memcpy(&p, array, sizeof(p));
		memset(p + from * size, 0, (*cap - from) * size);
	}
	return true;
}

/*
 * Makes room for item i, however far it is beyond the end; all items that are added are zero.
 * False: out of memory; then the array is valid for cap.
 */
#define GROW_ZEROED(array, i, cap) grow_zeroed(&(array), i, &(cap), sizeof(*(array)))
