// SPDX-License-Identifier: GPL-2.0-or-later
#include "disk_fold.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "select/wait_filter.h"
#include "common/xalloc.h"

/* The group of all rows: folded lines do not show it. */
#define GROUP 1

struct disk_fold {
	const struct timelines *timelines;
	struct interned_stacks *stacks;
	struct stack_cache cache;
	struct pairs nodes;
	struct pair_table sums; /* ns, by (node, list above) */
	struct chain_rows rows;
};

/* "[64-128 us]" */
static void put_band(char text[48], uint64_t ns)
{
	uint64_t from_us = 0, to_us = 1;

	while (to_us <= ns / 1000) {
		from_us = to_us;
		to_us *= 2;
	}
	snprintf(text, 48, "[%" PRIu64 "-%" PRIu64 " us]", from_us, to_us);
}

static bool add_request(void *arg, const struct disk_request *r)
{
	struct disk_fold *f = arg;
	uint64_t from_ns = r->asked_ns ? r->asked_ns : r->issued_ns;
	uint64_t ns = from_ns && from_ns < r->done_ns ? r->done_ns - from_ns : 0, *sum;
	bool known = r->thread != THREAD_NONE;
	uint32_t name = known ? timelines_name(f->timelines, r->thread, from_ns) : 0;
	uint32_t head = intern_head(&f->cache, name, r->pair);
	uint32_t root = pairs_id(&f->nodes, 0, GROUP), above;
	uint32_t node = pairs_id(&f->nodes, root, head);
	char band[48];

	put_band(band, ns);
	above = interned_stacks_disk(f->stacks, r->kind, band);
	sum = pair_table_at(&f->sums, node, above, sizeof(*sum));
	*sum += ns;
	return true;
}

static void make_rows(struct disk_fold *f)
{
	f->rows =
		(struct chain_rows) { .nodes = &f->nodes, .stacks = f->stacks, .with_ends = true };
	for (uint32_t i = 1; i <= f->sums.keys.n; i++)
		chain_rows_add(&f->rows, f->sums.keys.at[i].a, CHAIN_DISK, f->sums.keys.at[i].b,
			       ((const uint64_t *)f->sums.at)[i], 0);
}

void disk_fold_new(struct disk_fold **out, const struct timelines *tl, const struct options *o)
{
	struct disk_fold *f = xcalloc(1, sizeof(*f));

	*out = f;
	f->timelines = tl;
	interned_stacks_new(&f->stacks, tl, o, GROUP_BY_NAME);
	stack_cache_init(&f->cache, f->stacks);
	wait_filter_disk_requests(tl, o, interned_stacks_names(f->stacks), add_request, f);
	make_rows(f);
}

void disk_fold_free(struct disk_fold *f)
{
	if (!f)
		return;
	chain_rows_free(&f->rows);
	stack_cache_free(&f->cache);
	interned_stacks_free(f->stacks);
	pairs_free(&f->nodes);
	pair_table_free(&f->sums);
	free(f);
}

struct chain_rows *disk_fold_rows(struct disk_fold *f)
{
	return &f->rows;
}
