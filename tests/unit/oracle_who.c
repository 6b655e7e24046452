// SPDX-License-Identifier: GPL-2.0-or-later
/* Who had the CPU, found by looking at every life and every idle stretch at each instant. */
#include "base/group_name.h"
#include "oracle_private.h"

#include <stdio.h>
#include <string.h>

void who_place(struct world *w, int life, uint64_t at, int cpu)
{
	struct life *l = &w->lives[life];

	l->placed = more(l->placed, (size_t)l->n_placed, sizeof(*l->placed));
	l->placed[l->n_placed++] = (struct placed) { at, at < w->placed_bad_until ? NOBODY : cpu };
}

/* The last note of those that are for at or before. NULL: there is none. */
static const struct placed *placed_at(const struct life *l, uint64_t at)
{
	for (int i = l->n_placed - 1; i >= 0; i--)
		if (l->placed[i].at <= at)
			return &l->placed[i];
	return NULL;
}

/* When that changes, at the soonest. */
static uint64_t placed_until(const struct life *l, uint64_t at, uint64_t to)
{
	for (int i = 0; i < l->n_placed; i++)
		if (l->placed[i].at > at && l->placed[i].at < to)
			to = l->placed[i].at;
	return to;
}

void who_arrives(struct world *w, int life, uint64_t ready, uint64_t at, int cpu)
{
	struct life *l = &w->lives[life];
	struct placed last = { 0, NOBODY };

	if (l->n_placed)
		last = l->placed[l->n_placed - 1];
	if (last.cpu == cpu)
		return;
	if (ready < last.at)
		ready = last.at;
	if (ready < w->placed_bad_until)
		ready = w->placed_bad_until;
	if (ready > at)
		return;
	who_place(w, life, ready, last.cpu == NOBODY ? cpu : NOBODY);
	if (last.cpu != NOBODY)
		who_place(w, life, at, cpu);
}

static void is_placed(struct world *w, const struct event *ev)
{
	int i = world_find(w, ev->tid);
	struct life *l = i == NOBODY ? NULL : &w->lives[i];

	if (!l || l->now == RUNS || l->now == DEAD)
		return;
	who_place(w, i, ev->queue.place & 1 && l->now == WOKEN ? l->woken_at : ev->time_ns,
		  ev->queue.place / 2 < TRACE_CPU_LIMIT ? (int)(ev->queue.place / 2) : NOBODY);
}

void who_is_grouped(struct world *w, int life, uint64_t at, uint32_t object)
{
	const struct trace_object *o = trace_object(w->t, object);
	struct life *l = &w->lives[life];

	l->groups = more(l->groups, (size_t)l->n_groups, sizeof(*l->groups));
	l->groups[l->n_groups].at = at;
	l->groups[l->n_groups].own = false;
	l->groups[l->n_groups++].path = o && at >= w->groups_bad_until ? o->name : 0;
}

void who_inherits(struct world *w, int child, uint64_t at, int parent)
{
	struct life *l = &w->lives[child];

	if (parent < 0 || !w->lives[parent].n_groups)
		return;
	l->groups = more(l->groups, (size_t)l->n_groups, sizeof(*l->groups));
	l->groups[l->n_groups].at = at;
	l->groups[l->n_groups].own = true;
	l->groups[l->n_groups++].path = w->lives[parent].groups[w->lives[parent].n_groups - 1].path;
}

static void is_moved(struct world *w, const struct event *ev)
{
	int i = world_find(w, ev->tid);
	uint32_t tgid = i == NOBODY ? 0 : w->lives[i].tgid;

	if (i == NOBODY)
		return;
	for (int k = 0; k < w->n_lives && ev->group.process && tgid; k++) {
		struct life *l = &w->lives[k];
		int last = l->n_groups - 1;

		if (l->tgid == tgid && k != i &&
		    (last < 0 || !l->groups[last].own || l->groups[last].at != ev->time_ns))
			who_is_grouped(w, k, ev->time_ns, ev->group.object);
	}
	who_is_grouped(w, i, ev->time_ns, ev->group.object);
	w->lives[i].groups[w->lives[i].n_groups - 1].own = true;
}

static void groups_are_lost(struct world *w, const struct event *ev)
{
	for (int i = 0; i < w->n_lives; i++)
		who_is_grouped(w, i, ev->time_ns, 0);
	if (w->groups_bad_until <= ev->lost.last_ns)
		w->groups_bad_until = ev->lost.last_ns + 1;
}

/* "" if it is not known. */
static const char *group_at(struct world *w, int life, uint64_t at)
{
	struct life *l = &w->lives[life];
	uint32_t path = 0;

	for (int i = 0; i < l->n_groups; i++)
		if (l->groups[i].at <= at)
			path = l->groups[i].path;
	return trace_string(w->t, path);
}

/*
 * How who had the CPU is called: a thread of another group, which is not the root, by that. What a
 * group is called by its path is one function for both engines, which base_group_name.c tests.
 */
static const char *called(struct world *w, int holder, uint64_t came, uint64_t at,
			  const char *own_group)
{
	static char names[8][GROUP_NAME_LEN];
	static unsigned int turn;
	const char *group = group_at(w, holder, came);
	char *name = names[turn++ % 8];

	if (!*group || !*own_group || !strcmp(group, "/") || !strcmp(group, own_group))
		return life_name(w, holder, at);
	group_name(group, name);
	return name;
}

static void recorder_had(struct world *w, const struct event *ev)
{
	struct core *c = &w->cores[ev->cpu];
	uint64_t from = ev->stolen.ns > ev->time_ns ? 0 : ev->time_ns - ev->stolen.ns;

	/* It came at, or after, each switch that was before, and was not there twice. */
	for (int i = 0; i < c->n_switches; i++)
		if (c->switches[i] < ev->time_ns && c->switches[i] > from)
			from = c->switches[i];
	for (int i = 0; i < c->n_recorder; i++)
		if (c->recorder[i].to < ev->time_ns && c->recorder[i].to > from)
			from = c->recorder[i].to;
	c->recorder = more(c->recorder, (size_t)c->n_recorder, sizeof(*c->recorder));
	c->recorder[c->n_recorder].from = from;
	c->recorder[c->n_recorder++].to = ev->time_ns;
}

static void was_forbidden(struct world *w, const struct event *ev)
{
	const struct trace_object *o = trace_object(w->t, ev->unthrottled.group);
	int i = world_find(w, ev->tid);
	struct life *l = i == NOBODY ? NULL : &w->lives[i];

	if (!l)
		return;
	l->forbidden = more(l->forbidden, (size_t)l->n_forbidden, sizeof(*l->forbidden));
	l->forbidden[l->n_forbidden++] =
		(struct forbidden) { ev->unthrottled.since_ns, ev->unthrottled.until_ns,
				     o ? o->name : 0, ev->unthrottled.why };
}

void who_more(struct world *w, const struct event *ev)
{
	int i;

	switch (ev->kind) {
	case EVENT_INTERRUPTS:
	case EVENT_STEAL:
		core_was_taken(w, ev);
		break;
	case EVENT_QUEUE:
		is_placed(w, ev);
		break;
	case EVENT_RECORDER:
		recorder_had(w, ev);
		break;
	case EVENT_GROUP:
		is_moved(w, ev);
		break;
	case EVENT_UNTHROTTLED:
		was_forbidden(w, ev);
		break;
	case EVENT_THROTTLED:
		i = world_find(w, ev->tid);
		if (i != NOBODY && w->lives[i].now == PREEMPTED)
			w->lives[i].sleeps[w->lives[i].n_sleeps - 1].throttled = true;
		break;
	case EVENT_AUX_LOST:
		if (ev->other == CHAINLOG_GROUP)
			groups_are_lost(w, ev);
		if (ev->other != CHAINLOG_QUEUE)
			break;
		for (i = 0; i < w->n_lives; i++)
			who_place(w, i, ev->time_ns, NOBODY);
		if (w->placed_bad_until <= ev->lost.last_ns)
			w->placed_bad_until = ev->lost.last_ns + 1;
		break;
	default:
		break;
	}
}

void who_idle_until(struct world *w, int core, uint64_t at)
{
	struct core *c = &w->cores[core];

	if (c->runs != IDLE)
		return;
	c->idle = more(c->idle, (size_t)c->n_idle, sizeof(*c->idle));
	c->idle[c->n_idle].from = c->idle_since;
	c->idle[c->n_idle++].to = at;
}

void who_was_not_idle(struct world *w, int core)
{
	if (w->cores[core].runs == IDLE)
		w->cores[core].runs = NOBODY;
}

void who_missed(struct world *w, int core, uint64_t at)
{
	struct core *c = &w->cores[core];

	who_was_not_idle(w, core);
	while (c->n_idle && c->idle[c->n_idle - 1].to == at)
		c->n_idle--;
}

const char *life_name(struct world *w, int life, uint64_t at)
{
	struct life *l = &w->lives[life];
	uint32_t name = l->names[0].name;

	for (int i = 1; i < l->n_names; i++)
		if (l->names[i].at <= at)
			name = l->names[i].name;
	return trace_string(w->t, name);
}

/* Cuts *to where [a, b) begins or ends. True if at lies in it. */
static bool within(uint64_t at, uint64_t a, uint64_t b, uint64_t *to)
{
	if (a > at && a < *to)
		*to = a;
	if (a > at || b <= at)
		return false;
	if (b < *to)
		*to = b;
	return true;
}

void who_hears(struct world *w, const struct event *ev)
{
	bool lost = ev->kind == EVENT_LOST || ev->kind == EVENT_AUX_LOST;
	uint64_t until = lost ? ev->lost.last_ns : ev->time_ns;

	if (w->heard && w->heard + 100000000 <= ev->time_ns) {
		w->still = more(w->still, (size_t)w->n_still, sizeof(*w->still));
		w->still[w->n_still].from = w->heard;
		w->still[w->n_still++].to = ev->time_ns;
	}
	if (until > w->heard)
		w->heard = until;
}

/* Whether so long a time without a sample is no chance: mostly they came 20 times as often. */
static bool too_long_without_samples(struct world *w, uint64_t ns)
{
	uint64_t ran = 0, spots = 0;

	for (int i = 0; i < w->n_lives; i++) {
		spots += (uint64_t)w->lives[i].n_spots;
		for (int k = 0; k < w->lives[i].n_pieces; k++)
			if (w->lives[i].pieces[k].what == RUNS)
				ran += w->lives[i].pieces[k].to - w->lives[i].pieces[k].from;
	}
	return spots && ns / 20 >= ran / spots;
}

/* Who ran at that time, for one who waits in group; *to: until when, or sooner. */
static const char *runner(struct world *w, int core, const char *group, bool throttled, uint64_t at,
			  uint64_t *to)
{
	const struct core *c = &w->cores[core];
	const char *who = NULL;
	bool still = false;

	for (int i = 0; i < w->n_still; i++)
		still |= too_long_without_samples(w, w->still[i].to - w->still[i].from) &&
			 within(at, w->still[i].from, w->still[i].to, to);

	for (int i = 0; i < c->n_idle; i++)
		if (within(at, c->idle[i].from, c->idle[i].to, to))
			who = throttled ? "[throttled]" : "[idle CPU]";
	for (int i = 0; who && i < c->n_recorder; i++)
		if (within(at, c->recorder[i].from, c->recorder[i].to, to))
			who = still ? "[no events]" : "[recorder]";
	for (int i = 0; i < w->n_lives; i++)
		for (int k = 0; k < w->lives[i].n_pieces; k++) {
			const struct piece *p = &w->lives[i].pieces[k];

			if (p->what != RUNS || p->cpu != core || !within(at, p->from, p->to, to))
				continue;
			who = still ? "[no events]" : called(w, i, p->from, at, group);
			for (int n = 1; n < w->lives[i].n_names; n++)
				within(at, w->lives[i].names[n].at, UINT64_MAX, to);
		}
	return who;
}

static const char *quota_called(struct world *w, const struct forbidden *f)
{
	static char texts[8][GROUP_NAME_LEN + 16]; /* callers keep them */
	char name[GROUP_NAME_LEN], text[GROUP_NAME_LEN + 16];
	int i = 0;

	if (f->why == CHAINLOG_QUOTA_DEADLINE)
		return "[throttled SCHED_DEADLINE]";
	if (f->why == CHAINLOG_QUOTA_REALTIME)
		return "[throttled realtime]";
	if (f->why != CHAINLOG_QUOTA_GROUP || !f->path)
		return "[throttled]";
	group_name(trace_string(w->t, f->path), name);
	snprintf(text, sizeof(text), "[throttled %s]", name);
	while (i < 7 && *texts[i] && strcmp(texts[i], text) != 0)
		i++;
	return strcpy(texts[i], text);
}

/*
 * The quota that kept the life from running at that time of the piece; *to: until when that is so,
 * or NULL is. Of those that overlap the one that is over first counts, up to its end. *any: there
 * are some in the piece.
 */
static const struct forbidden *forbidden_at(const struct life *l, const struct piece *p,
					    uint64_t at, uint64_t *to, bool *any)
{
	const struct forbidden *first = NULL;

	for (int i = 0; i < l->n_forbidden; i++) {
		const struct forbidden *f = &l->forbidden[i];

		if (f->to <= p->from || f->to > p->to)
			continue;
		*any = true;
		if (f->to > at &&
		    (!first || f->to < first->to || (f->to == first->to && f->from < first->from)))
			first = f;
	}
	if (first && first->from <= at)
		*to = first->to < *to ? first->to : *to;
	else if (first)
		*to = first->from < *to ? first->from : *to;
	return first && first->from <= at ? first : NULL;
}

void who_ran(struct world *w, int life, const struct piece *p, uint64_t from, uint64_t to,
	     void (*put)(void *arg, const char *who, uint64_t ns), void *arg)
{
	const struct life *l = &w->lives[life];
	const char *group = group_at(w, life, l->sleeps[p->sleep].out_ns);

	while (from < to) {
		const struct placed *at = placed_at(l, from);
		uint64_t until = to;
		bool any = false, untold;
		const struct forbidden *f = forbidden_at(l, p, from, &until, &any);
		const char *who = NULL;

		if (f) {
			put(arg, quota_called(w, f), until - from);
			from = until;
			continue;
		}
		until = placed_until(l, from, until);
		untold = !any && l->sleeps[p->sleep].throttled;
		if (at && at->cpu != NOBODY && at->cpu < CORES)
			who = runner(w, at->cpu, group, untold, from, &until);
		if (untold && trace_info(w->t)->aux >> CHAINLOG_UNTHROTTLED & 1) {
			put(arg, NULL, until - from);
			from = until;
			continue;
		}
		if (who && w->interrupts) {
			const struct core *c = &w->cores[at->cpu];
			bool still = !strcmp(who, "[no events]");
			uint64_t in = still ? 0 : core_taken(c, INTERRUPTS, from, until);
			uint64_t stolen = core_taken(c, HYPERVISOR, from, until);

			if (stolen > until - from - in)
				stolen = until - from - in;
			put(arg, "[interrupts]", in);
			put(arg, "[steal]", stolen);
			from += in + stolen;
		}
		put(arg, who, until - from);
		from = until;
	}
}
