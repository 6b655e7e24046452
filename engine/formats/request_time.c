// SPDX-License-Identifier: GPL-2.0-or-later
#include "request_time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "words/place.h"
#include "words/waited_for.h"
#include "common/xalloc.h"

/* Of a chain only the first link counts, and that there is a second one. */
#define DEPTH 2

/* What a node of a chain says of the time in it. */
enum node_kind {
	NODE_HEAD,
	NODE_QUEUED,
	NODE_FOR,     /* text: the endpoint */
	NODE_SERVED,  /* the first link */
	NODE_BLOCKED, /* text: where that thread waited; what: for what */
};

/* Has no padding: equal ones are equal bytes. */
struct label {
	uint32_t kind, text, what;
};

struct request_times {
	const struct timelines *timelines;
	struct names *names;
	struct options options;
	struct chains chains;
	struct intern labels; /* struct label */
	uint32_t group;
	uint64_t weight;	/* of the request that is explained */
	struct pair_table rows; /* struct request_time, by (kind, text) */
	/* By group: texts, numbers of samples; who had the CPU. */
	struct sums ran, had;
	struct sums whats; /* by place, a text: for what, a text */
};

/* ---- adding up ------------------------------------------------------------------------------ */

static void add_time(struct request_times *t, enum request_time_kind kind, uint32_t text,
		     uint64_t ns)
{
	struct request_time *row = pair_table_at(&t->rows, kind, text, sizeof(*row));

	row->kind = kind;
	row->text = text;
	row->ns[t->group] += ns;
}

static uint32_t make_label(struct request_times *t, enum node_kind kind, uint32_t text,
			   uint32_t what)
{
	struct label label = { kind, text, what };

	return xintern(&t->labels, &label, sizeof(label), NULL);
}

static struct label label_of(const struct request_times *t, uint32_t node)
{
	struct label l;
	size_t len;

	memcpy(&l, intern_bytes(&t->labels, t->chains.nodes.at[node].b, &len), sizeof(l));
	return l;
}

/* "for tcp :80": of "[for tcp :80]". */
static uint32_t without_brackets(struct request_times *t, uint32_t string)
{
	uint32_t text = names_string(t->names, string);
	const char *label = names_text(t->names, text);
	size_t len = strlen(label);
	char *copy = len > 2 ? xstrndup(label + 1, len - 2) : xstrdup(label);

	text = names_adopt(t->names, copy);
	free(copy);
	return text;
}

/* A chain_user's. */
static uint32_t label_link(void *arg, const struct link *l)
{
	struct request_times *t = arg;
	uint32_t text, what;

	if (l->flags & LINK_LABEL) {
		if (l->name == timelines_queued(t->timelines))
			return make_label(t, NODE_QUEUED, 0, 0);
		text = without_brackets(t, l->name);
		return make_label(t, NODE_FOR, text, 0);
	}
	if (timelines_pair(t->timelines, l->blocked).of_client)
		return make_label(t, NODE_SERVED, 0, 0);
	if (l->flags & LINK_STARTED) {
		text = names_adopt(t->names, l->flags & LINK_ASKED ? "its work" : "its start");
		return make_label(t, NODE_BLOCKED, text, 0);
	}
	text = place_text(t->names, timelines_trace(t->timelines), l->blocked, UINT32_MAX, true,
			  true);
	what = waited_for_words(t->names, l->blocked);
	return make_label(t, NODE_BLOCKED, text, what);
}

/* The label that decides what the time in a node was: that of the queue, else the last one. */
static struct label deciding(const struct request_times *t, uint32_t node)
{
	struct label last = label_of(t, node), l;

	for (; node; node = t->chains.nodes.at[node].a) {
		l = label_of(t, node);
		if (l.kind == NODE_FOR || l.kind == NODE_QUEUED)
			return l;
	}
	return last;
}

static void add_served(struct request_times *t, enum chain_end end, uint64_t ns)
{
	if (end == CHAIN_RUNNING)
		add_time(t, REQUEST_RAN, 0, ns);
	else if (end == CHAIN_RUNNABLE)
		add_time(t, REQUEST_NO_CPU, 0, ns);
	else
		add_time(t, REQUEST_LOST, 0, ns);
}

static void add_details(struct request_times *t, struct amount_key key, uint64_t amount)
{
	if (key.kind == AMOUNT_SAMPLES && key.end == CHAIN_RUNNING)
		sums_add(&t->ran, t->group,
			 place_text(t->names, timelines_trace(t->timelines), key.value, UINT32_MAX,
				    true, false),
			 amount);
	else if (key.kind == AMOUNT_CPU_HOLDER && key.end == CHAIN_RUNNABLE)
		sums_add(&t->had, t->group, key.value, amount);
}

/* A chain_sink's. */
static void add(void *arg, uint32_t node, struct amount_key key, uint64_t amount)
{
	struct request_times *t = arg;
	struct label l = deciding(t, node);

	amount *= t->weight;
	if (key.kind != AMOUNT_TIME) {
		if (l.kind == NODE_SERVED)
			add_details(t, key, amount);
		return;
	}
	switch (l.kind) {
	case NODE_QUEUED:
	case NODE_FOR:
		add_time(t, REQUEST_QUEUED, l.text, amount);
		break;
	case NODE_BLOCKED:
		add_time(t, REQUEST_BLOCKED, l.text, amount);
		if (l.what && *names_text(t->names, l.what))
			sums_add(&t->whats, l.text, l.what, amount);
		break;
	case NODE_SERVED:
		add_served(t, key.end, amount);
		break;
	default: /* who answered is not known */
		add_time(t, REQUEST_LOST, 0, amount);
	}
}

/* ---- shares --------------------------------------------------------------------------------- */

/* Splits a group's time of a kind that has no text yet as the sums say. */
static void split(struct request_times *t, enum request_time_kind kind, const struct sums *by)
{
	uint32_t row = pairs_find(&t->rows.keys, kind, 0);
	uint64_t ns = row ? ((struct request_time *)t->rows.at)[row].ns[t->group] : 0;
	size_t n;
	struct sum *of = sums_of(by, t->group, &n);
	uint64_t known = 0;

	for (size_t i = 0; i < n; i++)
		known += of[i].amount;
	if (!ns || !known)
		return;
	sums_share(of, n, ns, t->names);
	for (size_t i = 0; i < n; i++) {
		add_time(t, kind, 0, -of[i].share);
		add_time(t, kind, of[i].text, of[i].share);
	}
}

static void say_what_for(struct request_times *t)
{
	struct request_time *rows = t->rows.at;

	for (uint32_t i = 1; i <= t->rows.keys.n; i++) {
		size_t n = 0;
		const struct sum *of = rows[i].kind == REQUEST_BLOCKED
					       ? sums_of(&t->whats, rows[i].text, &n)
					       : NULL;

		rows[i].what = n ? of->text : 0;
		rows[i].others = n ? n - 1 : 0;
	}
}

static bool is_empty(const struct request_time *r)
{
	for (size_t i = 0; i < REQUEST_GROUPS_MAX; i++)
		if (r->ns[i])
			return false;
	return true;
}

static int most_time_first(const void *pa, const void *pb, void *arg)
{
	const struct request_time *a = pa, *b = pb;
	const struct request_times *t = arg;

	for (size_t i = REQUEST_GROUPS_MAX; i-- > 0;)
		if (a->ns[i] != b->ns[i])
			return compare_numbers(b->ns[i], a->ns[i]);
	if (a->kind != b->kind)
		return compare_numbers(a->kind, b->kind);
	return strcmp(names_text(t->names, a->text), names_text(t->names, b->text));
}

static void clear(struct request_times *t)
{
	/* Freed, not cleared: that would take as long as for the largest of all groups so far. */
	pair_table_free(&t->rows);
	sums_free(&t->ran);
	sums_free(&t->had);
	sums_free(&t->whats);
}

static void explain(struct request_times *t, const struct requests_taken *groups, size_t n)
{
	uint32_t head = chains_head(&t->chains, make_label(t, NODE_HEAD, 0, 0));

	for (t->group = 0; t->group < n; t->group++) {
		const struct requests_taken *g = &groups[t->group];

		for (size_t i = 0; i < g->n; i++) {
			const struct shown *s = &g->at[i].shown;

			t->weight = request_weight(&g->at[i]);
			chains_explain(&t->chains, head, g->at[i].thread, g->at[i].wait,
				       s->blocked_from_ns, s->blocked_to_ns);
		}
	}
	sums_sort(&t->ran, t->names, sums_key_is_text);
	sums_sort(&t->had, t->names, cpu_holder_name);
	sums_sort(&t->whats, t->names, sums_key_is_text);
	for (t->group = 0; t->group < n; t->group++) {
		split(t, REQUEST_RAN, &t->ran);
		split(t, REQUEST_NO_CPU, &t->had);
	}
}

void request_times_explain(struct request_times *t, const struct requests_taken *groups, size_t n)
{
	clear(t);
	explain(t, groups, n);
	say_what_for(t);
	if (t->rows.keys.n)
		qsort_r((struct request_time *)t->rows.at + 1, t->rows.keys.n,
			sizeof(struct request_time), most_time_first, t);
}

void request_times_new(struct request_times **out, const struct timelines *tl,
		       const struct options *o, struct names *names,
		       const struct cpu_holders *cpu_holders)
{
	struct request_times *t = xcalloc(1, sizeof(*t));

	*out = t;
	t->timelines = tl;
	t->names = names;
	t->options = *o;
	t->options.mode = MODE_EXACT;
	t->options.depth = DEPTH;
	t->options.fold_repeats = true; /* links then say where the thread before them slept */
	chains_init(&t->chains, tl, &t->options,
		    &(struct chain_user) { .sink = { .arg = t, .add = add },
					   .label = label_link,
					   .wants = 1u << AMOUNT_SAMPLES | 1u << AMOUNT_CPU_HOLDER,
					   .cpu_holders = cpu_holders });
}

void request_times_free(struct request_times *t)
{
	if (!t)
		return;
	chains_free(&t->chains);
	intern_free(&t->labels);
	clear(t);
	free(t);
}

const struct request_time *request_times_list(const struct request_times *t, size_t *n)
{
	const struct request_time *rows = t->rows.at;

	*n = t->rows.keys.n;
	/* All of their time was split. */
	while (*n && is_empty(&rows[*n]))
		--*n;
	return rows ? rows + 1 : NULL;
}

void request_time_put(struct text_buf *b, const struct names *names, const struct request_time *r)
{
	static const char *const words[][2] = {
		[REQUEST_QUEUED] = { "queued", "queued, while the reader worked " },
		[REQUEST_RAN] = { "ran", "ran " },
		[REQUEST_BLOCKED] = { "blocked", "blocked in " },
		[REQUEST_NO_CPU] = { "no CPU", "no CPU: " },
		[REQUEST_LOST] = { "unknown: what the answering thread did", "unknown: " },
	};
	char others[32] = "";

	text_puts(b, words[r->kind][*names_text(names, r->text) ? 1 : 0]);
	text_puts(b, names_text(names, r->text));
	text_puts(b, r->what ? " for " : "");
	text_puts(b, names_text(names, r->what));
	if (r->others)
		snprintf(others, sizeof(others), " and %zu more", r->others);
	text_puts(b, others);
}
