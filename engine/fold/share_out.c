// SPDX-License-Identifier: GPL-2.0-or-later
#include "share_out.h"

#include <errno.h>
#include <stdlib.h>

#include "base/compare.h"

struct remainder {
	uint64_t rest;
	size_t at;
};

static int largest_first(const void *pa, const void *pb)
{
	const struct remainder *a = pa, *b = pb;

	return a->rest != b->rest ? compare_numbers(b->rest, a->rest)
				  : compare_numbers(a->at, b->at);
}

int share_out(uint64_t total, const uint64_t *parts, size_t n, uint64_t *shares)
{
	struct remainder *r = malloc((n + 1) * sizeof(*r));
	uint64_t sum = 0, left = total;

	if (!r)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		sum += parts[i];
	for (size_t i = 0; i < n; i++) {
		/* At most 2^64 * 2^64. */
		unsigned __int128 product = (unsigned __int128)total * parts[i];

		shares[i] = (uint64_t)(product / sum);
		r[i] = (struct remainder) { (uint64_t)(product % sum), i };
		left -= shares[i];
	}
	qsort(r, n, sizeof(*r), largest_first);
	for (size_t i = 0; i < left; i++)
		shares[r[i].at]++;
	free(r);
	return 0;
}
