// SPDX-License-Identifier: GPL-2.0-or-later
#include "keyed.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

/* So few are put in their places one by one. */
#define FEW 32u
/* The counts of digits of so many bits are cleared sooner than as many values are moved. */
#define DIGIT_BITS(n) ((n) < 4096 ? 8u : 11u)
#define DIGITS_MAX (1u << 11)

static void insert(struct keyed *at, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct keyed k = at[i];
		size_t to = i;

		for (; to && at[to - 1].key > k.key; to--)
			at[to] = at[to - 1];
		at[to] = k;
	}
}

static bool is_sorted(const struct keyed *at, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (at[i - 1].key > at[i].key)
			return false;
	return true;
}

/* By one digit of the keys. Returns where they are then. */
static struct keyed *sort_digit(struct keyed *at, struct keyed *spare, size_t n, unsigned int shift,
				unsigned int bits)
{
	uint64_t mask = (UINT64_C(1) << bits) - 1;
	size_t first[DIGITS_MAX + 1];

	memset(first, 0, (mask + 2) * sizeof(*first));
	for (size_t i = 0; i < n; i++)
		first[(at[i].key >> shift & mask) + 1]++;
	for (size_t i = 1; i <= mask; i++)
		first[i] += first[i - 1];
	for (size_t i = 0; i < n; i++)
		spare[first[at[i].key >> shift & mask]++] = at[i];
	return spare;
}

struct keyed *keyed_sort_in(struct keyed *at, struct keyed *spare, size_t n)
{
	unsigned int bits = DIGIT_BITS(n);
	uint64_t differ = 0;

	if (n <= FEW) {
		insert(at, n);
		return at;
	}
	if (is_sorted(at, n))
		return at;
	for (size_t i = 1; i < n; i++)
		differ |= at[i].key ^ at[0].key;
	for (unsigned int shift = 0; shift < 64 && differ >> shift; shift += bits) {
		struct keyed *from = at;

		if (!(differ >> shift & ((UINT64_C(1) << bits) - 1)))
			continue;
		at = sort_digit(from, spare, n, shift, bits);
		spare = from;
	}
	return at;
}

void keyed_sort(struct keyed *at, size_t n)
{
	struct keyed *spare = n > FEW ? xmalloc(n * sizeof(*spare)) : NULL;
	struct keyed *sorted = keyed_sort_in(at, spare, n);

	if (sorted != at)
		memcpy(at, sorted, n * sizeof(*at));
	free(spare);
}

/* In the order of keys; those with equal ones are compared. */
static void compare_equal(char *things, const struct keyed *k, size_t n, size_t size,
			  int (*compare)(const void *a, const void *b))
{
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && k[end].key == k[i].key;)
			end++;
		if (end - i > 1)
			qsort(things + i * size, end - i, size, compare);
	}
}

void sort_by_key(void *at, size_t n, size_t size, uint64_t (*key)(const void *thing),
		 int (*compare)(const void *a, const void *b))
{
	struct keyed *k = xmalloc((n + 1) * sizeof(*k));
	char *things = at, *sorted;

	for (size_t i = 0; i < n; i++)
		k[i] = (struct keyed) { key(things + i * size), i };
	if (!is_sorted(k, n)) {
		sorted = xmalloc(n * size);
		keyed_sort(k, n);
		for (size_t i = 0; i < n; i++)
			memcpy(sorted + i * size, things + k[i].value * size, size);
		memcpy(things, sorted, n * size);
		free(sorted);
	}
	if (compare)
		compare_equal(things, k, n, size, compare);
	free(k);
}
