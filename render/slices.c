// SPDX-License-Identifier: GPL-2.0-or-later
#include "slices.h"

#include <errno.h>
#include <stdlib.h>

#include "svg.h"

int slices_add(struct slices *s, struct tree *t, const struct folded_line *line, uint32_t slice)
{
	int err = split_stack(&s->split, &t->names, line->stack, line->len);

	if (err)
		return err;
	if (!t->n)
		return 0;
	if (!GROW(s->part, s->n, s->cap))
		return -ENOMEM;
	s->part[s->n++] = (struct slice_part) {
		.at = tree_find(t, s->split.id, s->split.depth),
		.slice = slice,
		.count = line->count,
	};
	return 0;
}

static int by_place(const void *pa, const void *pb)
{
	const struct slice_part *a = pa, *b = pb;

	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return a->slice < b->slice ? -1 : a->slice > b->slice;
}

/* Nodes without a frame get that of their parent. 0 or -ENOMEM. */
static int pass_down(const struct tree *t, uint32_t *frame_of)
{
	uint32_t *todo = malloc(((size_t)t->n + 1) * sizeof(*todo));
	uint32_t n = 0;

	if (!todo)
		return -ENOMEM;
	todo[n++] = 0;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t c = t->node[todo[i]].child; c; c = t->node[c].next) {
			if (frame_of[c] == UINT32_MAX)
				frame_of[c] = frame_of[todo[i]];
			todo[n++] = c;
		}
	free(todo);
	return 0;
}

int slices_of_frames(struct slices *s, const struct tree *t, uint32_t *frame_of)
{
	size_t kept = 0;
	int err = pass_down(t, frame_of);

	if (err)
		return err;
	for (size_t i = 0; i < s->n; i++)
		s->part[i].at = frame_of[s->part[i].at];
	if (s->n)
		qsort(s->part, s->n, sizeof(*s->part), by_place);
	for (size_t i = 0; i < s->n; i++) {
		if (kept && !by_place(&s->part[kept - 1], &s->part[i]))
			s->part[kept - 1].count += s->part[i].count;
		else
			s->part[kept++] = s->part[i];
	}
	s->n = kept;
	return 0;
}

static void put(FILE *f, uint64_t v)
{
	char buf[SVG_VLQ_LEN];
	const char *end = svg_put_vlq(buf, v);

	fwrite(buf, 1, (size_t)(end - buf), f);
}

void slices_write(FILE *f, const struct slices *s)
{
	uint32_t frame = 0;
	size_t end;

	fputs("<metadata id=\"fg-slices\">", f);
	for (size_t i = 0; i < s->n; i = end) {
		uint32_t slice = 0;

		for (end = i; end < s->n && s->part[end].at == s->part[i].at;)
			end++;
		put(f, s->part[i].at - frame);
		put(f, end - i);
		frame = s->part[i].at;
		for (size_t k = i; k < end; k++) {
			double count = s->part[k].count;

			put(f, s->part[k].slice - slice);
			put(f, count < 9e15 ? (uint64_t)(count + 0.5) : (uint64_t)9e15);
			slice = s->part[k].slice;
		}
	}
	fputs("</metadata>\n", f);
}

void slices_free(struct slices *s)
{
	free(s->part);
	split_free(&s->split);
	*s = (struct slices) { 0 };
}
