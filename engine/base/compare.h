/* SPDX-License-Identifier: GPL-2.0-or-later */
/* compare.h - the order of numbers, for what qsort() compares by. */
#pragma once

#include <stdint.h>

/* Below 0 if a is less than b, above 0 if it is greater, 0 if they are equal. */
static inline int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}
