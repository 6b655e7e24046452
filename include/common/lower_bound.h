/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lower_bound.h - binary search, also from a guess on. */
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

/* The same, of which guess is likely to be close: the cost is that of the distance. */
#define LOWER_BOUND_NEAR(i, n, guess, below)                           \
	({                                                             \
		size_t n_ = (n), low_ = (guess), high_, step_ = 1;     \
		low_ = low_ < n_ ? low_ : n_;                          \
		high_ = low_;                                          \
		while (low_ && !({                                     \
			       size_t i = low_ - 1;                    \
			       below;                                  \
		       })) {                                           \
			high_ = low_ - 1;                              \
			low_ = high_ > step_ ? high_ - step_ : 0;      \
			step_ *= 2;                                    \
		}                                                      \
		while (high_ < n_ && ({                                \
			       size_t i = high_;                       \
			       below;                                  \
		       })) {                                           \
			low_ = high_ + 1;                              \
			high_ = n_ - low_ > step_ ? low_ + step_ : n_; \
			step_ *= 2;                                    \
		}                                                      \
		low_ + LOWER_BOUND(k_, high_ - low_, ({                \
					   size_t i = low_ + k_;       \
					   below;                      \
				   }));                                \
	})
