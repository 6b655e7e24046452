// SPDX-License-Identifier: GPL-2.0-or-later
#include "ways.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* Threads of one name that follow each other in a chain, and where the chain goes on. */
struct stage {
	uint32_t who, times;
	uint32_t up; /* the node after them, towards the one who waited; 0: none */
};

static struct stage stage_at(const struct ways *w, uint32_t node)
{
	const struct pair *nodes = w->nodes;
	struct stage s = { 0 };

	for (; node; node = nodes[node].a) {
		uint32_t who = w->who(w->arg, nodes[node].b);

		if (!who) /* an interrupt */
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

/* The stage in which most of the time of the n chains is. */
static struct stage_sum widest_stage(const struct ways *w, const struct way_chain *at, size_t n,
				     bool *failed)
{
	struct pair_table sums = { .cap = 0 };
	struct stage_sum widest = { 0 };

	for (size_t i = 0; i < n; i++) {
		struct stage stage = stage_at(w, at[i].node);
		struct stage_sum *s = pair_table_at(&sums, stage.who, stage.times, sizeof(*s));

		if (!s) {
			*failed = true;
			break;
		}
		s->who = stage.who;
		s->times = stage.times;
		s->ns += at[i].ns;
		if (s->ns > widest.ns ||
		    (s->ns == widest.ns &&
		     strcmp(names_text(w->names, s->who), names_text(w->names, widest.who)) < 0))
			widest = *s;
	}
	pair_table_free(&sums);
	return widest;
}

/* Keeps the chains that have the stage, behind it. Returns how many. */
static size_t pass(const struct ways *w, struct way_chain *at, size_t n, const struct stage_sum *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		struct stage stage = stage_at(w, at[i].node);

		if (stage.who == s->who && stage.times == s->times && stage.up)
			at[kept++] = (struct way_chain) { at[i].ns, stage.up };
	}
	return kept;
}

static void put_stage(const struct ways *w, struct text_buf *way, const struct stage_sum *s)
{
	struct text_buf b = { 0 };
	char count[32] = "";

	if (s->times > 1)
		snprintf(count, sizeof(count), " x %" PRIu32, s->times);
	text_puts(&b, names_text(w->names, s->who));
	text_puts(&b, count);
	text_puts(&b, way->len ? " <- " : "");
	text_puts(&b, way->len ? way->p : "");
	way->len = 0;
	text_puts(way, b.failed ? "" : b.p);
	way->failed |= b.failed;
	text_free(&b);
}

uint32_t way_text(const struct ways *w, struct way_chain *at, size_t n)
{
	struct text_buf way = { 0 };
	uint64_t before_ns = 0;
	uint32_t id;

	while (n) {
		struct stage_sum s = widest_stage(w, at, n, &way.failed);

		if (way.failed || !s.who || s.ns < before_ns / 4)
			break;
		put_stage(w, &way, &s);
		before_ns = s.ns;
		n = pass(w, at, n, &s);
	}
	id = way.failed ? 0 : names_adopt(w->names, way.len ? way.p : "");
	text_free(&way);
	return id;
}
