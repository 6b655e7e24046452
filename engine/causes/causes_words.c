// SPDX-License-Identifier: GPL-2.0-or-later
#include "causes_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* ---- paths: the threads through which a cause came to those who waited ----------------------- */

/* A chain that ends in the cause, and its time. */
struct path_chain {
	uint64_t ns;
	uint32_t node;
};

/* Threads of one name that follow each other in a chain, and where the chain goes on. */
struct stage {
	uint32_t who, times;
	uint32_t up; /* the node after them, towards the one who waited; 0: none */
};

static struct stage stage_at(const struct causes *c, uint32_t node)
{
	const struct pair *nodes = c->chains.nodes.at;
	struct stage s = { 0 };

	for (; node; node = nodes[node].a) {
		struct label l = causes_label(c, nodes[node].b);
		uint32_t who = l.who && causes_of_requests(c) ? l.process_name : l.who;

		/* An interrupt, or a client: its endpoint has been said. */
		if (!who || (!nodes[node].a && causes_of_requests(c)))
			continue;
		if (s.who && s.who != who)
			break;
		s.who = who;
		s.times++;
	}
	s.up = node;
	return s;
}

/* Time by stage. */
struct stage_sum {
	uint64_t ns;
	uint32_t who, times;
};

/* The more time, the better; among equals the name decides, then how many times. */
static bool is_wider(const struct causes *c, const struct stage_sum *a, const struct stage_sum *b)
{
	int order = strcmp(names_text(c->names, a->who), names_text(c->names, b->who));

	if (a->ns != b->ns)
		return a->ns > b->ns;
	return order ? order < 0 : a->times < b->times;
}

/*
 * The threads through which most of the time of the n chains came. times: how often they follow
 * each other there, mostly.
 */
static struct stage_sum widest_stage(const struct causes *c, const struct path_chain *at, size_t n,
				     bool *failed)
{
	struct pair_table sums = { .cap = 0 };
	struct stage_sum widest = { 0 }, mostly = { 0 };

	/* The sums of all times have 0 times. */
	for (size_t i = 0; i < 2 * n && !*failed; i++) {
		struct stage stage = stage_at(c, at[i / 2].node);
		uint32_t times = i % 2 ? stage.times : 0;
		struct stage_sum *s = pair_table_at(&sums, stage.who, times, sizeof(*s));

		*failed = !s;
		if (s)
			*s = (struct stage_sum) { s->ns + at[i / 2].ns, stage.who, times };
	}
	for (uint32_t i = 1; i <= sums.keys.n && !*failed; i++) {
		const struct stage_sum *s = &((const struct stage_sum *)sums.at)[i];

		if (!s->times && is_wider(c, s, &widest))
			widest = *s;
	}
	for (uint32_t i = 1; i <= sums.keys.n && !*failed; i++) {
		const struct stage_sum *s = &((const struct stage_sum *)sums.at)[i];

		if (s->times && s->who == widest.who && is_wider(c, s, &mostly))
			mostly = *s;
	}
	widest.times = mostly.times;
	pair_table_free(&sums);
	return widest;
}

/* Keeps the chains that have the stage, behind it. Returns how many. */
static size_t pass(const struct causes *c, struct path_chain *at, size_t n,
		   const struct stage_sum *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		struct stage stage = stage_at(c, at[i].node);

		if (stage.who == s->who && stage.up)
			at[kept++] = (struct path_chain) { at[i].ns, stage.up };
	}
	return kept;
}

static void put_stage(const struct causes *c, struct text_buf *path, const struct stage_sum *s)
{
	struct text_buf b = { 0 };
	char count[32] = "";

	if (s->times > 1)
		snprintf(count, sizeof(count), " x %" PRIu32, s->times);
	text_puts(&b, names_text(c->names, s->who));
	text_puts(&b, count);
	text_puts(&b, path->len ? " <- " : "");
	text_puts(&b, path->len ? path->p : "");
	path->len = 0;
	text_puts(path, b.failed ? "" : b.p);
	path->failed |= b.failed;
	text_free(&b);
}

/*
 * "client <- worker x 6 <- janitor": from the cause on always to the threads through which most of
 * its time came, as long as that is a quarter of what came so far: who waits behind a thread
 * counts, even if that thread's own waits are more. Returns a text id, 0 when out of memory;
 * changes at[].
 */
static uint32_t path_text(const struct causes *c, struct path_chain *at, size_t n)
{
	struct text_buf path = { 0 };
	uint64_t before_ns = 0;
	uint32_t id;

	while (n) {
		struct stage_sum s = widest_stage(c, at, n, &path.failed);

		if (path.failed || !s.who || s.ns < before_ns / 4)
			break;
		put_stage(c, &path, &s);
		before_ns = s.ns;
		n = pass(c, at, n, &s);
	}
	id = path.failed ? 0 : names_adopt(c->names, path.len ? path.p : "");
	text_free(&path);
	return id;
}

/* Sets the path of each cause. */
static void find_paths(struct causes *c)
{
	const struct chain_sum *sums = c->sums.at;
	struct path_chain *at = calloc((size_t)c->sums.keys.n + 1, sizeof(*at));
	size_t *first = calloc(c->n + 2, sizeof(*first));

	c->out_of_memory |= !at || !first;
	/* Sorted by cause, which count from 1: those of k are at first[k] and behind it. */
	for (uint32_t i = 1; i <= c->sums.keys.n && !c->out_of_memory; i++)
		first[sums[i].cause + 1]++;
	for (size_t k = 1; k <= c->n + 1 && !c->out_of_memory; k++)
		first[k] += first[k - 1];
	for (uint32_t i = 1; i <= c->sums.keys.n && !c->out_of_memory; i++)
		at[first[sums[i].cause]++] = (struct path_chain) { sums[i].ns, sums[i].node };
	/* Now those of k end where first[k] is. */
	for (size_t k = 1; k <= c->n && !c->out_of_memory; k++)
		c->at[k - 1].path = path_text(c, at + first[k - 1], first[k] - first[k - 1]);
	free(at);
	free(first);
}

/* What the sleep of a node's label was for: before its waking, or of a head. */
static void add_what(struct causes *c, struct sums *to, const struct chain_sum *s, uint32_t node)
{
	uint32_t what = causes_label(c, c->chains.nodes.at[node].b).what;

	if (what && *names_text(c->names, what))
		sums_add(to, s->cause, what, s->ns);
}

/* Of a chain with a link, that of a request: which thread it was, where it or its wakee slept. */
static void add_request_texts(struct causes *c, const struct chain_sum *s)
{
	const struct pair *nodes = c->chains.nodes.at;
	struct label l = causes_label(c, nodes[s->node].b);
	uint32_t node = s->node;

	if (!l.who) {
		if (l.slept)
			sums_add(&c->wheres, s->cause, l.slept, s->ns);
		node = nodes[node].a;
		l = causes_label(c, nodes[node].b);
	}
	if (l.thread) {
		sums_add(&c->processes_of, s->cause, l.process, s->ns);
		sums_add(&c->threads, s->cause, l.thread, s->ns);
	}
	if (s->end == CHAIN_RUNNABLE)
		c->at[s->cause - 1].no_cpu_ns += s->ns;
	if (l.slept && *names_text(c->names, l.slept) && nodes[node].a)
		sums_add(&c->wakee_sleeps, s->cause, l.slept, s->ns);
}

static void add_texts(struct causes *c, const struct chain_sum *s)
{
	const struct pair *nodes = c->chains.nodes.at;
	struct label last = causes_label(c, nodes[s->node].b);
	uint32_t thread = s->node;

	if (last.is_text)
		return;
	if (s->end == CHAIN_RUNNING && last.woke)
		sums_add(&c->wheres, s->cause, last.woke, s->ns);
	if (causes_of_requests(c))
		add_request_texts(c, s);
	if (!last.who) { /* an interrupt */
		add_what(c, &c->whats, s, thread);
		thread = nodes[thread].a;
	} else if (!nodes[thread].a && (s->end == CHAIN_NOT_WOKEN || s->end == CHAIN_UNKNOWN)) {
		add_what(c, &c->whats, s, thread);
	}
	if (nodes[thread].a)
		add_what(c, &c->wakee_whats, s, thread);
}

#define HOLDERS_SHOWN 3

/* "61 % gzip, 39 % make": who had the CPU, if anybody is known. */
static void write_holders(struct causes *c, struct cause *cause)
{
	char *written = NULL;
	size_t len;
	FILE *f = open_memstream(&written, &len);

	if (f)
		sums_write(&c->had, c->names, cause->id, HOLDERS_SHOWN, "", "[unknown]", f);
	c->out_of_memory |= !f || fclose(f);
	if (written && *written)
		cause->had = names_adopt(c->names, written);
	c->out_of_memory |= written && *written && !cause->had;
	free(written);
}

int causes_describe(struct causes *c)
{
	const struct chain_sum *sums = c->sums.at;

	for (uint32_t i = 1; i <= c->sums.keys.n; i++)
		add_texts(c, &sums[i]);
	sums_sort(&c->wheres, c->names, sums_key_is_text);
	sums_sort(&c->whats, c->names, sums_key_is_text);
	sums_sort(&c->wakee_whats, c->names, sums_key_is_text);
	sums_sort(&c->had, c->names, cpu_holder_name);
	sums_sort(&c->woken, c->names, names_string);
	sums_sort(&c->processes_of, c->names, sums_key_is_text);
	sums_sort(&c->threads, c->names, sums_key_is_text);
	sums_sort(&c->wakee_sleeps, c->names, sums_key_is_text);
	c->out_of_memory |= c->processes_of.out_of_memory || c->threads.out_of_memory ||
			    c->samples.out_of_memory || c->wakee_sleeps.out_of_memory;
	c->out_of_memory |= c->wheres.out_of_memory || c->whats.out_of_memory ||
			    c->wakee_whats.out_of_memory || c->had.out_of_memory ||
			    c->woken.out_of_memory;
	for (size_t k = 0; k < c->n && !c->out_of_memory; k++) {
		struct cause *cause = &c->at[k];
		uint32_t where = sums_dominant_text(&c->wheres, cause->id);

		/* Of those that are not told apart by it. */
		if (where)
			cause->where = where;
		cause->what = sums_dominant_text(&c->whats, cause->id);
		cause->wakee_what = sums_dominant_text(&c->wakee_whats, cause->id);
		cause->wakee_slept = sums_dominant_text(&c->wakee_sleeps, cause->id);
		cause->process = sums_dominant_text(&c->processes_of, cause->id);
		sums_of(&c->processes_of, cause->id, &cause->processes);
		cause->thread = sums_dominant_text(&c->threads, cause->id);
		sums_of(&c->threads, cause->id, &cause->threads);
		write_holders(c, cause);
	}
	find_paths(c);
	if (causes_of_requests(c) && causes_say_what_ran(c))
		return -ENOMEM;
	return c->out_of_memory ? -ENOMEM : 0;
}
