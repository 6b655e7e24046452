// SPDX-License-Identifier: GPL-2.0-or-later
#include "diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'f');
}

int diff_strip_hex(struct diff_strip *s, struct folded_line *line)
{
	const char *p = line->stack, *end = p + line->one_len;
	size_t n = 0, need = line->one_len * 2 + 8; /* 0x1 grows most: to 0x... */

	if (s->cap < need) {
		char *bigger = realloc(s->text, need);

		if (!bigger)
			return -ENOMEM;
		s->text = bigger;
		s->cap = need;
	}
	while (p < end) {
		if (end - p > 2 && p[0] == '0' && p[1] == 'x' && is_hex(p[2])) {
			for (p += 2; p < end && is_hex(*p);)
				p++;
			memcpy(s->text + n, "0x...", 5);
			n += 5;
		} else {
			s->text[n++] = *p++;
		}
	}
	line->stack = s->text;
	line->len = line->one_len = n;
	return 0;
}

void diff_strip_free(struct diff_strip *s)
{
	free(s->text);
	*s = (struct diff_strip) { 0 };
}

void diff_normalize(struct tree *t)
{
	double after = 0, before = 0;

	for (uint32_t i = 0; i < t->n; i++) {
		after += t->node[i].total;
		before += t->node[i].total - t->delta[i].self;
	}
	for (uint32_t i = 0; i < t->n && before > 0; i++)
		t->delta[i].self =
			t->node[i].total - (t->node[i].total - t->delta[i].self) * after / before;
}

static bool is_gone(const struct tree *t, uint32_t node)
{
	return !(t->node[node].total > 0) && t->delta[node].self < 0;
}

/* Each gone stack into b, below the region. parent: one zero a node; path: room for t->labels. */
static int collect_gone(const struct tree *t, uint32_t region, uint32_t *parent, uint32_t *path,
			struct batch *b, double *sum)
{
	int err = 0;

	for (uint32_t i = 0; i < t->n; i++)
		for (uint32_t c = t->node[i].child; c; c = t->node[c].next)
			parent[c] = i;
	for (uint32_t i = 0; i < t->n && !err; i++) {
		uint32_t at = t->labels;

		if (!is_gone(t, i))
			continue;
		for (uint32_t n = i; n; n = parent[n]) {
			at -= t->node[n].len;
			memcpy(path + at, t->label + t->node[n].label,
			       t->node[n].len * sizeof(*path));
		}
		path[--at] = region; /* in the place of the root's name */
		*sum -= t->delta[i].self;
		err = batch_add(b, path + at, t->labels - at, 0, false, -t->delta[i].self,
				-t->delta[i].self);
	}
	return err;
}

int diff_add_gone(struct tree *t)
{
	uint32_t *parent = calloc((size_t)t->n + 1, sizeof(*parent));
	uint32_t *path = malloc(((size_t)t->labels + 1) * sizeof(*path));
	uint32_t region, gone = 0;
	struct batch *b;
	int err;

	for (uint32_t i = 0; i < t->n; i++)
		gone += is_gone(t, i);
	err = batch_new(&b, gone + 1);
	if (!parent || !path)
		err = -ENOMEM;
	if (!err)
		err = name_table_add(&t->names, diff_gone(t), strlen(diff_gone(t)), &region);
	/* Collected first: adding may cut the labels of nodes that are still to be visited. */
	if (!err)
		err = collect_gone(t, region, parent, path, b, &t->gone);
	if (!err)
		err = batch_merge(b, t);
	batch_free(b);
	free(path);
	free(parent);
	return err;
}

void diff_widen(struct tree *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		t->delta[i].more_self = fmax(0, -t->delta[i].self);
		t->node[i].total += t->delta[i].more_self;
	}
	t->widened = true;
}
