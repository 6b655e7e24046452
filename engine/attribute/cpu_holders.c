// SPDX-License-Identifier: GPL-2.0-or-later
#include "cpu_holders.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "common/lower_bound.h"
#include "cpu_ran.h"
#include "holder_ranges.h"
#include "common/xalloc.h"

struct cpu_holders {
	struct cpu_ran ran;
};

const char *cpu_holder_text(uint32_t who)
{
	switch (who) {
	case HOLDER_IDLE:
		return "[idle CPU]";
	case HOLDER_THROTTLED:
		return "[throttled]";
	case HOLDER_STILL:
		return "[no events]";
	case HOLDER_INTERRUPTS:
		return "[interrupts]";
	case HOLDER_STEAL:
		return "[steal]";
	case HOLDER_RECORDER:
		return "[recorder]";
	case HOLDER_RUNTIME:
		return "[throttled SCHED_DEADLINE]";
	case HOLDER_REALTIME:
		return "[throttled realtime]";
	default:
		return NULL;
	}
}

/* "[throttled GROUP]", a text. */
static uint32_t quota_name(struct names *names, uint32_t path)
{
	uint32_t group = names_group_path(names, path), id;
	struct text_buf b = { 0 };

	text_puts(&b, "[throttled ");
	text_puts(&b, names_text(names, group));
	text_puts(&b, "]");
	id = names_adopt(names, b.p);
	text_free(&b);
	return id;
}

uint32_t cpu_holder_name(struct names *names, uint32_t who)
{
	const char *text = cpu_holder_text(who);

	if (cpu_holder_quota(who))
		return quota_name(names, cpu_holder_quota(who));
	if (cpu_holder_group(who))
		return names_group_path(names, cpu_holder_group(who));
	return text ? names_adopt(names, text) : names_string(names, who);
}

void cpu_holders_add(void *sums, uint32_t who, uint64_t ns)
{
	sums_add(sums, 0, who, ns);
}

void cpu_holders_new(struct cpu_holders **out, const struct timelines *tl, bool taken)
{
	*out = NULL;
	if (!timelines_cpus(tl))
		return;
	*out = xcalloc(1, sizeof(**out));
	cpu_ran_init(&(*out)->ran, tl, taken);
}

void cpu_holders_free(struct cpu_holders *r)
{
	if (r)
		cpu_ran_free(&r->ran);
	free(r);
}

/* ---- the time of one wait -------------------------------------------------------------------- */

/* What somebody has under a key, which fn gets later. */
struct pending {
	uint32_t key, who;
	uint64_t ns;
};

/* As many are kept, each at a place of its own; a power of two. */
#define PENDING 1024u

/* What is known of a thread in a time: its group, or on the queue of which CPU it is. */
struct known {
	uint64_t from_ns, until_ns;
	uint32_t what;
};

/* Where was looked last in what is known of a CPU: in its changes, and in what was taken. */
struct cpu_near {
	size_t change;
	size_t taken[2]; /* a cpu_ran_had()'s */
};

/* Of several waits, see cpu_holders_sums_new(). */
struct cpu_holders_sums {
	const struct cpu_ran *ran;
	struct holder_ranges *ranges;
	cpu_holders_sums_fn fn;
	void *arg;
	struct known *groups;  /* by thread; NULL: there are none */
	struct known *queues;  /* by thread */
	struct cpu_near *near; /* by CPU */
	bool is_plain;	       /* nothing else kept threads from running, and the machine ran */
	struct pending pending[PENDING];
};

/* As many who had a CPU are added up before they are told. */
#define KEPT 8u

struct kept {
	uint32_t who;
	uint64_t ns;
};

struct share {
	const struct cpu_ran *ran; /* NULL: not known */
	uint32_t group;		   /* of the thread that waits; 0: not known */
	bool throttled;		   /* a quota was used up, it is not known until when, */
	bool until_unknown;	   /* though the trace should say it */
	bool still;		   /* no CPU had an event: threads that had one did not run */
	cpu_holders_fn fn;
	void *arg;
	struct kept *kept;		/* KEPT; NULL with later */
	struct cpu_holders_sums *later; /* NULL: all of it is told at once */
	uint32_t key;			/* of the time that is told later */
	int64_t count;
};

/* Equal paths may have different ids. */
static bool same_path(const struct share *s, uint32_t group)
{
	const struct trace *t = timelines_trace(s->ran->timelines);

	return !strcmp(trace_string(t, s->group), trace_string(t, group));
}

static bool is_thread(uint32_t who)
{
	return who < HOLDER_NAMES || who == HOLDER_RECORDER;
}

/* Adds it to what the same one has of other waits. */
static void keep_pending(struct cpu_holders_sums *sums, uint32_t key, uint32_t who, uint64_t ns)
{
	uint32_t hash = (key * 0x9e3779b1u ^ who) * 0x85ebca6bu;
	struct pending *at = &sums->pending[(hash ^ hash >> 16) % PENDING];

	if (at->ns && (at->key != key || at->who != who)) {
		sums->fn(sums->arg, at->key, at->who, at->ns);
		at->ns = 0;
	}
	*at = (struct pending) { key, who, at->ns + ns };
}

/* Tells it at once of quotas, and else with what the same one has otherwise. */
static void keep(const struct share *s, uint32_t who, uint64_t ns)
{
	uint32_t i = 0;

	if (cpu_holder_throttled(who)) {
		s->fn(s->arg, who, ns);
		return;
	}
	if (s->later) {
		keep_pending(s->later, s->key, who, ns * (uint64_t)s->count);
		return;
	}
	while (i < KEPT - 1 && s->kept[i].ns && s->kept[i].who != who)
		i++;
	if (s->kept[i].ns && s->kept[i].who != who) {
		s->fn(s->arg, s->kept[i].who, s->kept[i].ns);
		s->kept[i].ns = 0;
	}
	s->kept[i] = (struct kept) { who, s->kept[i].ns + ns };
}

/* As whom the thread that waits knows the one who had the CPU. */
static uint32_t who_of(const struct share *s, uint32_t who, uint32_t group)
{
	if (group && s->group && group != s->group && !same_path(s, group))
		who = HOLDER_GROUP | group;
	if (s->until_unknown)
		who = HOLDER_UNKNOWN;
	else if (who == HOLDER_IDLE && s->throttled)
		who = HOLDER_THROTTLED;
	return is_thread(who) && s->still ? HOLDER_STILL : who;
}

static void give(const struct share *s, uint32_t who, uint32_t group, uint64_t ns)
{
	if (ns)
		keep(s, who_of(s, who, group), ns);
}

/* The same to the one whom s->ran has under that number. */
static void give_holder(const struct share *s, uint32_t number, uint64_t ns)
{
	struct holder h = cpu_ran_holder_of(s->ran, number);

	give(s, h.who, h.group, ns);
}

/* A part [from_ns, to_ns) of the i-th change of a CPU. */
static void give_part(const struct share *s, uint32_t cpu, size_t i, uint64_t from_ns,
		      uint64_t to_ns)
{
	const struct cpu_ran_cpu *c = &s->ran->cpus[cpu];
	size_t *hint = s->later ? s->later->near[cpu].taken : (size_t[2]) { 0, 0 };

	if (cpu_ran_took_nothing(c, i)) {
		give_holder(s, c->holder[i], to_ns - from_ns);
		return;
	}
	while (from_ns < to_ns) {
		uint64_t until_ns = to_ns;
		struct holder h = cpu_ran_at(s->ran, c, i, from_ns, &until_ns);
		struct had had = cpu_ran_had(s->ran, h.who, s->still && is_thread(h.who), cpu,
					     from_ns, until_ns, hint);

		give(s, h.who, h.group, had.own);
		give(s, HOLDER_INTERRUPTS, 0, had.interrupts);
		give(s, HOLDER_STEAL, 0, had.steal);
		from_ns = until_ns;
	}
}

/* A cpu_ran_fn. */
static void give_sum(void *arg, uint32_t number, uint64_t ns)
{
	give_holder(arg, number, ns);
}

/* The changes [first, end) of a CPU. */
static void share_changes(const struct share *s, uint32_t cpu, size_t first, size_t end)
{
	struct share of = *s;

	if (s->still)
		for (size_t i = first; i < end; i++)
			give_part(s, cpu, i, s->ran->cpus[cpu].at[i].from_ns,
				  cpu_ran_end(s->ran, &s->ran->cpus[cpu], i));
	else if (!s->later || s->throttled)
		cpu_ran_sum(s->ran, cpu, first, end, give_sum, &of);
	else
		holder_ranges_add(s->later->ranges, s->key, s->group, cpu, first, end, s->count);
}

/* What the CPU ran in [from_ns, to_ns). */
static void share_cpu(const struct share *s, uint32_t cpu, uint64_t from_ns, uint64_t to_ns)
{
	const struct cpu_ran_cpu *c = &s->ran->cpus[cpu];
	size_t *hint = s->later ? &s->later->near[cpu].change : &(size_t) { 0 };
	size_t first = cpu_ran_until(c, from_ns, *hint ? *hint : c->n / 2), end;
	uint64_t until =
		first < c->n && c->at[first].from_ns < to_ns ? c->at[first].from_ns : to_ns;

	*hint = first;
	if (!first)
		give(s, HOLDER_UNKNOWN, 0, until - from_ns);
	else
		give_part(s, cpu, first - 1, from_ns, until);
	if (until == to_ns)
		return;
	/* The last one up to to_ns, or the last of all, is not over then, or just. */
	end = cpu_ran_until(c, to_ns, first) - 1;
	if (first < end)
		share_changes(s, cpu, first, end);
	give_part(s, cpu, end, c->at[end].from_ns, to_ns);
}

/* The same where the machine may have stood still. */
static void share_queue(const struct share *s, uint32_t cpu, uint64_t from_ns, uint64_t to_ns)
{
	struct share still;
	const struct stall *at;
	size_t n, i;

	at = timelines_stalls(s->ran->timelines, &n);
	i = LOWER_BOUND(k, n, at[k].to_ns <= from_ns);
	if (i == n || at[i].from_ns >= to_ns) {
		share_cpu(s, cpu, from_ns, to_ns);
		return;
	}
	still = *s;
	still.still = true;
	for (; i < n && at[i].from_ns < to_ns; i++) {
		uint64_t begin_ns = clip_ns(at[i].from_ns, from_ns, to_ns);
		uint64_t end_ns = clip_ns(at[i].to_ns, from_ns, to_ns);

		if (from_ns < begin_ns)
			share_cpu(s, cpu, from_ns, begin_ns);
		share_cpu(&still, cpu, begin_ns, end_ns);
		from_ns = end_ns;
	}
	if (from_ns < to_ns)
		share_cpu(s, cpu, from_ns, to_ns);
}

/* Whoever's quota was used up. */
static uint32_t quota_of(const struct throttle *t)
{
	if (t->why == CHAINLOG_QUOTA_DEADLINE)
		return HOLDER_RUNTIME;
	if (t->why == CHAINLOG_QUOTA_REALTIME)
		return HOLDER_REALTIME;
	return t->why == CHAINLOG_QUOTA_GROUP && t->group && t->group < HOLDER_PATHS
		       ? HOLDER_QUOTA | t->group
		       : HOLDER_THROTTLED;
}

/* On the queue of which CPU a thread is; *until_ns: up to when. */
static uint32_t queue_of(const struct share *s, uint32_t thread, uint64_t at_ns, uint64_t *until_ns)
{
	const struct cpus *cpus = timelines_cpus(s->ran->timelines);
	struct known *known;

	if (!s->later)
		return cpus_queue(cpus, thread, at_ns, until_ns);
	known = &s->later->queues[thread];
	if (at_ns < known->from_ns || at_ns >= known->until_ns) {
		known->what = cpus_queue(cpus, thread, at_ns, &known->until_ns);
		known->from_ns = at_ns;
	}
	*until_ns = known->until_ns;
	return known->what;
}

/* A time in which it is not known of any quota that kept the thread from running. */
static void share_ready(const struct share *s, uint32_t thread, uint64_t from_ns, uint64_t to_ns)
{
	const struct cpu_ran *r = s->ran;

	while (from_ns < to_ns) {
		uint32_t cpu = CPU_NONE;
		uint64_t until = to_ns;

		if (r) {
			cpu = queue_of(s, thread, from_ns, &until);
			until = until < to_ns ? until : to_ns;
		}
		if (cpu != CPU_NONE && cpu < r->n_cpus)
			share_queue(s, cpu, from_ns, until);
		else
			give(s, HOLDER_UNKNOWN, 0, until - from_ns);
		from_ns = until;
	}
}

static uint32_t group_of(const struct share *s, uint32_t thread, uint64_t at_ns)
{
	const struct timelines *tl = s->ran->timelines;
	struct known *known;

	if (!s->later)
		return timelines_group(tl, thread, at_ns);
	known = &s->later->groups[thread];
	if (at_ns < known->from_ns || at_ns >= known->until_ns) {
		known->what = timelines_group_until(tl, thread, at_ns, &known->until_ns);
		known->from_ns = at_ns;
	}
	return known->what;
}

/* [from_ns, to_ns) of w's time, a thread's, s saying whom to tell. */
static void share_wait(struct share *s, uint32_t thread, const struct wait *w, uint64_t from_ns,
		       uint64_t to_ns)
{
	const struct timelines *tl = s->ran ? s->ran->timelines : NULL;
	const struct throttle *at = NULL;
	size_t n = 0;

	if (tl)
		at = timelines_throttles(tl, thread, w, &n);
	s->throttled = !n && wait_throttled(w);
	s->until_unknown = s->throttled && tl && timelines_tell_quotas(tl);
	if (tl && timelines_grouped(tl))
		s->group = group_of(s, thread, w->out_ns);
	for (size_t i = 0; i < n && from_ns < to_ns; i++) {
		uint64_t begin_ns = clip_ns(at[i].from_ns, from_ns, to_ns);
		uint64_t end_ns = clip_ns(at[i].to_ns, from_ns, to_ns);

		share_ready(s, thread, from_ns, begin_ns);
		give(s, quota_of(&at[i]), 0, end_ns - begin_ns);
		from_ns = end_ns;
	}
	share_ready(s, thread, from_ns, to_ns);
}

void cpu_holders_share(const struct cpu_holders *r, uint32_t thread, const struct wait *w,
		       uint64_t from_ns, uint64_t to_ns, cpu_holders_fn fn, void *arg)
{
	struct kept kept[KEPT] = { { 0 } };
	struct share s = { .ran = r ? &r->ran : NULL, .fn = fn, .arg = arg, .kept = kept };

	share_wait(&s, thread, w, from_ns, to_ns);
	for (uint32_t i = 0; i < KEPT && kept[i].ns; i++)
		fn(arg, kept[i].who, kept[i].ns);
}

/* ---- that of many waits at once -------------------------------------------------------------- */

/* A holder_ranges_fn. */
static void add_ranges(void *arg, uint32_t key, uint32_t group, uint32_t number, uint64_t ns)
{
	const struct cpu_holders_sums *sums = arg;
	const struct share s = { .ran = sums->ran, .group = group };
	struct holder h = cpu_ran_holder_of(s.ran, number);

	sums->fn(sums->arg, key, who_of(&s, h.who, h.group), ns);
}

void cpu_holders_sums_new(struct cpu_holders_sums **out, const struct cpu_holders *r,
			  cpu_holders_sums_fn fn, void *arg)
{
	struct cpu_holders_sums *s = xcalloc(1, sizeof(*s));
	size_t stalls, threads = r ? (size_t)timelines_clients_end(r->ran.timelines) + 1 : 0;

	*out = s;
	s->ran = r ? &r->ran : NULL;
	s->fn = fn;
	s->arg = arg;
	if (!r)
		return;
	holder_ranges_new(&s->ranges, s->ran, add_ranges, s);
	(void)timelines_stalls(r->ran.timelines, &stalls);
	s->is_plain = !stalls && !r->ran.timelines->throttles.n;
	s->queues = xcalloc(threads, sizeof(*s->queues));
	s->near = xcalloc((size_t)s->ran->n_cpus + 1, sizeof(*s->near));
	if (timelines_grouped(s->ran->timelines))
		s->groups = xcalloc(threads, sizeof(*s->groups));
}

void cpu_holders_sums_free(struct cpu_holders_sums *s)
{
	if (!s)
		return;
	holder_ranges_free(s->ranges);
	free(s->groups);
	free(s->queues);
	free(s->near);
	free(s);
}

/*
 * The number of the one who had the CPU in all of [from_ns, to_ns) of w's time, which is what is
 * most common: the thread stays on one queue, and its CPU ran one. 0: it is not so simple.
 */
static uint32_t sole_holder(struct cpu_holders_sums *s, const struct ready_time *t)
{
	const struct known *queue = &s->queues[t->thread];
	const struct cpu_ran_cpu *c;
	size_t *hint, i;

	if (wait_throttled(t->wait) || t->from_ns < queue->from_ns || t->to_ns > queue->until_ns ||
	    queue->what >= s->ran->n_cpus)
		return 0;
	c = &s->ran->cpus[queue->what];
	hint = &s->near[queue->what].change;
	*hint = i = cpu_ran_until(c, t->from_ns, *hint);
	if (!i || (i < c->n && c->at[i].from_ns < t->to_ns) || !cpu_ran_took_nothing(c, i - 1))
		return 0;
	return c->holder[i - 1];
}

/* As whom a thread knows one in a group who had the CPU. */
static uint32_t who_in_group(struct cpu_holders_sums *sums, struct holder h, uint32_t thread,
			     uint64_t at_ns)
{
	struct share s = { .ran = sums->ran, .later = sums };

	s.group = group_of(&s, thread, at_ns);
	return who_of(&s, h.who, h.group);
}

void cpu_holders_sums_add(struct cpu_holders_sums *sums, const struct ready_time *t,
			  cpu_holders_fn of_quota, void *arg)
{
	uint32_t sole = sums->is_plain ? sole_holder(sums, t) : 0;

	if (sole) {
		struct holder h = cpu_ran_holder_of(sums->ran, sole);

		if (h.group)
			h.who = who_in_group(sums, h, t->thread, t->wait->out_ns);
		keep_pending(sums, t->key, h.who, (t->to_ns - t->from_ns) * (uint64_t)t->count);
	} else {
		struct share s = { .ran = sums->ran,
				   .fn = of_quota,
				   .arg = arg,
				   .later = sums,
				   .key = t->key,
				   .count = t->count };

		share_wait(&s, t->thread, t->wait, t->from_ns, t->to_ns);
	}
}

void cpu_holders_sums_end(struct cpu_holders_sums *s)
{
	if (s->ranges)
		holder_ranges_sum(s->ranges);
	for (size_t i = 0; i < PENDING; i++) {
		struct pending *at = &s->pending[i];

		if (at->ns)
			s->fn(s->arg, at->key, at->who, at->ns);
		at->ns = 0;
	}
}
