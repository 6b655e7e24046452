// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What each cause has of the waits: its parts of the current one, the longest, an example, and how
 * much of the slowest waits it makes up.
 */
#include <string.h>

#include "base/compare.h"
#include "base/kernel_functions.h"
#include "causes_private.h"
#include "common/xalloc.h"
#include "select/wait_nature.h"

/* ---- the current wait ----------------------------------------------------------------------- */

/* Whether the longest single sleep counts, and not all that a wait has of the cause. */
static bool is_single(const struct cause *cause)
{
	return cause->end != CHAIN_RUNNING && cause->end != CHAIN_RUNNABLE;
}

/* Whether a thread's waking is in the chain. */
static bool has_waker(const struct causes *c, uint32_t node)
{
	const struct pair *nodes = c->chains.nodes.at;

	return nodes[node].a && (causes_label(c, nodes[node].b).who || nodes[nodes[node].a].a);
}

/* Whether the thread whose time it is, the last one of the chain, has the cause's name. */
static bool is_own(const struct causes *c, const struct chain_sum *s)
{
	const struct pair *nodes = c->chains.nodes.at;
	uint32_t who = causes_label(c, nodes[s->node].b).who;

	if (!who)
		who = causes_label(c, nodes[nodes[s->node].a].b).who;
	return who == c->at[s->cause - 1].who;
}

void causes_classify(const struct causes *c, struct chain_sum *s)
{
	s->single = is_single(&c->at[s->cause - 1]);
	s->has_waker = has_waker(c, s->node);
	s->is_own = is_own(c, s);
}

void causes_add_part(struct causes *c, const struct chain_sum *s, uint64_t ns)
{
	struct part_of_wait *part = &c->part[s->cause];
	/* Of many pieces that are summed up the longest. */
	uint64_t piece_ns = ns < c->piece_ns ? ns : c->piece_ns;

	if (!part->ns)
		c->touched[c->n_touched++] = s->cause;
	part->ns += ns;
	if (s->has_waker)
		part->others_ns += ns;
	if (part->piece_ns < piece_ns)
		part->piece_ns = piece_ns;
	/* Many short sleeps are no long one. */
	if (!s->single)
		part->longest_ns += ns;
	else if (part->longest_ns < c->piece_ns)
		part->longest_ns = c->piece_ns;
}

/* Whether the wait is nine tenths of the thread's life in the trace, or more. */
static bool is_whole_life(const struct causes *c, const struct chosen_wait *p)
{
	const struct thread *th = timelines_thread(c->timelines, p->thread);
	uint64_t life = th->end_ns - th->begin_ns;

	return p->wait->in_ns - p->wait->out_ns >= life - life / 10;
}

/* That its thread only waits for others to end; no less than avoid_wait() of any wait. */
#define AVOID_MOST 2u

/* Whether its thread only waits for others to end. */
static bool waits_for_end(const struct causes *c, const struct chosen_wait *p)
{
	uint32_t class = wait_class(c->timelines, p->wait->stack);
	uint32_t woke = timelines_pair(c->timelines, p->wait->waker_stack).kstack;

	return (class != SUMS_UNKNOWN && !strcmp(trace_string(c->trace, class), "child")) ||
	       kernel_stack_flags(c->chains.kernel, woke, UINT32_MAX) & KFUNC_ENDS_THREAD;
}

/* A wait that the examples are to avoid: its thread may have a part in every cause. */
static uint32_t avoid_wait(const struct causes *c, const struct cause *cause,
			   struct current_wait *w)
{
	if (!w->avoid)
		w->avoid = 1 + waits_for_end(c, &w->wait);
	if (w->avoid > 1)
		return AVOID_MOST;
	/* How long a single sleep is does not depend on what its thread did otherwise. */
	if (is_single(cause))
		return 0;
	if (!w->life)
		w->life = 1 + is_whole_life(c, &w->wait);
	return w->life - 1;
}

static uint64_t wait_ns(const struct chosen_wait *p)
{
	return p->wait->in_ns - p->wait->out_ns;
}

static bool better_example(const struct cause *cause, const struct cause_example *a,
			   const struct cause_example *best)
{
	const struct chosen_wait *p = &a->wait, *q = &best->wait;

	if (!q->wait || a->avoid != best->avoid)
		return !q->wait || a->avoid < best->avoid;
	if (a->ns != best->ns)
		return a->ns > best->ns;
	/* The sleep itself shows it better than the wait of somebody who waited for more. */
	if (is_single(cause) && wait_ns(p) != wait_ns(q))
		return wait_ns(p) < wait_ns(q);
	if (p->wait->out_ns != q->wait->out_ns)
		return p->wait->out_ns < q->wait->out_ns;
	return p->thread < q->thread;
}

void causes_keep_example(struct causes *c, uint32_t id, const struct cause_example *e)
{
	const struct cause *cause = &c->at[id - 1];
	struct cause_examples *of = pair_table_at(&c->examples, id, e->avoid, sizeof(*of));
	size_t i;

	if (of->n < EXAMPLES)
		XGROW(of->at, of->n, of->cap);
	if (of->n == EXAMPLES && !better_example(cause, e, &of->at[EXAMPLES - 1]))
		return;
	of->n += of->n < EXAMPLES;
	for (i = of->n - 1; i && better_example(cause, e, &of->at[i - 1]); i--)
		of->at[i] = of->at[i - 1];
	of->at[i] = *e;
}

void causes_keep_of_name(struct causes *c, uint32_t id, uint32_t name,
			 const struct cause_example *e, uint64_t others_ns)
{
	struct cause_of_name *of = pair_table_at(&c->of_names, id, name, sizeof(*of));

	if (better_example(&c->at[id - 1], e, &of->best))
		of->best = *e;
	of->others_ns += others_ns;
}

void causes_keep_victim(struct causes *c, uint32_t id, uint32_t thread, uint32_t name,
			uint64_t at_ns)
{
	struct cause_thread *of = pair_table_at(&c->of_threads, id, thread, sizeof(*of));

	if ((!of->name || at_ns < of->at_ns)) {
		of->name = name;
		of->at_ns = at_ns;
	}
}

void causes_add_to_cell(struct causes *c, uint32_t cause, uint32_t cell, struct cause_cell more)
{
	struct cause_cell *of = pair_table_at(&c->in_cells, cause, cell, sizeof(*of));

	of->ns += more.ns;
	of->waits += more.waits;
	if (of->longest_ns < more.longest_ns)
		of->longest_ns = more.longest_ns;
}

void causes_add_thread(struct causes *c, uint32_t cause, uint32_t thread, uint64_t ns)
{
	struct cause_thread *of = pair_table_at(&c->of_threads, cause, thread, sizeof(*of));

	of->ns += ns;
	of->has_time = true;
}

static void end_thread(struct causes *c, struct chain_sum *s)
{
	if (s->thread_pending)
		causes_add_thread(c, s->cause, s->thread, s->thread_ns);
	s->thread_pending = false;
	s->thread_ns = 0;
}

void causes_add_own(struct causes *c, struct chain_sum *s, uint32_t thread, uint64_t ns)
{
	if (s->thread != thread) {
		end_thread(c, s);
		s->thread = thread;
	}
	s->thread_pending = true;
	s->thread_ns += ns;
}

void causes_end_own(struct causes *c)
{
	struct chain_sum *sums = c->sums.at;

	for (uint32_t i = 1; i <= c->sums.keys.n; i++)
		end_thread(c, &sums[i]);
}

/* Counts the part of the current wait, and how long the cause made its thread wait. */
static void count_part(struct causes *c, uint32_t id, const struct part_of_wait *part,
		       struct current_wait *w)
{
	struct cause *cause = &c->at[id - 1];
	struct cause_example e = { w->wait, part->longest_ns, part->piece_ns,
				   avoid_wait(c, cause, w) };

	if (cause->longest_ns < e.ns)
		cause->longest_ns = e.ns;
	if (cause->piece_ns < e.piece_ns)
		cause->piece_ns = e.piece_ns;
	causes_keep_example(c, id, &e);
	causes_keep_of_name(c, id, w->name, &e, part->others_ns);
	if (part->others_ns)
		causes_keep_victim(c, id, w->wait.thread, w->name, w->wait.wait->out_ns);
}

static const struct cause_example *example_of(const struct causes *c, uint32_t id, uint32_t name)
{
	uint32_t i = pairs_find(&c->of_names.keys, id, name);
	const struct cause_of_name *of = c->of_names.at;

	return i ? &of[i].best : NULL;
}

const struct chosen_wait *causes_example_of(const struct causes *c, const struct cause *of,
					    uint32_t name)
{
	const struct cause_example *e = example_of(c, of->id, name);

	return e ? &e->wait : NULL;
}

/* Whether a piece of it is not much shorter than the longest one. */
static bool shows_piece(const struct cause *cause, const struct cause_example *e)
{
	return e->piece_ns >= cause->piece_ns / 2;
}

/* Makes it the example of the cause, unless it is one of another cause already. */
static bool choose(struct causes *c, struct pairs *chosen, struct cause *cause,
		   const struct cause_example *e)
{
	const struct thread *th = timelines_thread(c->timelines, e->wait.thread);
	int is_new = 0;

	pairs_id_new(chosen, e->wait.thread, (uint32_t)(e->wait.wait - th->waits), &is_new);
	/* Should all be others', this is the first choice. */
	if (is_new || !cause->example.wait)
		cause->example = e->wait;
	return is_new;
}

static void choose_example(struct causes *c, struct pairs *chosen, struct cause *cause)
{
	const struct cause_example *e = cause->head ? example_of(c, cause->id, cause->head) : NULL;

	/* A single sleep is seen best where it was slept. */
	if (e && !e->avoid && !is_single(cause) && shows_piece(cause, e) &&
	    choose(c, chosen, cause, e))
		return;
	for (uint32_t k = 0; k < 2 * (AVOID_MOST + 1); k++) {
		uint32_t id = pairs_find(&c->examples.keys, cause->id, k % (AVOID_MOST + 1));
		const struct cause_examples *of = (struct cause_examples *)c->examples.at + id;

		for (size_t i = 0; id && i < of->n; i++)
			if (shows_piece(cause, &of->at[i]) == (k <= AVOID_MOST) &&
			    choose(c, chosen, cause, &of->at[i]))
				return;
	}
}

void causes_choose_examples(struct causes *c)
{
	struct pairs chosen = { .n = 0 };

	for (size_t i = 0; i < c->n; i++)
		choose_example(c, &chosen, &c->at[i]);
	pairs_free(&chosen);
}

/* Lengths are counted in powers of two, each in SLOW_STEPS steps. */
#define SLOW_STEPS_LOG2 4
#define SLOW_STEPS (1u << SLOW_STEPS_LOG2)
_Static_assert(64 * SLOW_STEPS <= CAUSES_LENGTHS, "a step for each length");

static uint32_t length_of(uint64_t ns)
{
	unsigned int log2 = ns ? 63u - (unsigned int)__builtin_clzll(ns) : 0;

	if (log2 < SLOW_STEPS_LOG2)
		return (uint32_t)ns;
	return (log2 - SLOW_STEPS_LOG2 + 1) * SLOW_STEPS +
	       (uint32_t)(ns >> (log2 - SLOW_STEPS_LOG2) & (SLOW_STEPS - 1));
}

void causes_count_length(struct causes *c, uint64_t ns)
{
	if (ns)
		c->lengths[length_of(ns)]++;
}

/* Counts the current wait by the length of what of it is no pause. */
static void count_length(struct causes *c)
{
	uint64_t ns = 0;
	uint32_t length;

	for (size_t i = 0; i < c->n_touched; i++)
		ns += c->at[c->touched[i] - 1].pause ? 0 : c->part[c->touched[i]].ns;
	if (!ns)
		return;
	length = length_of(ns);
	c->lengths[length]++;
	for (size_t i = 0; i < c->n_touched; i++)
		if (!c->at[c->touched[i] - 1].pause && c->part[c->touched[i]].ns)
			sums_add(&c->by_length, c->touched[i], length, c->part[c->touched[i]].ns);
}

void causes_count_wait(struct causes *c, const struct chosen_wait *p, uint32_t name)
{
	struct current_wait current = { .wait = *p, .name = name };
	uint32_t cell = c->cells.of ? c->cells.of(c->cells.arg, p) : 0;

	if (c->mode == CAUSES_EACH)
		count_length(c);
	for (size_t i = 0; i < c->n_touched; i++) {
		struct cause *cause = &c->at[c->touched[i] - 1];
		struct part_of_wait part = c->part[c->touched[i]];

		c->part[c->touched[i]] = (struct part_of_wait) { 0 };
		if (!part.ns) /* it was moved to another cause */
			continue;
		/* Of a sleep that several causes share it has no more than its share. */
		if (part.longest_ns > part.ns)
			part.longest_ns = part.ns;
		if (cell)
			causes_add_to_cell(c, c->touched[i], cell,
					   c->mode == CAUSES_SHOW
						   ? (struct cause_cell) { 0, 0, part.longest_ns }
						   : (struct cause_cell) { part.ns, 1,
									   part.longest_ns });
		if (c->mode == CAUSES_SHOW) {
			cause->slowest_ns += c->is_slow && !cause->pause ? part.ns : 0;
			part.others_ns = 0; /* it is in the sums */
			count_part(c, c->touched[i], &part, &current);
			continue;
		}
		cause->ns += part.ns;
		cause->waits++;
		cause->quota_waits += !cause->throttled &&
				      timelines_throttled_untold(c->timelines, p->thread, p->wait);
		count_part(c, c->touched[i], &part, &current);
	}
	c->n_touched = 0;
}

void causes_sum_names(struct causes *c)
{
	const struct cause_of_name *names = c->of_names.at;
	const struct cause_thread *threads = c->of_threads.at;

	for (uint32_t i = 1; i <= c->of_names.keys.n; i++) {
		struct pair key = c->of_names.keys.at[i];

		if (!names[i].others_ns)
			continue;
		sums_add(&c->victims, key.a, key.b, names[i].others_ns);
	}
	for (uint32_t i = 1; i <= c->of_threads.keys.n; i++) {
		struct pair key = c->of_threads.keys.at[i];
		uint32_t text;

		if (threads[i].name) {
			struct sum *sum = sums_at(&c->victims, key.a, threads[i].name);

			sum->count++;
		}
		if (!threads[i].has_time)
			continue;
		text = causes_numbered(c, names_text(c->names, c->at[key.a - 1].who),
				       timelines_thread(c->timelines, key.b)->tid);
		sums_add(&c->threads, key.a, text, threads[i].ns);
	}
}

/* The shortest length of the slowest waits; *n: how many they are at least. */
static uint32_t slowest_length(const struct causes *c, uint64_t *n)
{
	uint64_t waits = 0, slowest = 0;
	uint32_t length = CAUSES_LENGTHS;

	for (uint32_t i = 0; i < CAUSES_LENGTHS; i++)
		waits += c->lengths[i];
	*n = waits < 200 ? 1 : waits / 100;
	while (length && slowest < *n)
		slowest += c->lengths[--length];
	return length;
}

uint64_t causes_slowest_waits(const struct causes *c, uint64_t *least_ns)
{
	uint64_t n;
	uint32_t length = slowest_length(c, &n);
	uint32_t log2 = length / SLOW_STEPS + SLOW_STEPS_LOG2 - 1;

	*least_ns = length < SLOW_STEPS ? length
					: (uint64_t)(SLOW_STEPS + length % SLOW_STEPS)
						  << (log2 - SLOW_STEPS_LOG2);
	return n;
}

void causes_find_slowest(struct causes *c)
{
	uint64_t n_slowest;
	uint32_t length = slowest_length(c, &n_slowest);

	for (size_t k = 0; k < c->n; k++) {
		size_t n;
		const struct sum *of = sums_of(&c->by_length, c->at[k].id, &n);

		for (size_t i = 0; i < n; i++)
			c->at[k].slowest_ns += of[i].key >= length ? of[i].amount : 0;
	}
}
