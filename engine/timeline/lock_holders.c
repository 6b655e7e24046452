// SPDX-License-Identifier: GPL-2.0-or-later
#include "lock_holders.h"

#include <stdlib.h>

#include "base/compare.h"
#include "common/xalloc.h"

static int by_thread_and_time(const void *pa, const void *pb)
{
	const struct lock_holder *a = pa, *b = pb;
	int c = compare_numbers(a->thread, b->thread);

	return c ? c : compare_numbers(a->out_ns, b->out_ns);
}

void lock_holders_add(struct lock_holders *l, const struct lock_holder *held)
{
	XGROW(l->at, l->n, l->cap);
	l->at[l->n++] = *held;
}

void lock_holders_sort(struct lock_holders *l)
{
	if (l->n)
		qsort(l->at, l->n, sizeof(*l->at), by_thread_and_time);
}

void lock_holders_free(struct lock_holders *l)
{
	free(l->at);
	*l = (struct lock_holders) { .at = NULL };
}

const struct lock_holder *lock_holders_find(const struct lock_holders *l, uint32_t thread,
					    uint64_t out_ns)
{
	struct lock_holder key = { .out_ns = out_ns, .thread = thread };

	return l->n ? bsearch(&key, l->at, l->n, sizeof(key), by_thread_and_time) : NULL;
}
