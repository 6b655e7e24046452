/* SPDX-License-Identifier: GPL-2.0-or-later */
/* grow.h - arrays that double. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

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
