// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: any bytes as folded stacks, through the parser, the tree, the layout and the
 * document. Beyond not crashing it checks what must hold of every input: the frames nest, and
 * their times add up to what the parser found.
 *
 * Built by libFuzzer (make fuzz), or with -DREPLAY as a program that runs the files named on its
 * command line once each.
 *
 * The first byte of an input is a set of flags: reverse, in order, two counts, elided, inverted,
 * Latin-1; the lines follow.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../render/elide.h"
#include "../../render/feed.h"
#include "../../render/folded.h"
#include "../../render/layout.h"
#include "../../render/page.h"
#include "../../render/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int ok)
{
	if (!ok)
		abort();
}

static void check(const struct layout *l, double sum)
{
	double slack = sum * 1e-9;

	must(fabs(l->total - sum) <= slack);
	for (uint32_t i = 1; i < l->n; i++) {
		const struct frame *f = &l->frame[i], *up = &l->frame[f->parent];

		must(f->parent < i && f->depth == up->depth + 1);
		must(f->start >= up->start - slack);
		must(f->start + f->total <= up->start + up->total + slack);
	}
}

static void draw(const struct tree *t, const struct layout *l, uint8_t flags)
{
	struct page pg = {
		.title = "t",
		.fonttype = "f",
		.countname = "us",
		.nametype = "n",
		.width = 1200,
		.height = 16,
		.fontsize = 12,
		.fontwidth = 0.59,
		.minwidth = 0.1,
		.factor = 1,
		.inverted = flags & 16,
		.encoding = flags & 32 ? SVG_LATIN1 : SVG_UTF8,
		.palette = palette_find("chain"),
		.background = "blue",
		.decimals = 2,
		.max_delta = t->max_delta,
	};
	char *out = NULL;
	size_t len;
	FILE *f = open_memstream(&out, &len);

	must(f != NULL);
	must(page_write(f, &pg, t, l) == 0);
	fclose(f);
	free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t flags = size ? data[0] : 0;
	const char *p = (const char *)data + (size ? 1 : 0), *end = (const char *)data + size;
	struct layout l;
	struct feed feed;
	struct tree t;
	double sum = 0;

	must(tree_init(&t) == 0);
	must(feed_open(&feed, &t, flags & 1) == 0);
	t.in_order = flags & 2;
	t.diff = flags & 4;
	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		const char *stop = nl ? nl : end;
		struct folded_line line;

		if (folded_parse(p, stop, t.diff, &line) == FOLDED_OK) {
			must(line.stack == p && line.stack + line.len < stop);
			must(line.count >= 0 && line.before >= 0);
			must(feed_add(&feed, line.stack, line.len, line.count, line.before) == 0);
			sum += line.count;
		}
		p = stop + 1;
	}
	must(feed_close(&feed) == 0);
	if (t.diff && flags & 8 && !t.in_order && !(flags & 1)) {
		must(elide(&t) == 0);
		sum = NAN; /* the region adds to it */
	}
	must(tree_finish(&t) == 0);
	if (t.n) {
		must(layout_tree(&l, &t, 0, flags & 64 ? 10 : 1u << 20) == 0);
		check(&l, isnan(sum) ? l.total : sum);
		if (l.total > 0)
			draw(&t, &l, flags);
		layout_free(&l);
	}
	tree_free(&t);
	return 0;
}

#ifdef REPLAY
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		static uint8_t buf[1 << 20];
		FILE *f = fopen(argv[i], "rb");
		size_t n;

		if (!f) {
			perror(argv[i]);
			return 1;
		}
		n = fread(buf, 1, sizeof(buf), f);
		fclose(f);
		LLVMFuzzerTestOneInput(buf, n);
	}
	return 0;
}
#endif
