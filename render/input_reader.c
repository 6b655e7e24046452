// SPDX-License-Identifier: GPL-2.0-or-later
#include "input_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A line that is held; its text follows: one_len bytes. */
struct held {
	double count, before;
	size_t len, one_len; /* as in struct folded_line */
};

int input_reader_open(struct input_reader *in, struct tree *t, bool reverse,
		      enum input_counts counts)
{
	*in = (struct input_reader) {
		.tree = t,
		.reverse = reverse,
		.counts = counts == COUNTS_ASK && t->in_order ? COUNTS_ONE : counts,
		.held_max = INPUT_HELD_MAX,
	};
	in->asked = in->counts == COUNTS_ASK;
	t->diff = in->counts == COUNTS_TWO;
	return input_queue_open(&in->queue, t, reverse);
}

static int hold(struct input_reader *in, const struct folded_line *line)
{
	struct held h = { line->count, line->before, line->len, line->one_len };
	size_t need = in->held_len + sizeof(h) + h.one_len;

	if (need > in->held_cap) {
		size_t cap = need + need / 2 + 4096;
		char *bigger = realloc(in->held, cap);

		if (!bigger)
			return -ENOMEM;
		in->held = bigger;
		in->held_cap = cap;
	}
	memcpy(in->held + in->held_len, &h, sizeof(h));
	memcpy(in->held + in->held_len + sizeof(h), line->stack, h.one_len);
	in->held_len = need;
	return 0;
}

static int pass(struct input_reader *in, const char *stack, const struct held *h)
{
	if (in->counts == COUNTS_TWO)
		return input_queue_add(&in->queue, stack, h->len, h->count, h->before);
	return input_queue_add(&in->queue, stack, h->one_len, h->count, 0);
}

/* The lines so far decide. The tree starts to keep differences: so far there were none. */
static int decide(struct input_reader *in)
{
	int err = 0;

	in->counts = in->two > in->one ? COUNTS_TWO : COUNTS_ONE;
	if (in->counts == COUNTS_TWO) {
		err = input_queue_close(&in->queue);
		if (!err)
			err = tree_compare(in->tree);
		if (!err)
			err = input_queue_open(&in->queue, in->tree, in->reverse);
	}
	for (size_t at = 0; at < in->held_len && !err;) {
		struct held h;

		memcpy(&h, in->held + at, sizeof(h));
		err = pass(in, in->held + at + sizeof(h), &h);
		at += sizeof(h) + h.one_len;
	}
	free(in->held);
	in->held = NULL;
	in->held_len = in->held_cap = 0;
	return err;
}

int input_reader_line(struct input_reader *in, const struct folded_line *line)
{
	struct held h = { line->count, line->before, line->len, line->one_len };
	int err;

	*(line->two ? &in->two : &in->one) += 1;
	if (line->decimals > in->decimals)
		in->decimals = line->decimals;
	if (line->decimals_before > in->decimals_before)
		in->decimals_before = line->decimals_before;
	if (!line->two) /* one count means no change */
		return input_queue_add(&in->queue, line->stack, line->len, line->count,
				       line->count);
	if (in->counts != COUNTS_ASK)
		return pass(in, line->stack, &h);
	err = hold(in, line);
	return err || in->held_len < in->held_max ? err : decide(in);
}

int input_reader_pair(struct input_reader *in, const struct folded_line *line, bool before)
{
	if (line->decimals > in->decimals)
		in->decimals = line->decimals;
	return input_queue_add(&in->queue, line->stack, line->one_len, before ? 0 : line->count,
			       before ? line->count : 0);
}

int input_reader_close(struct input_reader *in)
{
	int err = in->counts == COUNTS_ASK ? decide(in) : 0;
	int closed = input_queue_close(&in->queue);

	free(in->held);
	in->held = NULL;
	if (in->tree->diff && in->decimals_before > in->decimals)
		in->decimals = in->decimals_before;
	return err ? err : closed;
}
