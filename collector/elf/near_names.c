// SPDX-License-Identifier: GPL-2.0-or-later
#include "near_names.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Longer names are compared up to there. */
#define LENGTH_MAX 64u
#define NOT_NEAR UINT32_MAX

static bool same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* How many letters to put in, take out, exchange or swap with the next one (Damerau, Levenshtein).
 */
static uint32_t edits(const char *a, const char *b)
{
	uint32_t len_a = (uint32_t)strnlen(a, LENGTH_MAX), len_b = (uint32_t)strnlen(b, LENGTH_MAX);
	uint32_t rows[3][LENGTH_MAX + 1], *row = rows[0], *before = rows[1], *second = rows[2];

	for (uint32_t k = 0; k <= len_b; k++)
		row[k] = k;
	for (uint32_t i = 1; i <= len_a; i++) {
		uint32_t *oldest = second;

		second = before;
		before = row;
		row = oldest;
		row[0] = i;
		for (uint32_t k = 1; k <= len_b; k++) {
			row[k] = least(least(before[k], row[k - 1]) + 1,
				       before[k - 1] + !same(a[i - 1], b[k - 1]));
			if (i > 1 && k > 1 && same(a[i - 1], b[k - 2]) && same(a[i - 2], b[k - 1]))
				row[k] = least(row[k], second[k - 2] + 1);
		}
	}
	return row[len_b];
}

/* Its last part: of "A::b(c)" the "b(c)", of "main.(*S).Get" the "Get". */
static const char *last_part(const char *name)
{
	const char *part = name;

	for (const char *c = name; *c && *c != '<'; c++)
		if ((*c == ':' || *c == '.') && c[1] && c[1] != '(')
			part = c + 1;
	return part;
}

/* The smaller, the nearer; NOT_NEAR: not at all. */
static uint32_t distance(const char *wanted, const char *name)
{
	uint32_t len = (uint32_t)strlen(wanted), most = len < 6 ? 1 : len / 3;
	uint32_t n = least(edits(wanted, name), edits(last_part(wanted), last_part(name)));

	if (n <= most)
		return n;
	/* A part of a name that is much longer is less near. */
	if (len > 2 && strcasestr(name, wanted))
		return most + 1 + (uint32_t)(strlen(name) - len);
	return NOT_NEAR;
}

void near_names_offer(struct near_names *n, const char *name)
{
	uint32_t d = distance(n->wanted, name);
	size_t at;

	if (d == NOT_NEAR)
		return;
	for (size_t i = 0; i < n->n; i++)
		if (!strncmp(n->names[i], name, NEAR_NAMES_LEN - 1))
			return;
	for (at = n->n; at && n->distance[at - 1] > d; at--)
		;
	if (at == NEAR_NAMES_MAX)
		return;
	if (n->n < NEAR_NAMES_MAX)
		n->n++;
	for (size_t i = n->n - 1; i > at; i--) {
		memcpy(n->names[i], n->names[i - 1], NEAR_NAMES_LEN);
		n->distance[i] = n->distance[i - 1];
	}
	snprintf(n->names[at], NEAR_NAMES_LEN, "%s", name);
	n->distance[at] = d;
}
