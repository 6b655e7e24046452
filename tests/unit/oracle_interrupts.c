// SPDX-License-Identifier: GPL-2.0-or-later
/* What interrupts and a hypervisor took: each question looks at every stretch of every core. */
#include "oracle_private.h"

#include <stdio.h>
#include <string.h>

void core_switches(struct world *w, int core, int life, uint64_t at)
{
	struct core *c = &w->cores[core];

	c->told[INTERRUPTS] = c->told[HYPERVISOR] = at < c->last.to;
	if (at >= c->last.to)
		c->last = (struct taken) { c->last.to, at, 0, life };
}

void core_missed(struct core *c, uint64_t until)
{
	if (c->last.to < until) {
		c->last = (struct taken) { .to = until };
		c->told[INTERRUPTS] = c->told[HYPERVISOR] = true;
	}
}

void core_was_taken(struct world *w, const struct event *ev)
{
	struct core *c = &w->cores[ev->cpu];
	enum taker by = ev->kind == EVENT_STEAL ? HYPERVISOR : INTERRUPTS;

	if (c->told[by] || c->last.to != ev->time_ns)
		return;
	c->told[by] = true;
	c->last.ns = ev->stolen.ns;
	c->taken[by] = more(c->taken[by], (size_t)c->n_taken[by], sizeof(**c->taken));
	c->taken[by][c->n_taken[by]++] = c->last;
}

/* They come evenly: of [s.from, at) of a stretch s. */
static uint64_t up_to(struct taken s, uint64_t at)
{
	uint64_t len = s.to - s.from, ns = s.ns < len ? s.ns : len;

	if (at <= s.from)
		return 0;
	return at >= s.to ? ns : (uint64_t)((unsigned __int128)ns * (at - s.from) / len);
}

uint64_t core_taken(const struct core *c, enum taker by, uint64_t from, uint64_t to)
{
	const struct taken *taken = c->taken[by];
	uint64_t ns = 0;

	for (int i = 0; i < c->n_taken[by]; i++)
		if (taken[i].from < taken[i].to)
			ns += up_to(taken[i], to) - up_to(taken[i], from);
	return ns;
}

/* Since when it ran that went off its core then; at if it did not run. */
static uint64_t ran_since(const struct life *l, uint64_t at)
{
	uint64_t since = at;

	for (int i = l->n_pieces - 1; i >= 0; i--)
		if (l->pieces[i].what == RUNS && l->pieces[i].to == since)
			since = l->pieces[i].from;
	return since;
}

/* Of the running time of a life, on all cores. */
static uint64_t of_life(const struct world *w, int life, enum taker by, uint64_t from, uint64_t to)
{
	uint64_t ns = 0;

	for (int c = 0; c < CORES; c++)
		for (int i = 0; i < w->cores[c].n_taken[by]; i++) {
			struct taken s = w->cores[c].taken[by][i];
			uint64_t since;

			if (s.life != life)
				continue;
			since = ran_since(&w->lives[life], s.to);
			if (s.from < since)
				s.from = since;
			if (s.from < s.to)
				ns += up_to(s, to) - up_to(s, from);
		}
	return ns;
}

struct out {
	char **lines;
	size_t n;
	const char *who[64]; /* of one life */
	uint64_t ns[64];
	size_t n_who;
};

static void put_line(struct out *o, const struct life *l, const char *what, uint64_t ns)
{
	if (!ns)
		return;
	o->lines = more(o->lines, o->n, sizeof(*o->lines));
	if (asprintf(&o->lines[o->n++], "%u %llu %s %llu\n", l->tid, (unsigned long long)l->begin,
		     what, (unsigned long long)ns) < 0)
		abort();
}

static void add_who(void *arg, const char *who, uint64_t ns)
{
	struct out *o = arg;
	size_t i = 0;

	who = who ? who : "[unknown]";
	while (i < o->n_who && strcmp(o->who[i], who))
		i++;
	if (i == sizeof(o->who) / sizeof(*o->who))
		abort();
	if (i == o->n_who) {
		o->who[i] = who;
		o->ns[o->n_who++] = 0;
	}
	o->ns[i] += ns;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char *oracle_interrupts(const struct trace *t, uint64_t from_ns, uint64_t to_ns)
{
	struct world *w = world_of(t);
	struct out o = { .n = 0 };
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	w->interrupts = true;
	for (int i = 0; i < w->n_lives; i++) {
		const struct life *l = &w->lives[i];

		put_line(&o, l, "ran", of_life(w, i, INTERRUPTS, from_ns, to_ns));
		put_line(&o, l, "had", of_life(w, i, HYPERVISOR, from_ns, to_ns));
		o.n_who = 0;
		for (int k = 0; k < l->n_pieces; k++) {
			const struct piece *p = &l->pieces[k];
			uint64_t from = p->from > from_ns ? p->from : from_ns;
			uint64_t to = p->to < to_ns ? p->to : to_ns;

			if (p->what == WOKEN || p->what == PREEMPTED)
				who_ran(w, i, p, from, to, add_who, &o);
		}
		for (size_t k = 0; k < o.n_who; k++)
			put_line(&o, l, o.who[k], o.ns[k]);
	}
	if (o.n)
		qsort(o.lines, o.n, sizeof(*o.lines), by_text);
	for (size_t i = 0; i < o.n; i++) {
		fputs(o.lines[i], f);
		free(o.lines[i]);
	}
	free(o.lines);
	fclose(f);
	world_free(w);
	return text;
}
