// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: any bytes as folded stacks, through the parser, the tree, the layout and the
 * document. Beyond not crashing it checks what must hold of every input: the frames nest, and
 * their times add up to what the parser found, also where frames are left out.
 *
 * The first byte of an input is a set of flags: reverse, in order, two counts, gone stacks (and
 * brought to equal totals, where inverted), inverted, (unused), few frames, addresses are
 * masked; the lines follow.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "diff.h"
#include "input_queue.h"
#include "folded.h"
#include "foreign.h"
#include "layout.h"
#include "page.h"
#include "replay.h"
#include "sums.h"
#include "tree.h"

static void must(int ok)
{
	if (!ok)
		abort();
}

static void check(const struct layout *l, const struct tree *t, double sum, uint32_t max_frames)
{
	uint32_t region = t->gone > 0; /* whose frame is always there */
	double slack = sum * 1e-9, own = 0;

	must(fabs(l->total - sum) <= slack);
	must(l->n <= max_frames + region && l->n + l->left_out == t->labels);
	must(l->left_out ? l->n >= max_frames : !l->rests);
	for (uint32_t i = 0; i < l->n; i++)
		own += l->frame[i].own;
	for (uint32_t i = 0; i < l->rests; i++) {
		must(l->rest[i].frame < l->n && (!i || l->rest[i].frame > l->rest[i - 1].frame));
		own += l->rest[i].total;
	}
	must(fabs(l->total - own) <= slack);
	for (uint32_t i = 1; i < l->n; i++) {
		const struct frame *f = &l->frame[i], *up = &l->frame[f->parent];

		must(f->parent < i && f->depth == up->depth + 1);
		must(f->start >= up->start - slack);
		must(f->start + f->total <= up->start + up->total + slack);
	}
}

/* Own counts by name add up to all, and no name has more than that. */
static void check_sums(const struct tree *t, double sum)
{
	double slack = sum * 1e-9, own = 0;
	struct sums s;

	must(sums_fill(&s, t) == 0);
	for (uint32_t i = 0; i < t->names.names.n; i++) {
		must(s.name[i].own <= s.name[i].total + slack && s.name[i].total <= sum + slack);
		own += s.name[i].own;
	}
	must(own <= sum + slack);
	sums_free(&s);
}

static void draw(const struct tree *t, uint8_t flags, uint32_t max_frames)
{
	struct page pg;
	char *out = NULL;
	size_t len;
	FILE *f = open_memstream(&out, &len);

	must(f != NULL);
	page_init(&pg);
	pg.title = "t";
	pg.countname = "us";
	pg.inverted = flags & 16;
	pg.palette = palette_find("chain");
	pg.background = "blue";
	pg.decimals = 2;
	pg.max_frames = max_frames;
	if (flags & 64) /* else all that are seen are kept */
		pg.minwidth = page_minwidth_range.most;
	must(page_write(f, &pg, t) == 0);
	fclose(f);
	free(out);
}

static int compare(const struct batch *b, uint32_t x, uint32_t y)
{
	const struct batch_line *lx = &b->line[x], *ly = &b->line[y];
	uint32_t i = 0;

	while (i < lx->n && i < ly->n && b->id[lx->at + i] == b->id[ly->at + i])
		i++;
	if (i == lx->n || i == ly->n)
		return (lx->n > i) - (ly->n > i);
	return b->id[lx->at + i] < b->id[ly->at + i] ? -1 : 1;
}

/* Large batches are put into order, however few lines this one has. */
static void check_order(const struct batch *b)
{
	uint32_t *order;
	double sum = 0, want = 0;

	must(batch_order(b, &order) == 0);
	for (uint32_t i = 0; i < b->lines; i++) {
		must(!i || compare(b, order[i - 1], order[i]) <= 0);
		sum += order[i];
		want += i;
	}
	must(sum == want);
	free(order);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t flags = size ? data[0] : 0;
	const char *p = (const char *)data + (size ? 1 : 0), *end = (const char *)data + size;
	uint32_t max_frames = flags & 64 ? 10 : 1u << 20;
	struct layout l;
	struct input_queue queue;
	struct tree t;
	struct diff_strip strip = { 0 };
	double sum = 0;

	foreign_find(p, (size_t)(end - p));
	must(tree_init(&t) == 0);
	must(input_queue_open(&queue, &t, flags & 1) == 0);
	t.in_order = flags & 2;
	t.diff = flags & 4;
	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		const char *stop = nl ? nl : end;
		struct folded_line line;

		if (folded_parse(p, stop, &line) == FOLDED_OK) {
			must(line.stack == p && line.stack + line.len < stop);
			must(line.count >= 0 && line.before >= 0);
			must(!(flags & 128) || diff_strip_hex(&strip, &line) == 0);
			must(input_queue_add(&queue, line.stack, t.diff ? line.len : line.one_len,
					     line.count, line.before) == 0);
			sum += line.count;
		}
		p = stop + 1;
	}
	check_order(queue.fill);
	must(input_queue_close(&queue) == 0);
	if (t.diff && flags & 8 && !t.in_order && !(flags & 1)) {
		if (flags & 16)
			diff_normalize(&t);
		must(diff_add_gone(&t) == 0);
		sum = NAN; /* the region adds to it */
	}
	must(tree_finish(&t) == 0);
	if (t.n) {
		must(layout_tree(&l, &t, INFINITY, max_frames) == 0);
		check(&l, &t, isnan(sum) ? l.total : sum, max_frames);
		if (!isnan(sum))
			check_sums(&t, sum);
		if (l.total > 0)
			draw(&t, flags, max_frames);
		layout_free(&l);
	}
	tree_free(&t);
	diff_strip_free(&strip);
	return 0;
}
