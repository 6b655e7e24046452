// SPDX-License-Identifier: GPL-2.0-or-later
#include "disk_fold.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "select/wait_filter.h"
#include "words/object_names.h"

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

/* The list of frames above the stack: what was done, and how long it took. 0: out of memory. */
static uint32_t list_above(struct disk_fold *f, uint32_t kind, uint64_t ns)
{
	struct disk_request_kind k = timelines_disk_request_kind(f->timelines, kind);
	struct text_buf what = { 0 };
	char band[48];
	uint32_t list;

	put_band(band, ns);
	text_puts(&what, "[");
	disk_names_put(timelines_trace(f->timelines), k.disk, k.op, &what);
	text_puts(&what, "]");
	list = what.failed ? 0 : frame_list_texts(interned_stacks_lists(f->stacks), what.p, band);
	text_free(&what);
	return list;
}

static int add_request(void *arg, const struct disk_request *r)
{
	struct disk_fold *f = arg;
	uint64_t from_ns = r->asked_ns ? r->asked_ns : r->issued_ns;
	uint64_t ns = from_ns && from_ns < r->done_ns ? r->done_ns - from_ns : 0, *sum;
	bool known = r->thread != THREAD_NONE;
	uint32_t name = known ? timelines_name(f->timelines, r->thread, from_ns) : 0;
	uint32_t head = intern_head(&f->cache, name, r->pair);
	uint32_t root = pairs_id(&f->nodes, 0, GROUP), above = list_above(f, r->kind, ns);
	uint32_t node = head && root ? pairs_id(&f->nodes, root, head) : 0;

	sum = node && above ? pair_table_at(&f->sums, node, above, sizeof(*sum)) : NULL;
	if (!sum)
		return -ENOMEM;
	*sum += ns;
	return 0;
}

static int make_rows(struct disk_fold *f)
{
	int err = 0;

	f->rows =
		(struct chain_rows) { .nodes = &f->nodes, .stacks = f->stacks, .with_ends = true };
	for (uint32_t i = 1; i <= f->sums.keys.n && !err; i++)
		err = chain_rows_add(&f->rows, f->sums.keys.at[i].a, CHAIN_DISK,
				     f->sums.keys.at[i].b, ((const uint64_t *)f->sums.at)[i], 0);
	return err;
}

int disk_fold_new(struct disk_fold **out, const struct timelines *tl, const struct options *o)
{
	struct disk_fold *f = calloc(1, sizeof(*f));
	int err = -ENOMEM;

	*out = f;
	if (!f)
		return err;
	f->timelines = tl;
	f->stacks = interned_stacks_new(tl, o, false);
	if (f->stacks)
		err = stack_cache_init(&f->cache, f->stacks);
	if (!err)
		err = wait_filter_disk_requests(tl, o, interned_stacks_names(f->stacks),
						add_request, f);
	return err ? err : make_rows(f);
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
