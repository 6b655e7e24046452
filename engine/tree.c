// SPDX-License-Identifier: GPL-2.0-or-later
#include "tree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "handler.h"
#include "stack_words.h"

/* Of several links under one, the widest are shown. */
#define LINKS_SHOWN 8

/* What a link's label stands for. */
struct link_label {
	uint32_t waker; /* thread, or THREAD_NONE: an interrupt */
	uint32_t stack; /* waker's */
	uint32_t kernel_frames;
	uint32_t blocked_stack; /* where the thread slept that it woke */
	bool started;		/* it did not wake a waker, but start one */
};

/* A node of the wait at hand. */
struct item {
	uint32_t node, parent, label;
	uint64_t ends_ns[CHAIN_ENDS];
	uint64_t total_ns; /* all that goes through this node */
};

struct tree {
	const struct timelines *timelines;
	const struct options *options;
	struct names *names;
	struct chains chains;
	struct pairs labels; /* (waker, text of the link): equal lines are one link */
	struct link_label *label;
	size_t cap_label;
	struct item *items; /* the head first, parents before children */
	size_t n_items, cap_items;
	uint32_t *item_of; /* by node: 1 + item, 0 none */
	size_t n_item_of;
	bool out_of_memory;
};

static uint32_t label_link(void *arg, const struct wait *w, struct context context, bool first)
{
	struct tree *t = arg;
	uint32_t text = names_link(t->names, w, context, first);
	uint32_t waker = context.interrupt ? THREAD_NONE : w->waker;
	struct link_label *p;
	uint32_t id;
	int is_new;

	if (!text)
		return 0;
	id = pairs_id_new(&t->labels, waker, text, &is_new);
	if (!id || !is_new)
		return id;
	p = grow_array(t->label, id, &t->cap_label, sizeof(*p));
	if (!p) {
		t->out_of_memory = true;
		return 0;
	}
	t->label = p;
	p[id] = (struct link_label) { waker, w->waker_stack,
				      context.interrupt ? context.frames : UINT32_MAX,
				      first ? 0 : w->stack, !first && w->flags & WAIT_NEW };
	return id;
}

/* The node's item, made if it is not there; NULL: out of memory. */
static struct item *item_of(struct tree *t, uint32_t node)
{
	struct pair link = t->chains.nodes.at[node];
	struct item *p;
	uint32_t parent = 0;

	if (node >= t->n_item_of) {
		size_t n = (size_t)node * 2 + 64;
		uint32_t *q = realloc(t->item_of, n * sizeof(*q));

		if (!q)
			return NULL;
		memset(q + t->n_item_of, 0, (n - t->n_item_of) * sizeof(*q));
		t->item_of = q;
		t->n_item_of = n;
	}
	if (t->item_of[node])
		return &t->items[t->item_of[node] - 1];
	if (link.a) {
		p = item_of(t, link.a);
		if (!p)
			return NULL;
		parent = (uint32_t)(p - t->items);
	}
	p = grow_array(t->items, t->n_items, &t->cap_items, sizeof(*p));
	if (!p)
		return NULL;
	t->items = p;
	p += t->n_items++;
	*p = (struct item) { .node = node, .parent = parent, .label = link.b };
	t->item_of[node] = (uint32_t)t->n_items;
	return p;
}

static void add(void *arg, uint32_t node, enum chain_end end, uint64_t ns)
{
	struct tree *t = arg;
	struct item *i = item_of(t, node);

	if (i)
		i->ends_ns[end] += ns;
	else
		t->out_of_memory = true;
}

int tree_new(struct tree **out, const struct timelines *tl, const struct options *o,
	     struct names *names)
{
	struct tree *t = calloc(1, sizeof(*t));

	*out = t;
	if (!t)
		return -ENOMEM;
	t->timelines = tl;
	t->options = o;
	t->names = names;
	return chains_init(&t->chains, tl, o->mode, o->depth,
			   (struct chain_user) { t, label_link, add });
}

void tree_free(struct tree *t)
{
	if (!t)
		return;
	chains_free(&t->chains);
	pairs_free(&t->labels);
	free(t->label);
	free(t->items);
	free(t->item_of);
	free(t);
}

static void put_time(const struct tree *t, FILE *out, uint64_t ns)
{
	if (t->options->unit == UNIT_NS)
		fprintf(out, "%" PRIu64 " ns", ns);
	else if (ns >= 1000000000)
		fprintf(out, "%" PRIu64 ".%06" PRIu64 " s", ns / 1000000000,
			ns % 1000000000 / 1000);
	else if (ns >= 1000000)
		fprintf(out, "%" PRIu64 ".%03" PRIu64 " ms", ns / 1000000, ns % 1000000 / 1000);
	else
		fprintf(out, "%" PRIu64 ".%03" PRIu64 " us", ns / 1000, ns % 1000);
}

static void put_who(struct tree *t, FILE *out, uint32_t thread, uint64_t at_ns)
{
	const struct thread *th = timelines_thread(t->timelines, thread);

	fprintf(out, "%s (%" PRIu32 ")",
		names_text(t->names, names_thread(t->names, thread, at_ns)), th->tid);
}

static void indent(FILE *out, unsigned int level)
{
	fprintf(out, "%*s", (int)(4 + 2 * level), "");
}

/* One clause of a list: "ran 2.000 ms". */
static void put_clause(const struct tree *t, FILE *out, int *n, const char *before, uint64_t ns,
		       const char *after)
{
	if (!ns)
		return;
	fprintf(out, "%s%s", (*n)++ ? ", " : "", before);
	put_time(t, out, ns);
	fputs(after, out);
}

static void put_links(struct tree *t, FILE *out, const struct item *above, unsigned int level,
		      uint64_t at_ns);

/* What the waker did while the one it woke was asleep. */
static void put_meanwhile(const struct tree *t, FILE *out, const struct item *i)
{
	const uint64_t *end = i->ends_ns;
	uint32_t self = (uint32_t)(i - t->items);
	uint64_t slept = i->total_ns, unborn = 0;
	int n = 0;

	for (int e = 0; e < CHAIN_ENDS; e++)
		if (e != CHAIN_DEPTH)
			slept -= end[e];
	for (size_t k = self + 1; k < t->n_items; k++)
		if (t->items[k].parent == self && t->label[t->items[k].label].started)
			unborn += t->items[k].total_ns;
	slept -= unborn;
	put_clause(t, out, &n, "ran ", end[CHAIN_RUNNING], "");
	put_clause(t, out, &n, "waited ", end[CHAIN_RUNNABLE], " for a CPU");
	put_clause(t, out, &n, "was not started yet for ", unborn, "");
	put_clause(t, out, &n, "did what is not known for ", end[CHAIN_UNKNOWN], "");
	put_clause(t, out, &n, "is in this chain already, for ", end[CHAIN_LOOP], "");
	put_clause(t, out, &n, "slept until the trace's end for ", end[CHAIN_NOT_WOKEN], "");
	put_clause(t, out, &n, "slept ", slept,
		   end[CHAIN_DEPTH] ? " (links beyond --depth are left out)" : "");
}

static void put_handler(struct tree *t, FILE *out, const struct link_label *l)
{
	uint32_t kstack = timelines_pair(t->timelines, l->stack).kstack;
	uint32_t frame = handler_frame(timelines_trace(t->timelines), kstack, l->kernel_frames);

	if (frame)
		fprintf(out, " (%s)", names_text(t->names, names_frame(t->names, frame)));
}

/* Who woke, and what it did meanwhile; then, on a line of its own, from where. */
static void put_link(struct tree *t, FILE *out, const struct item *i, unsigned int level,
		     uint64_t at_ns)
{
	const struct link_label *l = &t->label[i->label];

	if (t->options->blocked_stacks && level && !l->started) {
		indent(out, level);
		fputs("asleep in ", out);
		stack_words(out, t->names, t->timelines, t->options, l->blocked_stack, UINT32_MAX,
			    true);
		putc('\n', out);
	}
	indent(out, level);
	fputs(l->started ? "started by " : "woken by ", out);
	if (l->waker == THREAD_NONE) {
		fputs("an interrupt", out);
		put_handler(t, out, l);
		fputs(": ", out);
		put_time(t, out, i->total_ns);
	} else {
		put_who(t, out, l->waker, at_ns);
		fputs(", which ", out);
		put_meanwhile(t, out, i);
	}
	putc('\n', out);
	indent(out, level + 1);
	fputs("in ", out);
	stack_words(out, t->names, t->timelines, t->options, l->stack, l->kernel_frames,
		    l->waker != THREAD_NONE);
	putc('\n', out);
	put_links(t, out, i, level + 1, at_ns);
}

static int widest_first(const void *pa, const void *pb)
{
	const struct item *const *a = pa, *const *b = pb;

	if ((*a)->total_ns != (*b)->total_ns)
		return (*a)->total_ns > (*b)->total_ns ? -1 : 1;
	return (*a)->label < (*b)->label ? -1 : (*a)->label > (*b)->label;
}

static void put_links(struct tree *t, FILE *out, const struct item *above, unsigned int level,
		      uint64_t at_ns)
{
	const struct item **below;
	uint32_t self = (uint32_t)(above - t->items);
	size_t n = 0;
	uint64_t rest_ns = 0;

	for (size_t i = self + 1; i < t->n_items; i++)
		n += t->items[i].parent == self;
	below = n ? malloc(n * sizeof(*below)) : NULL;
	if (!below) {
		t->out_of_memory |= n != 0;
		return;
	}
	n = 0;
	for (size_t i = self + 1; i < t->n_items; i++)
		if (t->items[i].parent == self)
			below[n++] = &t->items[i];
	qsort(below, n, sizeof(*below), widest_first);
	for (size_t i = 0; i < n; i++) {
		if (i < LINKS_SHOWN)
			put_link(t, out, below[i], level, at_ns);
		else
			rest_ns += below[i]->total_ns;
	}
	if (rest_ns) {
		indent(out, level);
		fprintf(out, "and %zu more, ", n - LINKS_SHOWN);
		put_time(t, out, rest_ns);
		fputs(" in all\n", out);
	}
	free(below);
}

void tree_put_thread(struct tree *t, uint32_t thread, uint64_t at_ns, FILE *out)
{
	const struct thread *th = timelines_thread(t->timelines, thread);

	put_who(t, out, thread, at_ns);
	if (th->tgid && th->tgid != th->tid)
		fprintf(out, " of process %" PRIu32, th->tgid);
	putc('\n', out);
}

static void put_head(struct tree *t, FILE *out, const struct wait *w, const struct shown *s)
{
	uint64_t slept = s->blocked_to_ns - s->blocked_from_ns;
	uint64_t off = s->off_to_ns - s->off_from_ns;
	uint64_t from = slept ? s->blocked_from_ns : s->off_from_ns;
	uint64_t since = from - timelines_start_ns(t->timelines);
	int n = 0;

	fprintf(out, "  +%" PRIu64 ".%09" PRIu64 " s  ", since / 1000000000, since % 1000000000);
	if (w->kind == WAIT_PREEMPTED) {
		put_clause(t, out, &n, "lost its CPU for ", off, "");
	} else {
		put_clause(t, out, &n, "slept ", slept, "");
		if (slept && w->state != '?')
			fprintf(out, " (%c)", w->state);
		put_clause(t, out, &n, "waited ", off, " for a CPU");
	}
	if (w->flags & WAIT_SINCE_START && slept)
		fputs("; asleep since before the trace began", out);
	if (w->flags & WAIT_NEW) {
		fputs("; its first run\n", out);
		return;
	}
	fputs("\n    in ", out);
	stack_words(out, t->names, t->timelines, t->options, w->stack, UINT32_MAX, true);
	putc('\n', out);
}

int tree_put_wait(struct tree *t, uint32_t thread, const struct wait *w, const struct shown *shown,
		  FILE *out)
{
	uint32_t head = chains_head(&t->chains, 1);

	t->n_items = 0;
	if (w->kind == WAIT_SLEEP)
		chains_explain(&t->chains, head, thread, w, shown->blocked_from_ns,
			       shown->blocked_to_ns);
	for (size_t i = t->n_items; i-- > 0;) {
		struct item *item = &t->items[i];

		for (int e = 0; e < CHAIN_ENDS; e++)
			item->total_ns += item->ends_ns[e];
		if (i)
			t->items[item->parent].total_ns += item->total_ns;
		t->item_of[item->node] = 0;
	}
	put_head(t, out, w, shown);
	if (t->n_items) {
		const uint64_t *end = t->items[0].ends_ns;

		if (end[CHAIN_NOT_WOKEN])
			fputs("    not woken: still asleep when the trace ended\n", out);
		if (end[CHAIN_UNKNOWN])
			fputs("    woken by whom is not known: no waking was recorded\n", out);
		put_links(t, out, &t->items[0], 0, w->wake_ns);
	}
	return t->out_of_memory || t->chains.out_of_memory ? -ENOMEM : 0;
}
