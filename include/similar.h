/* SPDX-License-Identifier: GPL-2.0-or-later */
/* similar.h - which of several words was meant by one that is not among them. */
#ifndef SIMILAR_H
#define SIMILAR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define SIMILAR_WORD_MAX 64
#define SIMILAR_PART_MIN 3 /* letters of a part that mean anything */

static inline unsigned int similar_least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* distance[i][j]: of the first i letters of a and the first j of b. */
static inline unsigned int similar_distance(const char *a, size_t n, const char *b, size_t m)
{
	unsigned int distance[SIMILAR_WORD_MAX][SIMILAR_WORD_MAX];

	for (size_t i = 0; i <= n; i++)
		for (size_t j = 0; j <= m; j++) {
			unsigned int *d = &distance[i][j];

			if (!i || !j) {
				*d = (unsigned int)(i + j);
				continue;
			}
			*d = similar_least(distance[i - 1][j], distance[i][j - 1]) + 1;
			*d = similar_least(*d, distance[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				*d = similar_least(*d, distance[i - 2][j - 2] + 1);
		}
	return distance[n][m];
}

/*
 * True if a could be b mistyped: letters left out, added, changed or swapped with their neighbour,
 * one for each three letters of the longer one (the distance of Damerau and Levenshtein without
 * repeated changes at one place); or if one is a part of the other. Words of more than 63 bytes
 * are similar to none.
 */
static inline bool words_similar(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);

	if (n >= SIMILAR_WORD_MAX || m >= SIMILAR_WORD_MAX)
		return false;
	if ((n >= SIMILAR_PART_MIN && strstr(b, a)) || (m >= SIMILAR_PART_MIN && strstr(a, b)))
		return true;
	return similar_distance(a, n, b, m) <= (n > m ? n : m) / 3;
}

#endif /* SIMILAR_H */
