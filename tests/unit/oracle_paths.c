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
	bool for_child; /* for which it looked again and again */
};

char *path_linked(struct world *w, const char *chain, const struct sleep *s, bool irq)
{
	char *to;

	w->ways = more(w->ways, w->n_ways, sizeof(*w->ways));
	w->ways[w->n_ways] = (struct way) { *s, irq, false };
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
	const char *at, *what;
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

/* Whether it was for a signal, and who ended it told its parent so. */
static bool signalled_by_child(struct world *w, const struct sleep *sleep)
{
	const struct trace_object *object = trace_object(w->t, sleep->object);
	struct trace_stack by = trace_stack(w->t, sleep->waker_kstack);
	bool told = false;

	for (uint32_t i = 0; i < by.n && !sleep->never; i++) {
		const struct trace_frame *f = trace_frame(w->t, by.frames[i]);

		told |= f && strstr(trace_string(w->t, f->symbol), "do_notify_parent");
	}
	return told && object && !strcmp(trace_string(w->t, object->class), "signal");
}

/* The wait of who for this, which a thread with the name by ended; "": none did. */
static void add_step(struct steps *s, const char *who, const struct way *way, const char *by)
{
	const struct sleep *sleep = &way->sleep;
	const struct oracle_words *words = s->words;
	struct step *up = s->n ? &s->at[s->n - 1] : NULL, new;
	bool left_out;
	int same = s->n - 1;

	take_words(&new, words->of(words->arg, sleep->kstack, sleep->ustack, sleep->object,
				   sleep->ready));
	if (way->for_child || (signalled_by_child(s->world, sleep) && new.kind == words->child)) {
		new.what = "its child";
		new.kind = words->child;
	}
	snprintf(new.who, sizeof(new.who), "%s", who);
	left_out = new.kind == words->work;
	left_out |= *by && new.kind != words->lock && !*new.at &&
		    (up ? up->kind != words->lock || *up->at : !strcmp(by, who));
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
			add_step(&s, who, way, by);
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

/* A stretch of a life, by whose chain it begins. */
static void explain_piece(struct world *w, const char *chain, int life, const struct piece *p,
			  uint64_t from, uint64_t to)
{
	if (from >= to)
		return;
	if (p->what == SLEEPS)
		oracle_explain_own(w, chain, life, &w->lives[life].sleeps[p->sleep], from, to);
	else
		line_put(w, chain,
			 p->what == RUNS      ? "running"
			 : p->what == UNKNOWN ? "unknown"
					      : "runnable",
			 to - from);
}

/* When what it did there began, which has the name that it had then. */
static uint64_t named_at(const struct life *l, const struct piece *p, uint64_t from)
{
	const struct piece *first = p;

	if (p->what == SLEEPS)
		return l->sleeps[p->sleep].out_ns;
	while (p->what == RUNS && first > l->pieces && first[-1].what == RUNS &&
	       first[-1].to == first->from && first->from > from)
		first--;
	return first->from > from ? first->from : from;
}

/* What the child did in [from, to), for which a life slept. */
static void explain_child(struct world *w, const char *head, const struct sleep *s, int child,
			  uint64_t from, uint64_t to)
{
	const struct life *c = &w->lives[child];

	for (int i = 0; i < c->n_pieces; i++) {
		const struct piece *p = &c->pieces[i];
		uint64_t begin = p->from > from ? p->from : from, end = p->to < to ? p->to : to;
		struct sleep link = *s;
		char *chain;

		if (begin >= end)
			continue;
		link.never = link.is_birth = false;
		link.waker = child;
		link.woken_ns = named_at(c, p, from);
		chain = path_linked(w, head, &link, false);
		w->ways[w->n_ways - 1].for_child = true;
		explain_piece(w, chain, child, p, begin, end);
		free(chain);
	}
}

static bool is_timed(struct world *w, const struct sleep *s)
{
	const char *class =
		s->object ? trace_string(w->t, trace_object(w->t, s->object)->class) : "";

	return !strcmp(class, "poll") || !strcmp(class, "select") || !strcmp(class, "epoll") ||
	       !strcmp(class, "sleep");
}

static bool is_child(struct world *w, int life, const struct life *c)
{
	uint32_t tgid = w->lives[life].tgid;

	return tgid && c->tgid && c->tid == c->tgid && c->tgid != tgid && c->parent >= 0 &&
	       w->lives[c->parent].tgid == tgid;
}

/* Whether two sleeps are at one place, and no child began between them. */
static bool are_one_row(struct world *w, int life, const struct sleep *a, const struct sleep *b)
{
	if (!is_timed(w, a) || !is_timed(w, b) || !a->ustack || a->ustack != b->ustack)
		return false;
	for (int i = 0; i < w->n_lives; i++)
		if (is_child(w, life, &w->lives[i]) &&
		    (w->lives[i].begin <= a->out_ns) != (w->lives[i].begin <= b->out_ns))
			return false;
	return true;
}

/* The child that a life waits for in its sleep of a piece, by looking again and again; or NOBODY.
 */
static int polled_child(struct world *w, int life, int piece)
{
	const struct life *l = &w->lives[life];
	const struct sleep *s = &l->sleeps[l->pieces[piece].sleep], *last_one;
	int last = piece, timed = 0, found = NOBODY;
	uint64_t back;

	if (!oracle_by_own_timer(w, s))
		return NOBODY;
	for (int i = 0; i < l->n_pieces; i++) {
		if (l->pieces[i].what != SLEEPS ||
		    !are_one_row(w, life, s, &l->sleeps[l->pieces[i].sleep]))
			continue;
		timed += oracle_by_own_timer(w, &l->sleeps[l->pieces[i].sleep]);
		last = i;
	}
	if (timed < 2)
		return NOBODY;
	/* Until it sleeps again. */
	last_one = &l->sleeps[l->pieces[last].sleep];
	back = l->pieces[last].to;
	for (int i = last + 1; i < l->n_pieces && l->pieces[i].from == back &&
			       (l->pieces[i].what == WOKEN || l->pieces[i].what == RUNS ||
				l->pieces[i].what == PREEMPTED);
	     i++)
		back = l->pieces[i].to;
	for (int i = 0; i < w->n_lives; i++) {
		const struct life *c = &w->lives[i];

		if (is_child(w, life, c) && c->now == DEAD && c->end <= back &&
		    c->end > last_one->out_ns && (found == NOBODY || c->end >= w->lives[found].end))
			found = i;
	}
	return found;
}

static void explain_life(struct world *w, int life)
{
	const struct life *l = &w->lives[life];

	for (int i = 0; i < l->n_pieces; i++) {
		const struct piece *p = &l->pieces[i];
		int child = p->what == SLEEPS ? polled_child(w, life, i) : NOBODY;
		uint64_t from = p->from, to = p->to;
		char *head;

		if (asprintf(&head, "%d@%llu", life, (unsigned long long)named_at(l, p, 0)) < 0)
			abort();
		if (child != NOBODY) {
			const struct life *c = &w->lives[child];

			from = c->begin > from ? c->begin : from;
			to = c->end < to ? c->end : to;
			to = to > from ? to : from;
			explain_piece(w, head, life, p, p->from, from);
			explain_child(w, head, &l->sleeps[p->sleep], child, from, to);
			from = to;
			to = p->to;
		}
		explain_piece(w, head, life, p, from, to);
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
