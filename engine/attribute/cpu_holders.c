// SPDX-License-Identifier: GPL-2.0-or-later
#include "cpu_holders.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "common/lower_bound.h"
#include "running_totals.h"
#include "timeline/cpus.h"
#include "timeline/stolen_time.h"
#include "common/xalloc.h"

/*
 * The time that each name had on a CPU, in each group, as running totals over blocks of changes: a
 * long wait among many short turns of few threads costs as much as there are names, not turns (law
 * 5).
 */
#define BLOCK 16u

#define HOLDER_PATHS (HOLDER_NAMES - HOLDER_QUOTA)

/* Of all of the time up to a CPU's next change, what was taken from who had it. */
struct taken {
	uint32_t interrupts, steal; /* UINT32_MAX: that much or more, to be looked up */
};

struct cpu_holders {
	const struct timelines *timelines;
	const struct cpus *cpus;
	const struct stolen_time *interrupts, *steal; /* NULL: not told apart */
	struct running_totals *totals;		      /* by CPU; of (who, group) */
	struct taken **taken; /* by CPU: by change; NULL: nothing is told apart */
	uint32_t n_cpus;
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

/* The thread, by name, or HOLDER_*, and its group; 0: that is not told. */
struct holder {
	uint32_t who, group;
};

/* The path, or 0 for the root of a hierarchy: what is there belongs to nobody in particular. */
static uint32_t telling_group(const struct timelines *tl, uint32_t thread, uint64_t at_ns)
{
	uint32_t path = timelines_grouped(tl) ? timelines_group(tl, thread, at_ns) : 0;
	const char *name = trace_string(timelines_trace(tl), path);

	return path < HOLDER_PATHS && name[0] && name[1] ? path : 0;
}

/* What a CPU ran at a time after this change; *until_ns: up to when, if that is sooner. */
static struct holder holder_of(const struct timelines *tl, const struct change *c, uint64_t at_ns,
			       uint64_t *until_ns)
{
	uint64_t next_ns;

	if (c->to == THREAD_NONE)
		return (struct holder) { HOLDER_UNKNOWN, 0 };
	if (c->to == CPU_RAN_RECORDER)
		return (struct holder) { HOLDER_RECORDER, 0 };
	if (c->to == THREAD_IDLE)
		return (struct holder) { HOLDER_IDLE, 0 };
	next_ns = timelines_next_name_ns(tl, c->to, at_ns);
	*until_ns = next_ns < *until_ns ? next_ns : *until_ns;
	return (struct holder) { timelines_name(tl, c->to, at_ns),
				 telling_group(tl, c->to, c->from_ns) };
}

/* Where the i-th of n changes ends. */
static uint64_t end_of(const struct cpu_holders *r, const struct change *c, size_t n, size_t i)
{
	return i + 1 < n ? c[i + 1].from_ns : timelines_end_ns(r->timelines);
}

/* A time on a CPU, and what was taken from who had it. */
struct had {
	uint64_t own, interrupts, steal;
};

/* still: no interrupts, as there were no events. */
static struct had had_in(const struct cpu_holders *r, uint32_t who, bool still, uint32_t cpu,
			 uint64_t from_ns, uint64_t to_ns)
{
	struct had had = { .own = to_ns - from_ns };

	if (who == HOLDER_UNKNOWN)
		return had;
	if (!still)
		had.interrupts = stolen_time_of_cpu(r->interrupts, cpu, from_ns, to_ns);
	had.own -= had.interrupts;
	had.steal = stolen_time_of_cpu(r->steal, cpu, from_ns, to_ns);
	if (had.steal > had.own)
		had.steal = had.own;
	had.own -= had.steal;
	return had;
}

static uint32_t bounded(uint64_t ns)
{
	return ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
}

static void total(struct running_totals *t, uint32_t who, uint32_t group, uint64_t ns)
{
	if (ns)
		totals_add(t, who, group, ns, 0);
}

static void sum_up(struct cpu_holders *r, uint32_t cpu)
{
	struct running_totals *t = &r->totals[cpu];
	const struct change *c;
	size_t n;

	c = cpus_ran(r->cpus, cpu, &n);
	if (r->interrupts || r->steal) {
		r->taken[cpu] = xmalloc((n + 1) * sizeof(*r->taken[cpu]));
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t from_ns = c[i].from_ns, to_ns = end_of(r, c, n, i);

		while (from_ns < to_ns) {
			uint64_t until_ns = to_ns;
			struct holder h = holder_of(r->timelines, &c[i], from_ns, &until_ns);
			struct had had = had_in(r, h.who, false, cpu, from_ns, until_ns);

			if (r->taken[cpu])
				r->taken[cpu][i] = (struct taken) { bounded(had.interrupts),
								    bounded(had.steal) };
			/* Only whole blocks are asked for. */
			if (i < n / BLOCK * BLOCK) {
				total(t, h.who, h.group, had.own);
				total(t, HOLDER_INTERRUPTS, 0, had.interrupts);
				total(t, HOLDER_STEAL, 0, had.steal);
			}
			from_ns = until_ns;
		}
		if ((i + 1) % BLOCK == 0)
			totals_end_block(t, (uint32_t)(i / BLOCK));
	}
}

void cpu_holders_new(struct cpu_holders **out, const struct timelines *tl, bool taken)
{
	const struct cpus *cpus = timelines_cpus(tl);
	struct cpu_holders *r;

	*out = NULL;
	if (!cpus)
		return;
	r = xcalloc(1, sizeof(*r));
	r->timelines = tl;
	r->cpus = cpus;
	r->interrupts = taken ? timelines_interrupts(tl) : NULL;
	r->steal = taken ? timelines_steal(tl) : NULL;
	r->totals = xcalloc((size_t)cpus_number(cpus) + 1, sizeof(*r->totals));
	r->taken = xcalloc((size_t)cpus_number(cpus) + 1, sizeof(*r->taken));
	for (; r->n_cpus < cpus_number(cpus); r->n_cpus++)
		sum_up(r, r->n_cpus);
	*out = r;
}

void cpu_holders_free(struct cpu_holders *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; r->totals && i < cpus_number(r->cpus); i++)
		totals_free(&r->totals[i]);
	for (uint32_t i = 0; r->taken && i < cpus_number(r->cpus); i++)
		free(r->taken[i]);
	free(r->totals);
	free(r->taken);
	free(r);
}

/* As many who had a CPU are added up before they are told. */
#define KEPT 8u

struct kept {
	uint32_t who;
	uint64_t ns;
};

struct share {
	const struct cpu_holders *ran;
	uint32_t group;	    /* of the thread that waits; 0: not known */
	bool grouped;	    /* it is known, if only as the root */
	bool throttled;	    /* a quota was used up, it is not known until when, */
	bool until_unknown; /* though the trace should say it */
	bool still;	    /* no CPU had an event: threads that had one did not run */
	cpu_holders_fn fn;
	void *arg;
	struct kept *kept; /* KEPT */
};

/* Equal paths may have different ids. */
static bool same_path(const struct share *s, uint32_t group)
{
	const struct trace *t = timelines_trace(s->ran->timelines);

	return s->group && !strcmp(trace_string(t, s->group), trace_string(t, group));
}

static bool is_thread(uint32_t who)
{
	return who < HOLDER_NAMES || who == HOLDER_RECORDER;
}

/* Tells it at once of quotas, and else with what the same one has otherwise. */
static void keep(const struct share *s, uint32_t who, uint64_t ns)
{
	uint32_t i = 0;

	if (cpu_holder_throttled(who)) {
		s->fn(s->arg, who, ns);
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

static void give(const struct share *s, uint32_t who, uint32_t group, uint64_t ns)
{
	if (group && s->grouped && group != s->group && !same_path(s, group))
		who = HOLDER_GROUP | group;
	if (s->until_unknown)
		who = HOLDER_UNKNOWN;
	else if (who == HOLDER_IDLE && s->throttled)
		who = HOLDER_THROTTLED;
	if (is_thread(who) && s->still)
		who = HOLDER_STILL;
	if (ns)
		keep(s, who, ns);
}

/*
 * In [from_ns, to_ns) the CPU ran what the change says; NULL: that is not known. taken: of all of
 * it; NULL: this is a part, or nothing is told apart.
 */
static void give_time(const struct share *s, uint32_t cpu, const struct change *c,
		      const struct taken *taken, uint64_t from_ns, uint64_t to_ns)
{
	while (from_ns < to_ns) {
		uint64_t until_ns = to_ns;
		struct holder h = { HOLDER_UNKNOWN, 0 };
		struct had had;

		if (c)
			h = holder_of(s->ran->timelines, c, from_ns, &until_ns);
		if (taken && until_ns == to_ns && !s->still && taken->interrupts < UINT32_MAX &&
		    taken->steal < UINT32_MAX)
			had = (struct had) { to_ns - from_ns - taken->interrupts - taken->steal,
					     taken->interrupts, taken->steal };
		else
			had = had_in(s->ran, h.who, s->still && is_thread(h.who), cpu, from_ns,
				     until_ns);
		taken = NULL; /* it was divided */
		give(s, h.who, h.group, had.own);
		give(s, HOLDER_INTERRUPTS, 0, had.interrupts);
		give(s, HOLDER_STEAL, 0, had.steal);
		from_ns = until_ns;
	}
}

/* What the CPU ran in [from_ns, to_ns). */
static void share_cpu(const struct share *s, uint32_t cpu, uint64_t from_ns, uint64_t to_ns)
{
	const struct cpu_holders *r = s->ran;
	const struct running_totals *t = &r->totals[cpu];
	const struct change *c;
	size_t n, i, end;
	uint64_t until;
	bool whole;

	c = cpus_ran(r->cpus, cpu, &n);
	i = LOWER_BOUND(k, n, c[k].from_ns <= from_ns);
	until = i < n && c[i].from_ns < to_ns ? c[i].from_ns : to_ns;
	give_time(s, cpu, i ? &c[i - 1] : NULL, NULL, from_ns, until);
	while (until < to_ns) {
		/* Here i begins at until. */
		if (i % BLOCK == 0 && i + 2 * BLOCK < n && c[i + 2 * BLOCK].from_ns <= to_ns) {
			end = LOWER_BOUND(k, n, c[k].from_ns <= to_ns);
			end = (end - 1) / BLOCK * BLOCK;
			if (t->table.keys.n < end - i) {
				for (uint32_t id = 1; id <= t->table.keys.n; id++)
					give(s, t->table.keys.at[id].a, t->table.keys.at[id].b,
					     totals_between(t, id, (uint32_t)(i / BLOCK),
							    (uint32_t)(end / BLOCK)));
				i = end;
				until = c[i].from_ns;
				continue;
			}
		}
		from_ns = until;
		whole = i + 1 < n && c[i + 1].from_ns <= to_ns;
		until = whole ? c[i + 1].from_ns : to_ns;
		give_time(s, cpu, &c[i], whole && r->taken[cpu] ? &r->taken[cpu][i] : NULL, from_ns,
			  until);
		i++;
	}
}

/* The same where the machine may have stood still. */
static void share_queue(const struct share *s, uint32_t cpu, uint64_t from_ns, uint64_t to_ns)
{
	struct share still = *s;
	const struct stall *at;
	size_t n, i;

	at = timelines_stalls(s->ran->timelines, &n);
	i = LOWER_BOUND(k, n, at[k].to_ns <= from_ns);
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

/* A time in which it is not known of any quota that kept the thread from running. */
static void share_ready(const struct share *s, uint32_t thread, uint64_t from_ns, uint64_t to_ns)
{
	const struct cpu_holders *r = s->ran;

	while (from_ns < to_ns) {
		uint32_t cpu = CPU_NONE;
		uint64_t until = to_ns;

		if (r) {
			cpu = cpus_queue(r->cpus, thread, from_ns, &until);
			until = until < to_ns ? until : to_ns;
		}
		if (cpu != CPU_NONE && cpu < r->n_cpus)
			share_queue(s, cpu, from_ns, until);
		else
			give(s, HOLDER_UNKNOWN, 0, until - from_ns);
		from_ns = until;
	}
}

void cpu_holders_share(const struct cpu_holders *r, uint32_t thread, const struct wait *w,
		       uint64_t from_ns, uint64_t to_ns, cpu_holders_fn fn, void *arg)
{
	struct kept kept[KEPT] = { { 0 } };
	struct share s = { .ran = r, .fn = fn, .arg = arg, .kept = kept };
	const struct throttle *at = NULL;
	size_t n = 0;

	if (r)
		at = timelines_throttles(r->timelines, thread, w, &n);
	s.throttled = !n && wait_throttled(w);
	s.until_unknown = s.throttled && r && timelines_tell_quotas(r->timelines);
	if (r && timelines_grouped(r->timelines)) {
		s.group = timelines_group(r->timelines, thread, w->out_ns);
		s.grouped = s.group;
	}
	for (size_t i = 0; i < n && from_ns < to_ns; i++) {
		uint64_t begin_ns = clip_ns(at[i].from_ns, from_ns, to_ns);
		uint64_t end_ns = clip_ns(at[i].to_ns, from_ns, to_ns);

		share_ready(&s, thread, from_ns, begin_ns);
		give(&s, quota_of(&at[i]), 0, end_ns - begin_ns);
		from_ns = end_ns;
	}
	share_ready(&s, thread, from_ns, to_ns);
	for (uint32_t i = 0; i < KEPT && kept[i].ns; i++)
		fn(arg, kept[i].who, kept[i].ns);
}
