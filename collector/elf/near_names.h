/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * near_names.h - of many names, those that may be meant by one that is not among them.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define NEAR_NAMES_MAX 5u
#define NEAR_NAMES_LEN 256u /* longer names are cut, with the terminator */

struct near_names {
	const char *wanted; /* borrowed */
	size_t n;
	char names[NEAR_NAMES_MAX][NEAR_NAMES_LEN]; /* the nearest first */
	uint32_t distance[NEAR_NAMES_MAX];
};

/* n: zeroed, but for wanted. */
void near_names_offer(struct near_names *n, const char *name);
