// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Waits for reading, one by one: when and how long, where, and below that each link of its chain
 * under the one that it woke, with what that thread did meanwhile. In order of time, thread by
 * thread; or the longest ones, with --top.
 */
#include <errno.h>
#include <stdlib.h>

#include "format.h"
#include "grow.h"
#include "select.h"
#include "tree.h"

struct pick {
	const struct wait *wait;
	struct shown shown;
	uint32_t thread;
};

struct picks {
	struct pick *at;
	size_t n, cap;
};

static uint64_t length(const struct pick *p)
{
	return p->shown.blocked_to_ns - p->shown.blocked_from_ns + p->shown.off_to_ns -
	       p->shown.off_from_ns;
}

static int longest_first(const void *pa, const void *pb)
{
	const struct pick *a = pa, *b = pb;
	uint64_t la = length(a), lb = length(b);

	if (la != lb)
		return la > lb ? -1 : 1;
	if (a->wait->out_ns != b->wait->out_ns)
		return a->wait->out_ns < b->wait->out_ns ? -1 : 1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

static int pick_waits(const struct timelines *tl, struct selection *s, struct picks *picks)
{
	for (uint32_t i = 0; i < timelines_threads(tl); i++) {
		const struct thread *th = timelines_thread(tl, i);

		for (uint32_t k = 0; selection_thread(s, th) && k < th->n_waits; k++) {
			struct pick *p = grow_array(picks->at, picks->n, &picks->cap, sizeof(*p));

			if (!p)
				return -ENOMEM;
			picks->at = p;
			p[picks->n] = (struct pick) { .wait = &th->waits[k], .thread = i };
			picks->n += selection_wait(s, i, &th->waits[k], &p[picks->n].shown);
		}
	}
	return 0;
}

static int write_tree(const struct format_input *in, FILE *out)
{
	const struct options *o = in->options;
	struct names *names = names_new(in->timelines, o);
	struct selection *s = names ? selection_new(in->timelines, o, names) : NULL;
	struct picks picks = { 0 };
	struct tree *tree = NULL;
	bool by_length = o->top != 0;
	int err = -ENOMEM;

	if (!s)
		goto out;
	err = pick_waits(in->timelines, s, &picks);
	if (!err)
		err = tree_new(&tree, in->timelines, o, names);
	if (err)
		goto out;
	if (by_length && picks.n)
		qsort(picks.at, picks.n, sizeof(*picks.at), longest_first);
	if (by_length && o->top < picks.n)
		picks.n = (size_t)o->top;
	for (size_t i = 0; i < picks.n && !err && !ferror(out); i++) {
		const struct pick *p = &picks.at[i];

		if (by_length || !i || p->thread != p[-1].thread)
			tree_put_thread(tree, p->thread, p->wait->out_ns, out);
		err = tree_put_wait(tree, p->thread, p->wait, &p->shown, out);
	}
out:
	tree_free(tree);
	free(picks.at);
	selection_free(s);
	names_free(names);
	return err;
}

const struct format format_tree = {
	.name = "tree",
	.summary = "waits, each with its chain, for reading",
	.wants_timelines = true,
	.write = write_tree,
};
