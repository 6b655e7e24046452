// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Waits for reading, one by one: when and how long, where, and below that each link of its chain
 * under the one that it woke, with what that thread did meanwhile. In order of time, thread by
 * thread; or the longest ones, with --top.
 */
#include <errno.h>

#include "format.h"
#include "picks.h"
#include "tree.h"

struct writer {
	FILE *out;
	const struct options *options;
	struct names *names;
	struct tree *tree;
	/* Of the last heading: a thread that is renamed gets another one. */
	uint32_t thread, name;
};

static int put_wait(void *arg, const struct pick *p)
{
	struct writer *w = arg;
	uint64_t at_ns = p->wait->out_ns;
	uint32_t name = names_thread(w->names, p->thread, at_ns);

	if (w->options->top || p->thread != w->thread || name != w->name)
		tree_put_thread(w->tree, p->thread, at_ns, w->out);
	w->thread = p->thread;
	w->name = name;
	/* A write error is the caller's to find: there is no point in going on, though. */
	if (ferror(w->out))
		return 1;
	return tree_put_wait(w->tree, p->thread, p->wait, &p->shown, w->out);
}

static int write_tree(const struct format_input *in, FILE *out)
{
	const struct options *o = in->options;
	struct writer w = { .out = out,
			    .options = o,
			    .names = names_new(in->timelines, o),
			    .thread = THREAD_NONE };
	struct selection *s = w.names ? selection_new(in->timelines, o, w.names) : NULL;
	int err = s ? tree_new(&w.tree, in->timelines, o, w.names) : -ENOMEM;

	if (!err)
		err = picks_walk(in->timelines, s, o->top, put_wait, &w);
	tree_free(w.tree);
	selection_free(s);
	names_free(w.names);
	return err < 0 ? err : 0;
}

const struct format format_tree = {
	.name = "tree",
	.summary = "waits, each with its chain, for reading",
	.wants_timelines = true,
	.several = SEVERAL_HEADED,
	.refuses = GIVEN_ANNOTATE | GIVEN_NO_ENDS | GIVEN_NO_DELIM | GIVEN_VIEW | GIVEN_BY_NAME,
	.write = write_tree,
};
