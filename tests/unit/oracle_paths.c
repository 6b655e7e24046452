// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>

#include "oracle_private.h"

/*
 * A chain is written as the number of the life whose time it is, when that began, and the numbers
 * of its links in w->ways: "3@100;0;5". A link that nobody made, of a sleep that never ended, is
 * the last one.
 */
struct way {
	struct sleep sleep;
	bool irq;
};

char *path_linked(struct world *w, const char *chain, const struct sleep *s, bool irq)
{
	char *to;

	w->ways = more(w->ways, w->n_ways, sizeof(*w->ways));
	w->ways[w->n_ways] = (struct way) { *s, irq };
	if (asprintf(&to, "%s;%zu", chain, w->n_ways++) < 0)
		abort();
	return to;
}

/* ---- steps ----------------------------------------------------------------------------------- */

#define STEPS_MOST 1000

#define NAME_MOST 100

struct step {
	char who[NAME_MOST];
	char *words; /* where it waited, and for what */
	char *at, *what;
	int kind;
};

/* What the steps are so far; the world's words, and what they are asked with. */
struct steps {
	struct world *world;
	const struct oracle_words *words;
	struct step at[STEPS_MOST];
	int n;
};

/* What a life is called then, with "*" for a number that is a word of its name, but the first. */
static void put_name(char to[NAME_MOST], struct world *w, int life, uint64_t at)
{
	const char *name = life_name(w, life, at), *parts = "-_/:# ";
	char *text = strdup(""), *end = to;

	text_append(&text, *name ? name : "[unknown]");
	for (const char *c = text; *c && end < to + NAME_MOST - 1;) {
		size_t digits = c > text && strchr(parts, c[-1]) ? strspn(c, "0123456789") : 0;

		if (digits && (!c[digits] || strchr(parts, c[digits]))) {
			*end++ = '*';
			c += digits;
		} else {
			*end++ = *c++;
		}
	}
	*end = 0;
	free(text);
}

/* Takes "AT\nWHAT\nKIND" apart. */
static void take_words(struct step *s, char *words)
{
	char *what = strchr(words, '\n'), *kind = strchr(what + 1, '\n');

	*what = *kind = 0;
	*s = (struct step) {
		.words = words, .at = words, .what = what + 1, .kind = atoi(kind + 1)
	};
}

/* The wait of who for this, which a thread with the name by ended; "": none did. */
static void add_step(struct steps *s, const char *who, const struct sleep *sleep, const char *by)
{
	const struct oracle_words *words = s->words;
	struct step *up = s->n ? &s->at[s->n - 1] : NULL, new;
	bool left_out;
	int same = s->n - 1;

	take_words(&new, words->of(words->arg, sleep->kstack, sleep->ustack, sleep->object,
				   sleep->ready));
	snprintf(new.who, sizeof(new.who), "%s", who);
	left_out = new.kind == words->work;
	left_out |= *by && new.kind != words->lock && !*new.at && (up || !strcmp(by, who));
	left_out |= *by && up && up->kind == words->child && new.kind == words->child;
	left_out |= up && !strcmp(up->who, who) && !strcmp(up->what, new.what) &&
		    new.kind == words->lock;
	/* What it says again it says of the time of the first one, which is the last step then. */
	while (same >= 0 && (strcmp(s->at[same].who, who) || strcmp(s->at[same].at, new.at) ||
			     strcmp(s->at[same].what, new.what)))
		same--;
	while (same >= 0 && s->n > same + 1)
		free(s->at[--s->n].words);
	left_out |= same >= 0;
	if (left_out)
		free(new.words);
	else
		s->at[s->n++] = new;
}

/* A line of the chain as one of steps: "2 101 A (f, a lock); B runs". Time without a CPU is that of
 * the same step. */
static void put_steps(struct world *w, const struct oracle_words *words, const char *chain,
		      const char *end, uint64_t ns, FILE *out)
{
	static struct steps s;
	char *at;
	int life = (int)strtol(chain, &at, 10);
	char who[NAME_MOST], by[NAME_MOST] = "";
	bool interrupted = false, shown = true;

	put_name(who, w, life, strtoull(at + 1, &at, 10));
	s.world = w;
	s.words = words;
	s.n = 0;
	while (*at == ';') {
		const struct way *way = &w->ways[strtoul(at + 1, &at, 10)];
		const struct sleep *sleep = &way->sleep;

		*by = 0;
		if (!sleep->never && !way->irq)
			put_name(by, w, sleep->waker, sleep->woken_ns);
		interrupted = way->irq;
		if (!sleep->is_birth)
			add_step(&s, who, sleep, by);
		if (*by)
			memcpy(who, by, sizeof(who));
	}
	fprintf(out, "%u %llu", w->lives[life].tid, (unsigned long long)w->lives[life].begin);
	for (int i = 0; i < s.n; i++)
		fprintf(out, " %s (%s, %s, %d);", s.at[i].who, s.at[i].at, s.at[i].what,
			s.at[i].kind);
	if (!strcmp(end, "runnable") || !strcmp(end, "preempted"))
		end = "running";
	if (s.n && (interrupted || !strcmp(end, "not woken")))
		shown = false;
	fprintf(out, " %s [%s]\t%llu\n", shown ? who : "", end, (unsigned long long)ns);
	while (s.n)
		free(s.at[--s.n].words);
}

/* ---- processes ------------------------------------------------------------------------------- */

/* The first thread of a life's process: the last one with its number so far, or else of all. */
static int leader_of(struct world *w, int life)
{
	int leader = NOBODY;

	for (int i = 0; i < w->n_lives; i++) {
		bool leads = w->lives[life].tgid && w->lives[i].tid == w->lives[life].tgid &&
			     w->lives[i].tgid == w->lives[life].tgid;

		if (leads && (i <= life || leader == NOBODY || leader > life))
			leader = i;
	}
	return leader == NOBODY ? life : leader;
}

static bool is_started_by(struct world *w, int life, int by)
{
	for (; life >= 0; life = w->lives[life].parent)
		if (life == by || leader_of(w, life) == leader_of(w, by))
			return true;
	return false;
}

static void put_processes(struct world *w, const char *chain, uint64_t ns, FILE *out)
{
	char *at;
	int life = (int)strtol(chain, &at, 10), chained[STEPS_MOST], n = 0;

	chained[n++] = leader_of(w, life);
	fprintf(out, "%u %llu by", w->lives[life].tid, (unsigned long long)w->lives[life].begin);
	at = strchr(chain, ';');
	while (at && *at == ';') {
		const struct way *way = &w->ways[strtoul(at + 1, &at, 10)];
		int waker = way->sleep.waker, leader;
		bool there = false;

		if (way->irq || way->sleep.never || waker < 0 || !is_started_by(w, waker, life))
			continue;
		leader = leader_of(w, waker);
		for (int i = 0; i < n; i++)
			there |= chained[i] == leader;
		if (there)
			continue;
		chained[n++] = leader;
		fprintf(out, " %u@%llu", w->lives[leader].tid,
			(unsigned long long)w->lives[leader].begin);
	}
	fprintf(out, "\t%llu\n", (unsigned long long)ns);
}

/* ---- all lives ------------------------------------------------------------------------------- */

static void explain_life(struct world *w, int life)
{
	const struct life *l = &w->lives[life];

	for (int i = 0; i < l->n_pieces; i++) {
		const struct piece *p = &l->pieces[i], *first = p;
		char *head;

		/* All that it ran has the name with which it began to. */
		while (p->what == RUNS && first > l->pieces && first[-1].what == RUNS &&
		       first[-1].to == first->from)
			first--;
		if (asprintf(&head, "%d@%llu", life,
			     (unsigned long long)(p->what == SLEEPS ? l->sleeps[p->sleep].out_ns
								    : first->from)) < 0)
			abort();
		if (p->what == SLEEPS)
			oracle_explain_own(w, head, life, &l->sleeps[p->sleep], p->from, p->to);
		else
			line_put(w, head,
				 p->what == RUNS      ? "running"
				 : p->what == UNKNOWN ? "unknown"
						      : "runnable",
				 p->to - p->from);
		free(head);
	}
}

char *oracle_paths(const struct trace *t, const struct oracle_words *words)
{
	struct world *w = world_of(t);
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	w->depth = 1000;
	w->plain_ends = w->path = true;
	oracle_find_killed(w);
	oracle_keep_sleeps(w);
	oracle_join_tries(w);
	for (int i = 0; i < w->n_lives; i++)
		if (!w->lives[i].recorder && w->lives[i].tid)
			explain_life(w, i);
	for (size_t i = 0; i < w->n_lines; i++) {
		char *end = strrchr(w->lines[i], '[');

		/* "CHAIN;[END]" */
		end[-1] = end[strlen(end) - 1] = 0;
		put_steps(w, words, w->lines[i], end + 1, w->ns[i], out);
		put_processes(w, w->lines[i], w->ns[i], out);
		end[-1] = ';';
	}
	fclose(out);
	free(w->ways);
	world_free(w);
	return text;
}
