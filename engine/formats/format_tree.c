// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Waits for reading, one by one: when and how long, where, and below that each link of the chain
 * under the thread that it woke, with what the waker did in the meantime. What several pieces of a
 * chain have in common (the same waker, from the same stack) is one line with the sum of their
 * times. In order of time, thread by thread; or the longest waits, with --top.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "intern.h"
#include "chain/chain.h"
#include "chain/top_waits.h"
#include "chain/who_sums.h"
#include "format.h"

/* Links shown below one link: the widest ones. */
#define LINKS_SHOWN 8

/* A node of the current wait's chains. */
struct item {
	uint32_t node, parent, label;
	uint64_t ends_ns[CHAIN_ENDS];
	uint64_t total_ns; /* all that goes through this node */
};

/* Samples of the time that a node's waker ran. */
struct ran {
	uint32_t node, pair;
	uint64_t samples;
};

/* Stacks shown of what a waker ran: the most frequent ones. */
#define STACKS_SHOWN 3

struct tree {
	FILE *out;
	const struct timelines *timelines;
	const struct options *options;
	struct names *names;
	struct chains chains;
	struct who_ran *who_ran; /* NULL: not known */
	struct pair_table who;	 /* of the current wait's links: ns by (node, who) */
	struct who_sums who_had; /* the CPU: of the clause at hand */
	struct intern links;	 /* struct link */
	uint32_t *label;	 /* by the id of a link; 0: not made yet */
	size_t cap_label;
	struct pairs labels; /* (waker, text of the link): equal lines are one link */
	struct link *link;   /* by label: the first link that got it */
	size_t cap_link;
	struct item *items; /* the head first, parents before children */
	size_t n_items, cap_items;
	uint32_t *item_of; /* by node: 1 + item, 0 none */
	size_t n_item_of;
	struct ran *ran; /* of the current wait, by node, the most frequent first */
	size_t n_ran, cap_ran;
	/* Of the last heading; a thread that was renamed gets a new one. */
	uint32_t thread, name;
	bool out_of_memory;
};

/* 0: out of memory. */
static uint32_t make_label(struct tree *t, const struct link *l)
{
	uint32_t text = names_link(t->names, l);
	struct link *p;
	uint32_t id;
	int is_new;

	id = text ? pairs_id_new(&t->labels, l->waker, text, &is_new) : 0;
	if (!id || !is_new)
		return id;
	p = grow_array(t->link, id, &t->cap_link, sizeof(*p));
	if (!p)
		return 0;
	t->link = p;
	p[id] = *l;
	return id;
}

static uint32_t label_link(void *arg, const struct link *l)
{
	struct tree *t = arg;
	bool is_new;
	uint32_t id = intern_id(&t->links, l, sizeof(*l), &is_new);
	uint32_t *p = id ? grow_array(t->label, id, &t->cap_label, sizeof(*p)) : NULL;

	if (!p)
		return 0;
	t->label = p;
	if (is_new)
		p[id] = make_label(t, l);
	return p[id];
}

/* The node's item, which is created if there is none. NULL: out of memory. */
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

/* A chain_ran_fn. */
static void add_ran(void *arg, uint32_t node, uint32_t pair, int64_t count)
{
	struct tree *t = arg;
	struct ran *p = grow_array(t->ran, t->n_ran, &t->cap_ran, sizeof(*p));

	if (!p) {
		t->out_of_memory = true;
		return;
	}
	t->ran = p;
	p[t->n_ran++] = (struct ran) { node, pair, (uint64_t)count };
}

static int by_node_and_pair(const void *pa, const void *pb)
{
	const struct ran *a = pa, *b = pb;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return (a->pair > b->pair) - (a->pair < b->pair);
}

static int by_node_and_samples(const void *pa, const void *pb)
{
	const struct ran *a = pa, *b = pb;

	if (a->node == b->node && a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return by_node_and_pair(pa, pb);
}

/* One entry for each stack of a node. */
static void sum_up_ran(struct tree *t)
{
	size_t n = 0;

	if (t->n_ran)
		qsort(t->ran, t->n_ran, sizeof(*t->ran), by_node_and_pair);
	for (size_t i = 0; i < t->n_ran; i++) {
		if (n && !by_node_and_pair(&t->ran[n - 1], &t->ran[i]))
			t->ran[n - 1].samples += t->ran[i].samples;
		else
			t->ran[n++] = t->ran[i];
	}
	t->n_ran = n;
	if (n)
		qsort(t->ran, n, sizeof(*t->ran), by_node_and_samples);
}

static void add_who(void *arg, uint32_t node, uint32_t who, uint64_t ns)
{
	struct tree *t = arg;
	uint64_t *sum = pair_table_at(&t->who, node, who, sizeof(*sum));

	if (sum)
		*sum += ns;
	else
		t->out_of_memory = true;
}

static void put_time(const struct tree *t, uint64_t ns)
{
	if (t->options->unit == UNIT_NS)
		fprintf(t->out, "%" PRIu64 " ns", ns);
	else if (ns >= 1000000000)
		fprintf(t->out, "%" PRIu64 ".%06" PRIu64 " s", ns / 1000000000,
			ns % 1000000000 / 1000);
	else if (ns >= 1000000)
		fprintf(t->out, "%" PRIu64 ".%03" PRIu64 " ms", ns / 1000000, ns % 1000000 / 1000);
	else
		fprintf(t->out, "%" PRIu64 ".%03" PRIu64 " us", ns / 1000, ns % 1000);
}

/* name: the id of a text. */
static void put_who(struct tree *t, uint32_t thread, uint32_t name)
{
	const struct thread *th = timelines_thread(t->timelines, thread);

	t->out_of_memory |= !name;
	fprintf(t->out, "%s (%" PRIu32 ")", names_text(t->names, name), th->tid);
}

static void indent(const struct tree *t, unsigned int level)
{
	fprintf(t->out, "%*s", (int)(4 + 2 * level), "");
}

/* One clause of a list: "ran 2.000 ms". */
static void put_clause(const struct tree *t, int *n, const char *before, uint64_t ns,
		       const char *after)
{
	if (!ns)
		return;
	fprintf(t->out, "%s%s", (*n)++ ? ", " : "", before);
	put_time(t, ns);
	fputs(after, t->out);
}

#define WHO_SHOWN 4

/* Ends a clause with those who had the CPU; they are in t->who_had. */
static void put_who_had(struct tree *t)
{
	who_sums_write(&t->who_had, t->names, WHO_SHOWN, ": ", t->out);
	t->out_of_memory |= t->who_had.out_of_memory;
	who_sums_clear(&t->who_had);
}

/* The same for a link. */
static void put_who_of(struct tree *t, const struct item *i)
{
	for (uint32_t id = 1; id <= t->who.keys.n; id++)
		if (t->who.keys.at[id].a == i->node)
			who_sums_add(&t->who_had, t->who.keys.at[id].b,
				     ((const uint64_t *)t->who.at)[id]);
	put_who_had(t);
}

static void put_links(struct tree *t, const struct item *above, unsigned int level);

/* What the waker did while the wakee slept. */
static void put_meanwhile(struct tree *t, const struct item *i)
{
	const uint64_t *end = i->ends_ns;
	uint32_t self = (uint32_t)(i - t->items);
	uint64_t slept = i->total_ns, unborn = 0;
	int n = 0;

	for (int e = 0; e < CHAIN_ENDS; e++)
		if (e != CHAIN_DEPTH)
			slept -= end[e];
	for (size_t k = self + 1; k < t->n_items; k++)
		if (t->items[k].parent == self && t->link[t->items[k].label].flags & LINK_STARTED)
			unborn += t->items[k].total_ns;
	slept -= unborn;
	put_clause(t, &n, "ran ", end[CHAIN_RUNNING], "");
	put_clause(t, &n, "waited ", end[CHAIN_RUNNABLE], " for a CPU");
	if (end[CHAIN_RUNNABLE])
		put_who_of(t, i);
	put_clause(t, &n, "was not started yet for ", unborn, "");
	put_clause(t, &n, "did what is not known for ", end[CHAIN_UNKNOWN], "");
	put_clause(t, &n, "is in this chain already, for ", end[CHAIN_LOOP], "");
	put_clause(t, &n, "slept until the trace's end for ", end[CHAIN_NOT_WOKEN], "");
	put_clause(t, &n, "slept ", slept,
		   end[CHAIN_DEPTH] ? " (links beyond --depth are left out)" : "");
}

/*
 * --mode=classic says nothing of what a waker did meanwhile: a link is its most recent wakeup,
 * however old. What can be said is why there is no further link.
 */
static void put_classic_end(const struct tree *t, const struct item *i)
{
	if (i->ends_ns[CHAIN_UNKNOWN])
		fputs(", whose own last waking is not in the trace", t->out);
	else if (i->ends_ns[CHAIN_LOOP])
		fputs(", which is in this chain already", t->out);
	else if (i->ends_ns[CHAIN_DEPTH])
		fputs(" (links beyond --depth are left out)", t->out);
}

static void put_handler(struct tree *t, const struct link *l)
{
	uint32_t kstack = timelines_pair(t->timelines, l->stack).kstack;
	uint32_t frame = irq_handler(t->chains.kernel, kstack, l->kernel_frames);

	if (frame)
		fprintf(t->out, " (%s)", names_text(t->names, names_frame(t->names, frame)));
}

/* What the waker ran: the most frequent stacks of its samples. */
static void put_ran(struct tree *t, uint32_t node, unsigned int level)
{
	uint64_t samples = 0, rest = 0;
	size_t first = 0, n = 0;

	while (first < t->n_ran && t->ran[first].node != node)
		first++;
	for (; first + n < t->n_ran && t->ran[first + n].node == node; n++) {
		samples += t->ran[first + n].samples;
		if (n >= STACKS_SHOWN)
			rest += t->ran[first + n].samples;
	}
	for (size_t i = 0; i < n && i < STACKS_SHOWN; i++) {
		indent(t, level);
		fprintf(t->out, "ran %.0f %% in ",
			100.0 * (double)t->ran[first + i].samples / (double)samples);
		names_write_stack(t->names, t->ran[first + i].pair, UINT32_MAX, true, t->out);
		putc('\n', t->out);
	}
	if (rest) {
		indent(t, level);
		fprintf(t->out, "ran %.0f %% in %zu more stacks\n",
			100.0 * (double)rest / (double)samples, n - STACKS_SHOWN);
	}
}

/* How the thread above came to run. */
static const char *woken_by(const struct tree *t, const struct link *l, unsigned int level)
{
	if (l->flags & LINK_STARTED)
		return "started by ";
	return t->options->mode == MODE_CLASSIC && level ? "last woken by " : "woken by ";
}

/* The waker and what it did meanwhile; on the next line the stack from which it woke. */
static void put_link(struct tree *t, const struct item *i, unsigned int level)
{
	const struct link *l = &t->link[i->label];
	const struct trace *trace = timelines_trace(t->timelines);
	bool classic = t->options->mode == MODE_CLASSIC;

	if (l->flags & LINK_SHOWS_BLOCKED) {
		indent(t, level);
		fputs("asleep in ", t->out);
		names_write_stack(t->names, l->blocked, UINT32_MAX, true, t->out);
		putc('\n', t->out);
	}
	indent(t, level);
	fputs(woken_by(t, l, level), t->out);
	if (l->waker == THREAD_NONE) {
		fputs("an interrupt", t->out);
		put_handler(t, l);
		if (!classic) {
			fputs(": ", t->out);
			put_time(t, i->total_ns);
		}
	} else {
		put_who(t, l->waker, names_clean(t->names, trace_string(trace, l->name)));
		if (classic) {
			put_classic_end(t, i);
		} else {
			fputs(", which ", t->out);
			put_meanwhile(t, i);
		}
	}
	putc('\n', t->out);
	indent(t, level + 1);
	fputs("in ", t->out);
	names_write_stack(t->names, l->stack, l->kernel_frames, l->waker != THREAD_NONE, t->out);
	putc('\n', t->out);
	put_ran(t, i->node, level + 1);
	put_links(t, i, level + 1);
}

static int widest_first(const void *pa, const void *pb)
{
	const struct item *const *a = pa, *const *b = pb;

	if ((*a)->total_ns != (*b)->total_ns)
		return (*a)->total_ns > (*b)->total_ns ? -1 : 1;
	return (*a)->label < (*b)->label ? -1 : (*a)->label > (*b)->label;
}

static void put_links(struct tree *t, const struct item *above, unsigned int level)
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
			put_link(t, below[i], level);
		else
			rest_ns += below[i]->total_ns;
	}
	if (rest_ns) {
		indent(t, level);
		fprintf(t->out, "and %zu more, ", n - LINKS_SHOWN);
		put_time(t, rest_ns);
		fputs(" in all\n", t->out);
	}
	free(below);
}

/* The heading: whose waits follow. */
static void put_thread(struct tree *t, uint32_t thread, uint64_t at_ns)
{
	const struct thread *th = timelines_thread(t->timelines, thread);

	put_who(t, thread, names_thread(t->names, thread, at_ns));
	if (th->tgid && th->tgid != th->tid)
		fprintf(t->out, " of process %" PRIu32, th->tgid);
	putc('\n', t->out);
}

static void put_object(struct tree *t, uint32_t stack)
{
	uint32_t text = names_waited_for(t->names, stack);

	t->out_of_memory |= !text;
	fprintf(t->out, " for %s", names_text(t->names, text));
}

static void put_head(struct tree *t, const struct chosen_wait *p)
{
	const struct wait *w = p->wait;
	const struct shown *s = &p->shown;
	uint64_t slept = s->blocked_to_ns - s->blocked_from_ns;
	uint64_t off = s->off_to_ns - s->off_from_ns;
	uint64_t from = slept ? s->blocked_from_ns : s->off_from_ns;
	uint64_t since = from - timelines_start_ns(t->timelines);
	int n = 0;

	fprintf(t->out, "  +%" PRIu64 ".%09" PRIu64 " s  ", since / 1000000000, since % 1000000000);
	if (w->kind == WAIT_PREEMPTED) {
		put_clause(t, &n, "lost its CPU for ", off, "");
	} else {
		put_clause(t, &n, "slept ", slept, "");
		if (slept && w->state != '?')
			fprintf(t->out, " (%c)", w->state);
		if (names_shown_object(t->names, w->stack))
			put_object(t, w->stack);
		put_clause(t, &n, "waited ", off, " for a CPU");
	}
	if (t->who_ran)
		who_ran_share(t->who_ran, p->thread, w, s->off_from_ns, s->off_to_ns, who_sums_add,
			      &t->who_had);
	put_who_had(t);
	if (chosen_wait_ns(p) < s->whole_ns) {
		fputs("; cut by --from or --to, in all ", t->out);
		put_time(t, s->whole_ns);
	}
	if (w->flags & WAIT_SINCE_START && slept)
		fputs("; asleep since before the trace began", t->out);
	if (w->flags & WAIT_NEW) {
		fputs("; its first run\n", t->out);
		return;
	}
	fputs("\n    in ", t->out);
	names_write_stack(t->names, w->stack, UINT32_MAX, true, t->out);
	putc('\n', t->out);
}

/* Sets the total of each node. */
static void sum_up(struct tree *t)
{
	for (size_t i = t->n_items; i-- > 0;) {
		struct item *item = &t->items[i];

		for (int e = 0; e < CHAIN_ENDS; e++)
			item->total_ns += item->ends_ns[e];
		if (i)
			t->items[item->parent].total_ns += item->total_ns;
		t->item_of[item->node] = 0;
	}
}

static void put_wait(struct tree *t, const struct chosen_wait *p)
{
	const struct wait *w = p->wait;
	uint32_t head = chains_head(&t->chains, 1);
	const uint64_t *end;

	t->n_items = t->n_ran = 0;
	pair_table_clear(&t->who, sizeof(uint64_t));
	if (w->kind == WAIT_SLEEP)
		chains_explain(&t->chains, head, p->thread, w, p->shown.blocked_from_ns,
			       p->shown.blocked_to_ns);
	sum_up(t);
	sum_up_ran(t);
	put_head(t, p);
	if (!t->n_items)
		return;
	end = t->items[0].ends_ns;
	if (end[CHAIN_NOT_WOKEN])
		fputs("    not woken: still asleep when the trace ended\n", t->out);
	if (end[CHAIN_UNKNOWN])
		fputs("    woken by whom is not known: no waking was recorded\n", t->out);
	put_links(t, &t->items[0], 0);
}

static int write_wait(void *arg, const struct chosen_wait *p)
{
	struct tree *t = arg;
	uint64_t at_ns = p->wait->out_ns;
	uint32_t name = names_thread(t->names, p->thread, at_ns);

	if (t->options->top || p->thread != t->thread || name != t->name)
		put_thread(t, p->thread, at_ns);
	t->thread = p->thread;
	t->name = name;
	put_wait(t, p);
	if (t->out_of_memory || t->chains.out_of_memory)
		return -ENOMEM;
	/* The caller reports a write error; continuing would be pointless. */
	return ferror(t->out) ? 1 : 0;
}

static int write_tree(const struct format_input *in, FILE *out)
{
	const struct options *o = in->options;
	struct tree t = { .out = out,
			  .timelines = in->timelines,
			  .options = o,
			  .names = names_new(in->timelines, o),
			  .thread = THREAD_NONE };
	struct wait_filter *s = t.names ? wait_filter_new(in->timelines, o, t.names) : NULL;
	int err = chains_init(&t.chains, in->timelines, o,
			      (struct chain_user) { &t, label_link, add });

	if (!s)
		err = -ENOMEM;
	if (!err)
		err = chain_samples_init(&t.chains.samples, in->timelines, add_ran, &t);
	if (!err)
		err = who_ran_new(&t.who_ran, in->timelines);
	chains_ask_who(&t.chains, t.who_ran, add_who);
	if (!err)
		err = top_waits_walk(in->timelines, s, o->top, write_wait, &t);
	chains_free(&t.chains);
	who_ran_free(t.who_ran);
	pair_table_free(&t.who);
	who_sums_free(&t.who_had);
	intern_free(&t.links);
	free(t.label);
	pairs_free(&t.labels);
	free(t.link);
	free(t.items);
	free(t.ran);
	free(t.item_of);
	wait_filter_free(s);
	names_free(t.names);
	return err < 0 ? err : 0;
}

const struct format format_tree = {
	.name = "tree",
	.summary = "waits, each with its chain, for reading",
	.wants_timelines = true,
	.wants_cpus = true,
	.several = SEVERAL_HEADED,
	.refuses = GIVEN_ANNOTATE | GIVEN_NO_ENDS | GIVEN_NO_DELIM | GIVEN_VIEW | GIVEN_BY_NAME |
		   GIVEN_WHO_RAN,
	.write = write_tree,
};
