// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
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

/* The key that frame i has, if its caller's is `up`: an object of the sleeper, or else an end. */
static unsigned key_of(const struct document *d, uint32_t i, unsigned up)
{
	const struct frame *fr = &d->layout->frame[i];
	const char *name = name_str(&d->tree->names, fr->name);
	size_t len = name_len(&d->tree->names, fr->name);
	enum ramp ramp = palette_ramp(palette_find("chain"), name, len);

	if (up || !fr->depth || fr->part != PART_PLAIN)
		return up;
	if (ramp == RAMP_OBJECT && !fr->link)
		return object_key(name, len);
	return ramp >= RAMP_ON_CPU && ramp <= RAMP_UNKNOWN ? END + ramp : 0;
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
	struct sum sum[KEYS] = { 0 };
	uint16_t *key = calloc(d->layout->n + 1, sizeof(*key));

	if (!key)
		return -ENOMEM;
	for (unsigned k = 0; k < KEYS; k++)
		sum[k].key = k;
	for (uint32_t i = 1; i < d->layout->n; i++) {
		key[i] = (uint16_t)key_of(d, i, key[d->layout->frame[i].parent]);
		if (key[i])
			sum[key[i]].change += d->layout->delta[i].self;
	}
	qsort(sum, KEYS, sizeof(*sum), by_change);
	put_sentence(out, size, d, sum);
	free(key);
	return 0;
}
