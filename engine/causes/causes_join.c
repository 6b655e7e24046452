// SPDX-License-Identifier: GPL-2.0-or-later
/* Adds up what several threads found, each of other waits, as far as it depends on these. */
#include <stdlib.h>
#include <string.h>

#include "causes_private.h"
#include "common/xalloc.h"

/* What texts, labels, nodes and causes are called there. */
struct join {
	struct causes *to;
	const struct causes *from;
	struct pair_table texts; /* uint32_t by (text, 0) */
	uint32_t *labels, *nodes, *causes;
};

/* 0: there is none. */
static uint32_t text_of(struct join *j, uint32_t text)
{
	uint32_t *known = text ? pair_table_at(&j->texts, text, 0, sizeof(*known)) : NULL;

	if (known && !*known)
		*known = names_adopt(j->to->names, names_text(j->from->names, text));
	return known ? *known : 0;
}

static void join_labels(struct join *j)
{
	for (uint32_t i = 1; i <= j->from->labels.n; i++) {
		struct label l = causes_label(j->from, i);

		l.who = text_of(j, l.who);
		l.woke = text_of(j, l.woke);
		l.slept = text_of(j, l.slept);
		l.what = text_of(j, l.what);
		l.lock = text_of(j, l.lock);
		l.by = text_of(j, l.by);
		j->labels[i] = xintern(&j->to->labels, &l, sizeof(l), NULL);
	}
}

static void join_nodes(struct join *j)
{
	const struct pairs *nodes = &j->from->chains.nodes;

	/* Parents come before their children. What running totals are relative to has no label. */
	for (uint32_t i = 1; i <= nodes->n; i++) {
		struct pair at = nodes->at[i];

		if (at.b <= j->from->labels.n && (!at.a || j->nodes[at.a]))
			j->nodes[i] = chains_node(&j->to->chains, j->nodes[at.a], j->labels[at.b]);
	}
}

static void join_causes(struct join *j)
{
	struct causes *to = j->to;

	for (uint32_t i = 1; i <= j->from->n; i++) {
		const struct cause *cause = &j->from->at[i - 1];
		struct cause_key key;
		struct cause *sum;
		size_t len;

		memcpy(&key, intern_bytes(&j->from->keys, i, &len), sizeof(key));
		key.who = text_of(j, key.who);
		key.where = text_of(j, key.where);
		key.by = text_of(j, key.by);
		key.lock = text_of(j, key.lock);
		j->causes[i] = causes_of_key(to, &key);
		sum = &to->at[j->causes[i] - 1];
		sum->ns += cause->ns;
		sum->waits += cause->waits;
		sum->quota_waits += cause->quota_waits;
		sum->windows_ns += cause->windows_ns;
		if (sum->longest_ns < cause->longest_ns)
			sum->longest_ns = cause->longest_ns;
		if (sum->piece_ns < cause->piece_ns)
			sum->piece_ns = cause->piece_ns;
		if (cause->never_woken)
			causes_keep_never_woken(sum, cause->never_woken);
	}
}

static void join_chains(struct join *j)
{
	const struct chain_sum *sums = j->from->sums.at;

	for (uint32_t i = 1; i <= j->from->sums.keys.n; i++) {
		uint32_t node = j->nodes[sums[i].node];
		struct chain_sum *s =
			pair_table_at(&j->to->sums, node, j->from->sums.keys.at[i].b, sizeof(*s));

		s->ns += sums[i].ns;
		window_sum_add(&s->windows, &sums[i].windows);
		s->node = node;
		s->end = sums[i].end;
		s->disk = sums[i].disk;
		s->cause = j->causes[sums[i].cause];
		causes_classify(j->to, s);
	}
}

/* Sums by cause, whose keys are texts or not. */
static void join_sums(struct join *j, struct sums *to, const struct sums *from, bool of_texts)
{
	const struct sum *at = from->table.at;

	for (uint32_t i = 1; i <= from->table.keys.n; i++) {
		uint32_t key = of_texts ? text_of(j, at[i].key) : at[i].key;
		struct sum *sum = sums_at(to, j->causes[at[i].thing], key);

		sum->amount += at[i].amount;
		sum->count += at[i].count;
	}
}

static void join_long_waits(struct causes *to, const struct causes *from)
{
	for (size_t i = 0; i < from->n_long; i++)
		XAPPEND(to->long_waits, to->n_long, to->cap_long) = from->long_waits[i];
}

static void join_waits(struct join *j)
{
	const struct causes *from = j->from;
	const struct cause_examples *examples = from->examples.at;
	const struct cause_of_name *names = from->of_names.at;
	const struct cause_thread *threads = from->of_threads.at;
	const struct cause_cell *cells = from->in_cells.at;

	for (uint32_t i = 1; i <= from->examples.keys.n; i++)
		for (size_t k = 0; k < examples[i].n; k++)
			causes_keep_example(j->to, j->causes[from->examples.keys.at[i].a],
					    &examples[i].at[k]);
	for (uint32_t i = 1; i <= from->of_names.keys.n; i++) {
		struct pair key = from->of_names.keys.at[i];

		causes_keep_of_name(j->to, j->causes[key.a], text_of(j, key.b), &names[i].best,
				    names[i].others_ns);
	}
	for (uint32_t i = 1; i <= from->of_threads.keys.n; i++) {
		struct pair key = from->of_threads.keys.at[i];
		uint32_t cause = j->causes[key.a];

		if (threads[i].has_time)
			causes_add_thread(j->to, cause, key.b, threads[i].ns);
		if (threads[i].name)
			causes_keep_victim(j->to, cause, key.b, text_of(j, threads[i].name),
					   threads[i].at_ns);
	}
	for (uint32_t i = 1; i <= from->waited.keys.n; i++) {
		struct pair key = from->waited.keys.at[i];

		pair_table_add(&j->to->waited, j->nodes[key.a], key.b,
			       ((const uint64_t *)from->waited.at)[i]);
	}
	for (uint32_t i = 1; i <= from->in_cells.keys.n; i++) {
		struct pair key = from->in_cells.keys.at[i];

		causes_add_to_cell(j->to, j->causes[key.a], key.b, cells[i]);
	}
	for (size_t i = 0; i < CAUSES_LENGTHS; i++)
		j->to->lengths[i] += from->lengths[i];
}

void causes_join(struct causes *to, const struct causes *from)
{
	struct join j = { .to = to, .from = from };

	j.labels = xcalloc((size_t)from->labels.n + 1, sizeof(*j.labels));
	j.nodes = xcalloc((size_t)from->chains.nodes.n + 1, sizeof(*j.nodes));
	j.causes = xcalloc(from->n + 1, sizeof(*j.causes));
	join_labels(&j);
	join_nodes(&j);
	join_causes(&j);
	join_chains(&j);
	join_sums(&j, &to->had, &from->had, false);
	join_sums(&j, &to->samples, &from->samples, false);
	join_sums(&j, &to->by_length, &from->by_length, false);
	join_sums(&j, &to->woken, &from->woken, false);
	join_sums(&j, &to->wheres, &from->wheres, true);
	join_waits(&j);
	join_long_waits(to, from);
	pair_table_free(&j.texts);
	free(j.labels);
	free(j.nodes);
	free(j.causes);
}
