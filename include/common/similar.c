// SPDX-License-Identifier: GPL-2.0-or-later
#include "similar.h"

#include <stddef.h>
#include <string.h>

#define SIMILAR_WORD_MAX 64
#define SIMILAR_PART_MIN 3 /* letters of a part that mean anything */

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* distance[i][j]: of the first i letters of a and the first j of b. */
static unsigned int distance_of(const char *a, size_t n, const char *b, size_t m)
{
	unsigned int distance[SIMILAR_WORD_MAX][SIMILAR_WORD_MAX];

	for (size_t i = 0; i <= n; i++)
		for (size_t j = 0; j <= m; j++) {
			unsigned int *d = &distance[i][j];

			if (!i || !j) {
				*d = (unsigned int)(i + j);
				continue;
			}
			*d = least(distance[i - 1][j], distance[i][j - 1]) + 1;
			*d = least(*d, distance[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				*d = least(*d, distance[i - 2][j - 2] + 1);
		}
	return distance[n][m];
}

bool words_similar(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);

	if (n >= SIMILAR_WORD_MAX || m >= SIMILAR_WORD_MAX)
		return false;
	if ((n >= SIMILAR_PART_MIN && strstr(b, a)) || (m >= SIMILAR_PART_MIN && strstr(a, b)))
		return true;
	return distance_of(a, n, b, m) <= (n > m ? n : m) / 3;
}
