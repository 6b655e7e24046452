// SPDX-License-Identifier: GPL-2.0-or-later
#include "causes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "intern.h"
#include "ways.h"
#include "words/place.h"

/* What counts of a head or a link. Texts; 0: there is none. */
struct label {
	uint32_t who;	/* 0: an interrupt */
	uint32_t woke;	/* from where it woke */
	uint32_t slept; /* where the thread above, or the head's, slept */
	uint32_t by;	/* an interrupt's handler */
};

/* What distinguishes causes. */
struct cause_key {
	uint32_t end, who, where, by, itself;
};

/* A chain and its end. */
struct chain_sum {
	uint64_t ns;
	uint32_t node, end;
	uint32_t cause; /* 1 + its number; 0: not looked up yet */
};

struct causes {
	const struct timelines *timelines;
	const struct trace *trace;
	struct names *names;
	struct wait_filter *filter;
	struct chains chains;
	struct intern links; /* struct link; */
	uint32_t *label_of;  /* by its id: the label, 0 not made yet */
	size_t cap_label_of;
	struct intern labels; /* struct label */
	struct intern keys;   /* struct cause_key; */
	struct cause *at;     /* by its id - 1, until they are sorted */
	size_t n, cap;
	struct pair_table sums; /* struct chain_sum, by (node, end) */
	/* The current wait: parts by cause, and which causes have one. */
	uint64_t *part_ns;
	uint32_t *touched;
	size_t cap_parts, cap_touched, n_touched;
	bool out_of_memory;
};

static struct label label_at(const struct causes *c, uint32_t id)
{
	struct label l;
	size_t len;

	memcpy(&l, intern_bytes(&c->labels, id, &len), sizeof(l));
	return l;
}

static uint32_t place(struct causes *c, uint32_t pair, uint32_t kernel_frames, bool user,
		      bool kernel)
{
	uint32_t text = place_text(c->names, c->trace, pair, kernel_frames, user, kernel);

	c->out_of_memory |= !text;
	return text;
}

/* 0: out of memory. */
static uint32_t make_label(struct causes *c, const struct link *l)
{
	struct label label = { 0 };

	if (l->flags & LINK_SHOWS_BLOCKED)
		label.slept = place(c, l->blocked, UINT32_MAX, true, true);
	if (l->waker != THREAD_NONE) {
		label.who = names_clean(c->names, trace_string(c->trace, l->name));
		label.woke = place(c, l->stack, l->kernel_frames, true, false);
		c->out_of_memory |= !label.who;
	} else {
		uint32_t kstack = timelines_pair(c->timelines, l->stack).kstack;
		uint32_t frame = irq_handler(c->chains.kernel, kstack, l->kernel_frames);

		label.by = frame ? names_frame(c->names, frame) : 0;
	}
	return intern_id(&c->labels, &label, sizeof(label), NULL);
}

static uint32_t label_link(void *arg, const struct link *l)
{
	struct causes *c = arg;
	bool is_new;
	uint32_t id = intern_id(&c->links, l, sizeof(*l), &is_new);
	uint32_t *p = id ? grow_array(c->label_of, id, &c->cap_label_of, sizeof(*p)) : NULL;

	if (!p)
		return 0;
	c->label_of = p;
	if (is_new)
		p[id] = make_label(c, l);
	return p[id];
}

/* Who is responsible at the end of a chain, and where. */
static struct cause_key key_of(const struct causes *c, uint32_t node, uint32_t end)
{
	const struct pair *nodes = c->chains.nodes.at;
	struct label last = label_at(c, nodes[node].b), above;
	struct cause_key key = { .end = end, .who = last.who };

	if (!last.who) { /* an interrupt: what counts is who slept, and where */
		node = nodes[node].a;
		above = label_at(c, nodes[node].b);
		key.who = above.who;
		key.where = nodes[node].a ? last.slept : above.slept;
		key.by = last.by;
	} else if (!nodes[node].a && (end == CHAIN_NOT_WOKEN || end == CHAIN_UNKNOWN)) {
		key.where = last.slept;
	}
	key.itself = !nodes[node].a;
	return key;
}

/* 1 + the number of the cause; 0: out of memory. */
static uint32_t find_cause(struct causes *c, uint32_t node, uint32_t end)
{
	struct cause_key key = key_of(c, node, end);
	bool is_new;
	uint32_t id = intern_id(&c->keys, &key, sizeof(key), &is_new);
	struct cause *p;

	if (!id || !is_new)
		return id;
	p = grow_array(c->at, c->n, &c->cap, sizeof(*p));
	if (!p)
		return 0;
	c->at = p;
	p[c->n++] = (struct cause) {
		.end = end, .who = key.who, .where = key.where, .by = key.by, .itself = key.itself
	};
	return id;
}

/* The part of the current wait that goes to a cause. */
static void add_part(struct causes *c, uint32_t cause, uint64_t ns)
{
	size_t had = c->cap_parts;
	uint64_t *part = grow_array(c->part_ns, cause, &c->cap_parts, sizeof(*part));
	uint32_t *touched;

	if (part) {
		memset(part + had, 0, (c->cap_parts - had) * sizeof(*part));
		c->part_ns = part;
	}
	touched = grow_array(c->touched, c->n_touched, &c->cap_touched, sizeof(*touched));
	if (touched)
		c->touched = touched;
	if (!part || !touched) {
		c->out_of_memory = true;
		return;
	}
	if (!part[cause])
		touched[c->n_touched++] = cause;
	part[cause] += ns;
}

static void add(void *arg, uint32_t node, enum chain_end end, uint64_t ns)
{
	struct causes *c = arg;
	struct chain_sum *s = pair_table_at(&c->sums, node, end, sizeof(*s));

	if (s && !s->cause) {
		s->node = node;
		s->end = end;
		s->cause = find_cause(c, node, end);
	}
	if (!s || !s->cause) {
		c->out_of_memory = true;
		return;
	}
	s->ns += ns;
	if (ns)
		add_part(c, s->cause, ns);
}

static bool better_example(const struct cause *cause, uint64_t ns, const struct chosen_wait *p)
{
	const struct chosen_wait *best = &cause->example;

	if (ns != cause->longest_ns)
		return ns > cause->longest_ns;
	if (p->wait->out_ns != best->wait->out_ns)
		return p->wait->out_ns < best->wait->out_ns;
	return p->thread < best->thread;
}

/* Adds up the parts of the current wait. */
static void count_wait(struct causes *c, const struct chosen_wait *p)
{
	for (size_t i = 0; i < c->n_touched; i++) {
		struct cause *cause = &c->at[c->touched[i] - 1];
		uint64_t ns = c->part_ns[c->touched[i]];

		c->part_ns[c->touched[i]] = 0;
		cause->ns += ns;
		cause->waits++;
		if (!better_example(cause, ns, p))
			continue;
		cause->longest_ns = ns;
		cause->example = *p;
	}
	c->n_touched = 0;
}

static int explain_wait(void *arg, const struct chosen_wait *p)
{
	struct causes *c = arg;
	const struct wait *w = p->wait;
	const struct shown *s = &p->shown;
	bool preempted = w->kind == WAIT_PREEMPTED;
	struct label label = { .who = names_thread(c->names, p->thread, w->out_ns),
			       .slept = place(c, w->stack, UINT32_MAX, true, true) };
	uint32_t head = chains_head(&c->chains, intern_id(&c->labels, &label, sizeof(label), NULL));

	if (!head || !label.who || c->out_of_memory)
		return -ENOMEM;
	if (!preempted)
		chains_explain(&c->chains, head, p->thread, w, s->blocked_from_ns,
			       s->blocked_to_ns);
	if (s->off_to_ns > s->off_from_ns)
		add(c, head, preempted ? CHAIN_PREEMPTED : CHAIN_RUNNABLE,
		    s->off_to_ns - s->off_from_ns);
	count_wait(c, p);
	return c->out_of_memory || c->chains.out_of_memory ? -ENOMEM : 0;
}

/* ---- what is said of each ------------------------------------------------------------------- */

/* Time by (cause, place): the place with most of it is the one that is said. */
struct said {
	uint64_t ns;
	uint32_t cause, text;
};

static uint32_t who_of(const void *arg, uint32_t label)
{
	return label_at(arg, label).who;
}

/* Sets the way of each cause. */
static void find_ways(struct causes *c)
{
	const struct chain_sum *sums = c->sums.at;
	struct way_chain *at = calloc((size_t)c->sums.keys.n + 1, sizeof(*at));
	size_t *first = calloc(c->n + 2, sizeof(*first));
	const struct ways ways = { c->names, c->chains.nodes.at, who_of, c };

	c->out_of_memory |= !at || !first;
	/* Sorted by cause, which count from 1: those of k are at first[k] and behind it. */
	for (uint32_t i = 1; i <= c->sums.keys.n && !c->out_of_memory; i++)
		first[sums[i].cause + 1]++;
	for (size_t k = 1; k <= c->n + 1 && !c->out_of_memory; k++)
		first[k] += first[k - 1];
	for (uint32_t i = 1; i <= c->sums.keys.n && !c->out_of_memory; i++)
		at[first[sums[i].cause]++] = (struct way_chain) { sums[i].ns, sums[i].node };
	/* Now those of k end where first[k] is. */
	for (size_t k = 1; k <= c->n && !c->out_of_memory; k++)
		c->at[k - 1].way = way_text(&ways, at + first[k - 1], first[k] - first[k - 1]);
	free(at);
	free(first);
}

static void say(struct causes *c, struct pair_table *said, uint32_t cause, uint32_t text,
		uint64_t ns)
{
	struct said *s = text ? pair_table_at(said, cause, text, sizeof(*s)) : NULL;

	if (!s) {
		c->out_of_memory = true;
		return;
	}
	s->cause = cause;
	s->text = text;
	s->ns += ns;
}

/* Sets where of the causes to what most of their time says. */
static void take_most(struct causes *c, const struct pair_table *said)
{
	uint64_t *most = calloc(c->n + 1, sizeof(*most));
	const struct said *all = said->at;

	c->out_of_memory |= !most;
	for (uint32_t i = 1; most && i <= said->keys.n; i++) {
		const struct said *s = &all[i];
		uint32_t *text = &c->at[s->cause - 1].where;

		if (s->ns < most[s->cause])
			continue;
		if (s->ns == most[s->cause] && *text &&
		    strcmp(names_text(c->names, *text), names_text(c->names, s->text)) <= 0)
			continue;
		most[s->cause] = s->ns;
		*text = s->text;
	}
	free(most);
}

static void describe(struct causes *c)
{
	struct pair_table wheres = { .cap = 0 };
	const struct chain_sum *sums = c->sums.at;

	for (uint32_t i = 1; i <= c->sums.keys.n && !c->out_of_memory; i++) {
		const struct chain_sum *s = &sums[i];
		struct label last = label_at(c, c->chains.nodes.at[s->node].b);

		if (s->end == CHAIN_RUNNING && last.woke)
			say(c, &wheres, s->cause, last.woke, s->ns);
	}
	if (!c->out_of_memory)
		take_most(c, &wheres);
	if (!c->out_of_memory)
		find_ways(c);
	pair_table_free(&wheres);
}

static int most_time_first(const void *pa, const void *pb, void *names)
{
	const struct cause *a = pa, *b = pb;
	const uint32_t ta[] = { a->who, a->where, a->by }, tb[] = { b->who, b->where, b->by };
	int order = 0;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	for (size_t i = 0; i < 3 && !order; i++)
		order = strcmp(names_text(names, ta[i]), names_text(names, tb[i]));
	return order ? order : a->itself - b->itself;
}

int causes_new(struct causes **out, const struct timelines *tl, const struct options *o,
	       struct names *names, struct wait_filter *f)
{
	struct causes *c = calloc(1, sizeof(*c));
	int err;

	*out = c;
	if (!c)
		return -ENOMEM;
	c->timelines = tl;
	c->trace = timelines_trace(tl);
	c->names = names;
	c->filter = f;
	err = chains_init(&c->chains, tl, o, (struct chain_user) { c, label_link, add });
	if (!err)
		err = top_waits_walk(tl, f, 0, explain_wait, c);
	if (!err)
		describe(c);
	if (!err && c->n)
		qsort_r(c->at, c->n, sizeof(*c->at), most_time_first, names);
	return err ? err : c->out_of_memory ? -ENOMEM : 0;
}

void causes_free(struct causes *c)
{
	if (!c)
		return;
	chains_free(&c->chains);
	intern_free(&c->links);
	free(c->label_of);
	intern_free(&c->labels);
	intern_free(&c->keys);
	free(c->at);
	pair_table_free(&c->sums);
	free(c->part_ns);
	free(c->touched);
	free(c);
}

const struct cause *causes_list(const struct causes *c, size_t *n)
{
	*n = c->n;
	return c->at;
}
