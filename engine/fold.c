// SPDX-License-Identifier: GPL-2.0-or-later
#include "fold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "names.h"
#include "select.h"

struct weights {
	uint64_t ns[CHAIN_ENDS];
};

struct fold {
	const struct options *options;
	struct names *names;
	struct selection *selection;
	struct chains chains;
	bool with_text;
	struct weights *weights; /* by node */
	size_t n_weights;
	struct chain_summary summary;
	struct text_buf text; /* the lines' texts, each with a terminator */
	struct fold_line *lines;
	size_t n_lines, cap_lines;
	bool out_of_memory;
};

static uint32_t label(void *arg, const struct wait *w, struct context context, bool first)
{
	struct fold *f = arg;

	return f->with_text ? names_link(f->names, w, context, first) : 1;
}

static void weigh(struct fold *f, uint32_t node, enum chain_end end, uint64_t ns)
{
	if (node >= f->n_weights) {
		size_t n = (size_t)node + node / 2 + 64;
		struct weights *p = realloc(f->weights, n * sizeof(*p));

		if (!p) {
			f->out_of_memory = true;
			return;
		}
		memset(p + f->n_weights, 0, (n - f->n_weights) * sizeof(*p));
		f->weights = p;
		f->n_weights = n;
	}
	f->weights[node].ns[end] += ns;
}

static void add(void *arg, uint32_t node, enum chain_end end, uint64_t ns)
{
	struct fold *f = arg;

	f->summary.ends_ns[end] += ns;
	if (f->with_text)
		weigh(f, node, end, ns);
}

static void fold_wait(struct fold *f, uint32_t thread, const struct wait *w)
{
	uint64_t off_ns;
	struct shown s;
	uint32_t head;

	if (!selection_wait(f->selection, thread, w, &s))
		return;
	f->summary.waits++;
	head = chains_head(&f->chains, f->with_text ? names_head(f->names, thread, w) : 1);
	if (!head)
		return;
	off_ns = s.off_to_ns - s.off_from_ns;
	if (w->kind == WAIT_PREEMPTED) {
		f->summary.preempted_ns += off_ns;
	} else {
		f->summary.runnable_ns += off_ns;
		f->summary.blocked_ns += s.blocked_to_ns - s.blocked_from_ns;
		chains_explain(&f->chains, head, thread, w, s.blocked_from_ns, s.blocked_to_ns);
	}
	if (off_ns && f->with_text)
		weigh(f, head, w->kind == WAIT_PREEMPTED ? CHAIN_PREEMPTED : CHAIN_RUNNABLE,
		      off_ns);
}

static void fold_waits(struct fold *f, const struct timelines *tl)
{
	uint32_t n = timelines_threads(tl);

	for (uint32_t i = 0; i < n; i++) {
		const struct thread *th = timelines_thread(tl, i);

		if (!selection_thread(f->selection, th))
			continue;
		for (uint32_t k = 0; k < th->n_waits; k++)
			fold_wait(f, i, &th->waits[k]);
	}
	selection_idle(f->selection, &f->summary.idle_waits, &f->summary.idle_ns);
	f->out_of_memory |= f->chains.out_of_memory;
}

/* Puts the labels from the head down to the node. */
static void put_path(struct fold *f, uint32_t node)
{
	uint32_t path[OPTIONS_DEPTH_MAX + 2];
	size_t n = 0;

	for (; node && n < sizeof(path) / sizeof(path[0]); node = f->chains.nodes.at[node].a)
		path[n++] = f->chains.nodes.at[node].b;
	for (size_t i = n; i-- > 0;) {
		if (i + 1 < n)
			text_puts(&f->text, ";");
		text_puts(&f->text, names_text(f->names, path[i]));
	}
}

static void add_line(struct fold *f, uint32_t node, enum chain_end end, uint64_t ns)
{
	struct fold_line *p = grow_array(f->lines, f->n_lines, &f->cap_lines, sizeof(*p));
	size_t at = f->text.len;

	if (!p) {
		f->out_of_memory = true;
		return;
	}
	f->lines = p;
	put_path(f, node);
	if (!f->options->no_ends) {
		text_puts(&f->text, ";");
		text_puts(&f->text, chain_end_name(end));
	}
	text_put(&f->text, "", 1);
	/* The texts still move about: an offset for now. */
	p[f->n_lines++] = (struct fold_line) { (const char *)at, ns };
}

static int by_text(const void *pa, const void *pb)
{
	const struct fold_line *a = pa, *b = pb;

	return strcmp(a->text, b->text);
}

/* One line for each text, in order. */
static void make_lines(struct fold *f)
{
	size_t n = 0;

	for (uint32_t node = 1; node <= f->chains.nodes.n && node < f->n_weights; node++)
		for (int end = 0; end < CHAIN_ENDS; end++)
			if (f->weights[node].ns[end])
				add_line(f, node, (enum chain_end)end, f->weights[node].ns[end]);
	f->out_of_memory |= f->text.failed;
	if (f->out_of_memory || !f->n_lines)
		return;
	for (size_t i = 0; i < f->n_lines; i++)
		f->lines[i].text = f->text.p + (size_t)f->lines[i].text;
	qsort(f->lines, f->n_lines, sizeof(*f->lines), by_text);
	for (size_t i = 0; i < f->n_lines; i++) {
		if (n && !strcmp(f->lines[n - 1].text, f->lines[i].text))
			f->lines[n - 1].ns += f->lines[i].ns;
		else
			f->lines[n++] = f->lines[i];
	}
	f->n_lines = n;
}

static int fold_run(struct fold *f, const struct timelines *tl, const struct options *o,
		    bool with_text)
{
	f->options = o;
	f->with_text = with_text;
	f->names = names_new(tl, o);
	f->selection = f->names ? selection_new(tl, o, f->names) : NULL;
	if (!f->selection ||
	    chains_init(&f->chains, tl, o->mode, o->depth, (struct chain_user) { f, label, add }))
		return -ENOMEM;
	fold_waits(f, tl);
	if (with_text && !f->out_of_memory)
		make_lines(f);
	return f->out_of_memory ? -ENOMEM : 0;
}

static void fold_clear(struct fold *f)
{
	chains_free(&f->chains);
	selection_free(f->selection);
	names_free(f->names);
	free(f->weights);
	free(f->lines);
	text_free(&f->text);
}

int fold_new(struct fold **out, const struct timelines *tl, const struct options *o)
{
	struct fold *f = calloc(1, sizeof(*f));
	int err = f ? fold_run(f, tl, o, true) : -ENOMEM;

	if (err) {
		fold_free(f);
		f = NULL;
	}
	*out = f;
	return err;
}

void fold_free(struct fold *f)
{
	if (f)
		fold_clear(f);
	free(f);
}

const struct fold_line *fold_lines(const struct fold *f, size_t *n)
{
	*n = f->n_lines;
	return f->lines;
}

const struct chain_summary *fold_summary(const struct fold *f)
{
	return &f->summary;
}

int chain_summarize(const struct timelines *tl, const struct options *o, struct chain_summary *s)
{
	struct fold f = { 0 };
	int err = fold_run(&f, tl, o, false);

	*s = f.summary;
	fold_clear(&f);
	return err;
}
