// SPDX-License-Identifier: GPL-2.0-or-later
#include "groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "common/xalloc.h"
#include "common/lower_bound.h"
#include "trace/trace.h"

enum { THREAD, PROCESS };

/* Threads, by their numbers, come before processes. */
static uint32_t who_is(int sort, uint32_t number)
{
	return number | (uint32_t)sort << 31;
}

/* The number of a group; an id of 0 (of another recorder) leaves only its path. 0: no memory. */
static uint32_t number_of(struct groups *g, const struct trace *t, const struct trace_object *o,
			  bool *is_new)
{
	struct {
		uint64_t inode, device;
	} key = { o->inode, o->device };
	const char *path = trace_string(t, o->name);

	return o->inode ? xintern(&g->numbers, &key, sizeof(key), is_new)
			: xintern(&g->numbers, path, strlen(path), is_new);
}

static void add_name(struct groups *g, uint64_t at_ns, uint32_t group, uint32_t path)
{
	XAPPEND(g->names, g->n_names, g->cap_names) = (struct group_name) { at_ns, group, path };
}

/* The number of the object's group; 0: not known. */
static uint32_t find_group(struct groups *g, const struct trace *t, uint32_t object)
{
	const struct trace_object *o = trace_object(t, object);
	uint32_t group;
	bool is_new;

	if (!o || !o->name)
		return 0;
	group = number_of(g, t, o, &is_new);
	if (is_new)
		add_name(g, 0, group, o->name);
	return group;
}

/* 1 + the last move so far; 0: none. */
static size_t last_move(const struct groups *g, int sort, uint32_t number)
{
	return number < g->cap_last[sort] ? g->last[sort][number] : 0;
}

static void add_move(struct groups *g, int sort, uint32_t number, uint64_t at_ns, uint32_t group)
{
	size_t last = last_move(g, sort, number);

	/* Of several at one time the last one counts. */
	if (last && g->moves[last - 1].at_ns == at_ns) {
		g->moves[last - 1].group = group;
		return;
	}
	XGROW_ZEROED(g->last[sort], number, g->cap_last[sort]);
	XAPPEND(g->moves, g->n_moves, g->cap_moves) =
		(struct group_move) { at_ns, who_is(sort, number), group };
	g->last[sort][number] = g->n_moves;
}

void groups_thread(struct groups *g, const struct trace *t, uint32_t thread, uint64_t at_ns,
		   uint32_t object)
{
	add_move(g, THREAD, thread, at_ns, find_group(g, t, object));
}

void groups_process(struct groups *g, const struct trace *t, uint32_t tgid, uint64_t at_ns,
		    uint32_t object)
{
	add_move(g, PROCESS, pairs_id(&g->processes, tgid, 0), at_ns, find_group(g, t, object));
}

void groups_lost(struct groups *g, uint64_t at_ns, uint64_t until_ns)
{
	if (g->n_losses && g->losses[g->n_losses - 1].until_ns > until_ns)
		until_ns = g->losses[g->n_losses - 1].until_ns;
	XAPPEND(g->losses, g->n_losses, g->cap_losses) = (struct group_loss) { at_ns, until_ns };
}

static void no_later(uint64_t *until_ns, uint64_t ns)
{
	if (*until_ns > ns)
		*until_ns = ns;
}

/* Whether a move may be missing between one at from_ns and at_ns. */
static bool is_stale(const struct groups *g, uint64_t from_ns, uint64_t at_ns)
{
	size_t n = LOWER_BOUND(i, g->n_losses, g->losses[i].at_ns <= at_ns);

	return n && g->losses[n - 1].until_ns >= from_ns;
}

void groups_inherit(struct groups *g, uint32_t child, uint64_t at_ns, uint32_t parent,
		    uint32_t tgid)
{
	uint32_t process = pairs_find(&g->processes, tgid, 0);
	size_t own = last_move(g, THREAD, parent);
	size_t all = process ? last_move(g, PROCESS, process) : 0;

	/* A move of the process before the parent's first one was another process's of that id. */
	if (own && all && g->moves[all - 1].at_ns > g->moves[own - 1].at_ns)
		own = all;
	if (!own || is_stale(g, g->moves[own - 1].at_ns, at_ns))
		return;
	add_move(g, THREAD, child, at_ns, g->moves[own - 1].group);
}

void groups_rename(struct groups *g, const struct trace *t, uint64_t at_ns, uint32_t object)
{
	const struct trace_object *o = trace_object(t, object);
	uint32_t group;
	bool is_new;

	if (!o || !o->name)
		return;
	group = number_of(g, t, o, &is_new);
	add_name(g, is_new ? 0 : at_ns, group, o->name);
}

static int by_who_and_time(const void *pa, const void *pb)
{
	const struct group_move *a = pa, *b = pb;
	int c = compare_numbers(a->who, b->who);

	return c ? c : compare_numbers(a->at_ns, b->at_ns);
}

static int by_group_and_time(const void *pa, const void *pb)
{
	const struct group_name *a = pa, *b = pb;
	int c = compare_numbers(a->group, b->group);

	return c ? c : compare_numbers(a->at_ns, b->at_ns);
}

void groups_finish(struct groups *g, uint32_t threads)
{
	size_t *first = xcalloc((size_t)threads + 1, sizeof(*first));

	if (g->n_moves)
		qsort(g->moves, g->n_moves, sizeof(*g->moves), by_who_and_time);
	if (g->n_names)
		qsort(g->names, g->n_names, sizeof(*g->names), by_group_and_time);
	for (int sort = 0; sort < 2; sort++) {
		free(g->last[sort]);
		g->last[sort] = NULL;
		g->cap_last[sort] = 0;
	}
	for (uint32_t i = 0, m = 0; i <= threads; i++) {
		while (m < g->n_moves && g->moves[m].who < who_is(THREAD, i))
			m++;
		first[i] = m;
	}
	g->first = first;
	g->n_threads = threads;
}

void groups_free(struct groups *g)
{
	free(g->moves);
	free(g->names);
	free(g->losses);
	free(g->first);
	free(g->last[THREAD]);
	free(g->last[PROCESS]);
	intern_free(&g->numbers);
	pairs_free(&g->processes);
	*g = (struct groups) { .moves = NULL };
}

/* The place after the last move of somebody up to a time: moves of others may be before it. */
static size_t moves_until(const struct groups *g, uint32_t who, uint64_t at_ns)
{
	size_t from = 0, to = g->n_moves;

	if (who < g->n_threads) {
		from = g->first[who];
		to = g->first[who + 1];
	}
	return from +
	       LOWER_BOUND(i, to - from,
			   g->moves[from + i].who < who || (g->moves[from + i].who == who &&
							    g->moves[from + i].at_ns <= at_ns));
}

/* Likewise of the names of a group. */
static size_t names_until(const struct groups *g, uint32_t group, uint64_t at_ns)
{
	/* As a rule each has one. */
	if (g->n_names == g->numbers.n)
		return group;
	return LOWER_BOUND(i, g->n_names,
			   g->names[i].group < group ||
				   (g->names[i].group == group && g->names[i].at_ns <= at_ns));
}

/* The last move of somebody in [from_ns, at_ns]; NULL: none. *until_ns: no later than the next. */
static const struct group_move *move_before(const struct groups *g, uint32_t who, uint64_t from_ns,
					    uint64_t at_ns, uint64_t *until_ns)
{
	size_t n = moves_until(g, who, at_ns);
	const struct group_move *m = n ? &g->moves[n - 1] : NULL;

	if (n < g->n_moves && g->moves[n].who == who)
		no_later(until_ns, g->moves[n].at_ns);
	return m && m->who == who && m->at_ns >= from_ns ? m : NULL;
}

uint32_t groups_at(const struct groups *g, uint32_t thread, uint32_t tgid, uint64_t begin_ns,
		   uint64_t at_ns, uint64_t *until_ns)
{
	uint32_t process = pairs_find(&g->processes, tgid, 0);
	const struct group_move *own, *all = NULL;
	size_t n = LOWER_BOUND(i, g->n_losses, g->losses[i].at_ns <= at_ns);

	*until_ns = n < g->n_losses ? g->losses[n].at_ns : UINT64_MAX;
	own = move_before(g, who_is(THREAD, thread), 0, at_ns, until_ns);
	if (process && tgid)
		all = move_before(g, who_is(PROCESS, process), begin_ns, at_ns, until_ns);
	if (all && (!own || all->at_ns > own->at_ns))
		own = all;
	if (!own || !own->group || is_stale(g, own->at_ns, at_ns))
		return 0;
	n = names_until(g, own->group, at_ns);
	if (n < g->n_names && g->names[n].group == own->group)
		no_later(until_ns, g->names[n].at_ns);
	return n && g->names[n - 1].group == own->group ? g->names[n - 1].path : 0;
}

static bool any_of(const struct groups *g, uint32_t who, uint64_t from_ns, uint64_t end_ns,
		   bool (*fn)(void *ctx, uint32_t path), void *ctx)
{
	for (size_t i = moves_until(g, who, end_ns); i; i--) {
		const struct group_move *m = &g->moves[i - 1];

		if (m->who != who || m->at_ns < from_ns)
			break;
		for (size_t k = names_until(g, m->group, end_ns); k; k--) {
			if (g->names[k - 1].group != m->group)
				break;
			if (fn(ctx, g->names[k - 1].path))
				return true;
		}
	}
	return false;
}

bool groups_any(const struct groups *g, uint32_t thread, uint32_t tgid, uint64_t begin_ns,
		uint64_t end_ns, bool (*fn)(void *ctx, uint32_t path), void *ctx)
{
	uint32_t process = pairs_find(&g->processes, tgid, 0);

	return any_of(g, who_is(THREAD, thread), 0, end_ns, fn, ctx) ||
	       (process && tgid && any_of(g, who_is(PROCESS, process), begin_ns, end_ns, fn, ctx));
}
