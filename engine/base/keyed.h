/* SPDX-License-Identifier: GPL-2.0-or-later */
/* keyed.h - sorts by numbers, where comparing each with others takes most of the time. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct keyed {
	uint64_t key;
	uint64_t value; /* what has it: a number, an amount */
};

/*
 * Sorts by key, the least one first; those with the same key stay in their order. spare: room for
 * as many. Returns where they are then: at, or spare.
 */
struct keyed *keyed_sort_in(struct keyed *at, struct keyed *spare, size_t n);
/* The same, in their place. */
void keyed_sort(struct keyed *at, size_t n);

/*
 * As qsort(), which compares only things with the same key: compare() never puts one before another
 * one with a lower key. NULL: these stay in their order.
 */
void sort_by_key(void *at, size_t n, size_t size, uint64_t (*key)(const void *thing),
		 int (*compare)(const void *a, const void *b));

/* A key of two numbers in the order of the first one, then of the second one. Large ones may have
 * the same key. */
static inline uint64_t key_of_two(uint64_t first, uint64_t then)
{
	const uint64_t most_first = (1u << 22) - 1, most_then = (UINT64_C(1) << 42) - 1;

	if (first >= most_first)
		return most_first << 42;
	return first << 42 | (then < most_then ? then : most_then);
}
