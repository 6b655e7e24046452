// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "document.h"
#include "page.h"

#define SHOWN 3

/* Keys: what was waited for, or else why the chain ended. */
enum { OBJECT = 1, END = OBJECT + 100, KEYS = END + RAMPS };

struct sum {
	unsigned key;
	double change;
};

static unsigned object_key(const char *name, size_t len)
{
	const char *class;

	for (unsigned i = 0; (class = palette_object_class(i)); i++) {
		size_t n = strlen(class);

		if (len > n + 1 && !memcmp(name + 1, class, n) && strchr("] ", name[n + 1]))
			return OBJECT + i;
	}
	return 0;
}

struct changes {
	const struct document *d;
	struct sum sum[KEYS];
	unsigned key;	/* of the stack so far */
	uint32_t depth; /* of the frame that has it */
};

/* The key that a frame has, if none below it has one: an object of the sleeper, or else an end. */
static unsigned key_of(const struct document *d, const struct frame *fr)
{
	const char *name = name_str(&d->tree->names, fr->name);
	size_t len = name_len(&d->tree->names, fr->name);
	enum ramp ramp = palette_ramp(palette_find("chain"), name, len);

	if (!fr->depth || fr->part != PART_PLAIN)
		return 0;
	if (ramp == RAMP_OBJECT && !fr->link)
		return object_key(name, len);
	return palette_is_end(ramp, PART_PLAIN, fr->leaf, fr->last) ? END + ramp : 0;
}

static void add_change(void *ctx, const struct frame *fr, const struct tree_delta *delta)
{
	struct changes *c = ctx;

	if (fr->depth <= c->depth)
		c->key = 0;
	if (!c->key) {
		c->key = key_of(c->d, fr);
		c->depth = fr->depth;
	}
	if (c->key)
		c->sum[c->key].change += delta->self;
}

static int by_change(const void *a, const void *b)
{
	double x = fabs(((const struct sum *)a)->change), y = fabs(((const struct sum *)b)->change);

	return x < y ? 1 : x > y ? -1 : 0;
}

/* "-5.20 s" */
static int put_change(char *p, size_t size, const struct page *pg, double v)
{
	char quantity[SVG_QUANTITY_LEN];

	svg_quantity(quantity, fabs(v * pg->factor), pg->countname);
	return snprintf(p, size, "%s%s", v < 0 ? "\u2212" : "+", quantity);
}

static const char *word_of(unsigned key)
{
	const char *class = key < END ? palette_object_class(key - OBJECT) : NULL;

	if (!class)
		return palette_legend((enum ramp)(key - END));
	return !strcmp(class, "futex") ? "lock waits" : class;
}

static void put_sentence(char *p, size_t size, const struct document *d, const struct sum *sum)
{
	double all = document_after(d, 0) - document_before(d, 0);
	double least = 1e-3 * (d->before + d->after);
	int n = snprintf(p, size, "Change: ");

	n += put_change(p + n, size - (size_t)n, d->page, d->page->negate ? -all : all);
	n += snprintf(p + n, size - (size_t)n, " in all");
	for (unsigned k = 0; k < SHOWN && fabs(sum[k].change) > least; k++) {
		const char *what = word_of(sum[k].key);

		n += snprintf(p + n, size - (size_t)n, "%s %s ", k ? "," : ":", what);
		n += put_change(p + n, size - (size_t)n, d->page,
				d->page->negate ? -sum[k].change : sum[k].change);
	}
}

int change_sentence(const struct document *d, char *out, size_t size)
{
	struct changes c = { .d = d };
	int err;

	for (unsigned k = 0; k < KEYS; k++)
		c.sum[k].key = k;
	err = layout_walk(d->tree, add_change, &c);
	qsort(c.sum, KEYS, sizeof(*c.sum), by_change);
	if (!err)
		put_sentence(out, size, d, c.sum);
	return err;
}
