// SPDX-License-Identifier: GPL-2.0-or-later
#include "cpu_ran.h"

#include <stdlib.h>

#include "common/lower_bound.h"
#include "common/xalloc.h"
#include "timeline/stolen_time.h"

/* The path, or 0 for the root of a hierarchy: what is there belongs to nobody in particular.
 * *until_ns: up to when. */
static uint32_t telling_group(const struct timelines *tl, uint32_t thread, uint64_t at_ns,
			      uint64_t *until_ns)
{
	uint32_t path =
		timelines_grouped(tl) ? timelines_group_until(tl, thread, at_ns, until_ns) : 0;
	const char *name = trace_string(timelines_trace(tl), path);

	return path < HOLDER_PATHS && name[0] && name[1] ? path : 0;
}

static struct holder find_holder(const struct timelines *tl, const struct change *c, uint64_t at_ns,
				 uint64_t *until_ns)
{
	uint64_t next_ns, group_until_ns;

	if (c->to == THREAD_NONE)
		return (struct holder) { HOLDER_UNKNOWN, 0 };
	if (c->to == CPU_RAN_RECORDER)
		return (struct holder) { HOLDER_RECORDER, 0 };
	if (c->to == THREAD_IDLE)
		return (struct holder) { HOLDER_IDLE, 0 };
	next_ns = timelines_next_name_ns(tl, c->to, at_ns);
	*until_ns = next_ns < *until_ns ? next_ns : *until_ns;
	return (struct holder) { timelines_name(tl, c->to, at_ns),
				 telling_group(tl, c->to, c->from_ns, &group_until_ns) };
}

struct holder cpu_ran_at(const struct cpu_ran *r, const struct cpu_ran_cpu *c, size_t i,
			 uint64_t at_ns, uint64_t *until_ns)
{
	return c->holder[i] ? cpu_ran_holder_of(r, c->holder[i])
			    : find_holder(r->timelines, &c->at[i], at_ns, until_ns);
}

struct had cpu_ran_had(const struct cpu_ran *r, uint32_t who, bool still, uint32_t cpu,
		       uint64_t from_ns, uint64_t to_ns, size_t hint[2])
{
	struct had had = { .own = to_ns - from_ns };

	if (who == HOLDER_UNKNOWN)
		return had;
	if (!still)
		had.interrupts =
			stolen_time_of_cpu_next(r->interrupts, cpu, from_ns, to_ns, &hint[0]);
	had.own -= had.interrupts;
	had.steal = stolen_time_of_cpu_next(r->steal, cpu, from_ns, to_ns, &hint[1]);
	if (had.steal > had.own)
		had.steal = had.own;
	had.own -= had.steal;
	return had;
}

/* ---- once for all ---------------------------------------------------------------------------- */

static uint32_t bounded(uint64_t ns)
{
	return ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
}

/* Who has a CPU if a thread has it, which comes on it in [from_ns, until_ns). */
struct known_holder {
	uint64_t from_ns, until_ns, name_until_ns;
	uint32_t number;
};

struct maker {
	struct cpu_ran *ran;
	struct known_holder *known; /* by thread */
	/* Of the block at hand: by number of a holder, and who has any. */
	uint64_t *ns;
	uint32_t *holders;
	size_t cap_ns, n_holders, cap_holders;
	/* Of the CPU at hand: a cpu_ran_had()'s, and up to when nothing is taken. */
	size_t hint[2];
	uint64_t none_until_ns;
};

/* cpu_ran_had() of one time of the CPU after the other. */
static struct had next_had(struct maker *m, uint32_t who, uint32_t cpu, uint64_t from_ns,
			   uint64_t to_ns)
{
	const struct cpu_ran *r = m->ran;
	uint64_t interrupts_ns, steal_ns;
	struct had had;

	if (who == HOLDER_UNKNOWN || to_ns <= m->none_until_ns)
		return (struct had) { .own = to_ns - from_ns };
	had = cpu_ran_had(r, who, false, cpu, from_ns, to_ns, m->hint);
	interrupts_ns = stolen_time_none_until(r->interrupts, cpu, to_ns, m->hint[0]);
	steal_ns = stolen_time_none_until(r->steal, cpu, to_ns, m->hint[1]);
	m->none_until_ns = interrupts_ns < steal_ns ? interrupts_ns : steal_ns;
	return had;
}

/* The number of who had a change from at_ns on; *until_ns: up to when, if that is sooner. */
static uint32_t number_at(struct maker *m, const struct change *c, uint64_t at_ns,
			  uint64_t *until_ns)
{
	const struct timelines *tl = m->ran->timelines;
	bool is_thread = c->to < CPU_RAN_RECORDER;
	struct known_holder *k = is_thread ? &m->known[c->to] : NULL;
	struct holder h;

	if (k && at_ns >= k->from_ns && at_ns < k->until_ns && at_ns == c->from_ns) {
		*until_ns = k->name_until_ns < *until_ns ? k->name_until_ns : *until_ns;
		return k->number;
	}
	h = find_holder(tl, c, at_ns, until_ns);
	if (!k || at_ns != c->from_ns)
		return pairs_id(&m->ran->holders, h.who, h.group);
	*k = (struct known_holder) { at_ns, UINT64_MAX, timelines_next_name_ns(tl, c->to, at_ns),
				     pairs_id(&m->ran->holders, h.who, h.group) };
	(void)telling_group(tl, c->to, at_ns, &k->until_ns);
	if (k->until_ns > k->name_until_ns)
		k->until_ns = k->name_until_ns;
	return k->number;
}

static void add_to_block(struct maker *m, uint32_t number, uint64_t ns)
{
	if (!ns)
		return;
	XGROW_ZEROED(m->ns, number, m->cap_ns);
	if (!m->ns[number])
		XAPPEND(m->holders, m->n_holders, m->cap_holders) = number;
	m->ns[number] += ns;
}

static void end_block(struct maker *m, struct running_totals *t, uint32_t block)
{
	for (size_t i = 0; i < m->n_holders; i++) {
		totals_add(t, m->holders[i], 0, m->ns[m->holders[i]], 0);
		m->ns[m->holders[i]] = 0;
	}
	m->n_holders = 0;
	totals_end_block(t, block);
}

/*
 * The number of a thread that is known to have all of a change under one name, of which nothing was
 * taken, as of most; 0: it is not so simple.
 */
static uint32_t sole_number(const struct maker *m, const struct change *c, uint64_t to_ns)
{
	const struct known_holder *k = c->to < CPU_RAN_RECORDER ? &m->known[c->to] : NULL;

	return k && c->from_ns >= k->from_ns && c->from_ns < k->until_ns &&
			       to_ns <= k->name_until_ns && to_ns <= m->none_until_ns &&
			       c->from_ns < to_ns
		       ? k->number
		       : 0;
}

/* Who had the i-th change of a CPU; in_totals: whole blocks of them are asked for. */
static void add_change(struct maker *m, uint32_t cpu, size_t i, bool in_totals)
{
	struct cpu_ran *r = m->ran;
	struct cpu_ran_cpu *c = &r->cpus[cpu];
	uint64_t from_ns = c->at[i].from_ns, to_ns = cpu_ran_end(r, c, i);
	uint32_t parts = 0, number = 0;

	if (c->taken)
		c->taken[i] = (struct taken) { 0, 0 };
	c->holder[i] = sole_number(m, &c->at[i], to_ns);
	if (c->holder[i]) {
		if (in_totals)
			add_to_block(m, c->holder[i], to_ns - from_ns);
		return;
	}
	while (from_ns < to_ns) {
		uint64_t until_ns = to_ns;
		struct had had;

		number = number_at(m, &c->at[i], from_ns, &until_ns);
		had = next_had(m, r->holders.at[number].a, cpu, from_ns, until_ns);
		if (c->taken)
			c->taken[i] =
				(struct taken) { bounded(had.interrupts), bounded(had.steal) };
		if (in_totals) {
			add_to_block(m, number, had.own);
			add_to_block(m, CPU_RAN_INTERRUPTS, had.interrupts);
			add_to_block(m, CPU_RAN_STEAL, had.steal);
		}
		parts++;
		from_ns = until_ns;
	}
	c->holder[i] = parts == 1 ? number : 0;
}

static void add_cpu(struct maker *m, uint32_t cpu, const struct cpus *cpus, uint64_t first)
{
	struct cpu_ran *r = m->ran;
	struct cpu_ran_cpu *c = &r->cpus[cpu];

	m->hint[0] = m->hint[1] = 0;
	m->none_until_ns = 0;
	c->at = cpus_ran(cpus, cpu, &c->n);
	c->first = first;
	c->holder = xmalloc((c->n + 1) * sizeof(*c->holder));
	if (r->interrupts || r->steal)
		c->taken = xmalloc((c->n + 1) * sizeof(*c->taken));
	for (size_t i = 0; i < c->n; i++) {
		add_change(m, cpu, i, i < c->n / CPU_RAN_BLOCK * CPU_RAN_BLOCK);
		if ((i + 1) % CPU_RAN_BLOCK == 0)
			end_block(m, &c->totals, (uint32_t)(i / CPU_RAN_BLOCK));
	}
}

void cpu_ran_init(struct cpu_ran *r, const struct timelines *tl, bool taken)
{
	const struct cpus *cpus = timelines_cpus(tl);
	struct maker m = { .ran = r };
	uint64_t changes = 0;

	*r = (struct cpu_ran) { .timelines = tl, .n_cpus = cpus_number(cpus) };
	r->interrupts = taken ? timelines_interrupts(tl) : NULL;
	r->steal = taken ? timelines_steal(tl) : NULL;
	r->cpus = xcalloc((size_t)r->n_cpus + 1, sizeof(*r->cpus));
	m.known = xcalloc((size_t)timelines_threads(tl) + 1, sizeof(*m.known));
	(void)pairs_id(&r->holders, HOLDER_INTERRUPTS, 0); /* CPU_RAN_INTERRUPTS */
	(void)pairs_id(&r->holders, HOLDER_STEAL, 0);
	for (uint32_t cpu = 0; cpu < r->n_cpus; cpu++) {
		add_cpu(&m, cpu, cpus, changes);
		changes += r->cpus[cpu].n;
	}
	free(m.known);
	free(m.ns);
	free(m.holders);
}

void cpu_ran_free(struct cpu_ran *r)
{
	for (uint32_t i = 0; i < r->n_cpus; i++) {
		totals_free(&r->cpus[i].totals);
		free(r->cpus[i].holder);
		free(r->cpus[i].taken);
	}
	free(r->cpus);
	pairs_free(&r->holders);
}

/* ---- sums ------------------------------------------------------------------------------------ */

static void give(cpu_ran_fn fn, void *arg, uint32_t number, uint64_t ns)
{
	if (ns)
		fn(arg, number, ns);
}

static void give_had(cpu_ran_fn fn, void *arg, uint32_t number, struct had had)
{
	give(fn, arg, number, had.own);
	give(fn, arg, CPU_RAN_INTERRUPTS, had.interrupts);
	give(fn, arg, CPU_RAN_STEAL, had.steal);
}

/* A change in which the thread was renamed, or in which too much was taken to be kept. */
static void sum_divided(const struct cpu_ran *r, uint32_t cpu, size_t i, cpu_ran_fn fn, void *arg)
{
	const struct cpu_ran_cpu *c = &r->cpus[cpu];
	uint64_t from_ns = c->at[i].from_ns, to_ns = cpu_ran_end(r, c, i);

	while (from_ns < to_ns) {
		uint64_t until_ns = to_ns;
		struct holder h = cpu_ran_at(r, c, i, from_ns, &until_ns);
		size_t hint[2] = { 0, 0 };

		give_had(fn, arg, pairs_find(&r->holders, h.who, h.group),
			 cpu_ran_had(r, h.who, false, cpu, from_ns, until_ns, hint));
		from_ns = until_ns;
	}
}

static void sum_change(const struct cpu_ran *r, uint32_t cpu, size_t i, cpu_ran_fn fn, void *arg)
{
	const struct cpu_ran_cpu *c = &r->cpus[cpu];
	struct had had = { .own = cpu_ran_end(r, c, i) - c->at[i].from_ns };

	if (c->taken) {
		had.interrupts = c->taken[i].interrupts;
		had.steal = c->taken[i].steal;
	}
	if (!c->holder[i] || had.interrupts == UINT32_MAX || had.steal == UINT32_MAX) {
		sum_divided(r, cpu, i, fn, arg);
		return;
	}
	had.own -= had.interrupts + had.steal;
	give_had(fn, arg, c->holder[i], had);
}

void cpu_ran_sum(const struct cpu_ran *r, uint32_t cpu, size_t first, size_t end, cpu_ran_fn fn,
		 void *arg)
{
	const struct cpu_ran_cpu *c = &r->cpus[cpu];
	const struct running_totals *t = &c->totals;
	size_t from = (first + CPU_RAN_BLOCK - 1) / CPU_RAN_BLOCK, to = end / CPU_RAN_BLOCK;

	/* Totals only where there are fewer of them than changes. */
	if (from + 1 >= to || t->table.keys.n >= (to - from) * CPU_RAN_BLOCK)
		from = to = end / CPU_RAN_BLOCK + 1;
	for (size_t i = first; i < end; i++) {
		if (i == from * CPU_RAN_BLOCK) {
			for (uint32_t id = 1; id <= t->table.keys.n; id++)
				give(fn, arg, t->table.keys.at[id].a,
				     totals_between(t, id, (uint32_t)from, (uint32_t)to));
			i = to * CPU_RAN_BLOCK;
			if (i >= end)
				return;
		}
		if (cpu_ran_took_nothing(c, i))
			give(fn, arg, c->holder[i], cpu_ran_end(r, c, i) - c->at[i].from_ns);
		else
			sum_change(r, cpu, i, fn, arg);
	}
}

size_t cpu_ran_until(const struct cpu_ran_cpu *c, uint64_t ns, size_t guess)
{
	return LOWER_BOUND_NEAR(i, c->n, guess, c->at[i].from_ns <= ns);
}
