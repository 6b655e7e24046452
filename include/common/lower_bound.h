/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lower_bound.h - binary search. */
#pragma once

#include <stddef.h>

/*
 * The first i, 0..n, for which `below`, an expression of i, is false. It is true up to some i and
 * false from there on; it is not asked for i == n.
 */
#define LOWER_BOUND(i, n, below)                      \
	({                                            \
		size_t from_ = 0, to_ = (n);          \
		while (from_ < to_) {                 \
			size_t i = (from_ + to_) / 2; \
			if (below)                    \
				from_ = i + 1;        \
			else                          \
				to_ = i;              \
		}                                     \
		from_;                                \
	})
