// SPDX-License-Identifier: GPL-2.0-or-later
#include "cpu_ran.h"

#include <stdlib.h>

#include "common/lower_bound.h"
#include "common/xalloc.h"
#include "timeline/stolen_time.h"

/* The path, or 0 for the root of a hierarchy: what is there belongs to nobody in particular. */
static uint32_t telling_group(const struct timelines *tl, uint32_t thread, uint64_t at_ns)
{
	uint32_t path = timelines_grouped(tl) ? timelines_group(tl, thread, at_ns) : 0;
	const char *name = trace_string(timelines_trace(tl), path);

	return path < HOLDER_PATHS && name[0] && name[1] ? path : 0;
}

static struct holder find_holder(const struct timelines *tl, const struct change *c, uint64_t at_ns,
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

static void total(struct running_totals *t, uint32_t number, uint64_t ns)
{
	if (ns)
		totals_add(t, number, 0, ns, 0);
}

/* Who had the i-th change of a CPU; in_totals: whole blocks of them are asked for. */
static void add_change(struct cpu_ran *r, uint32_t cpu, size_t i, bool in_totals, size_t hint[2])
{
	struct cpu_ran_cpu *c = &r->cpus[cpu];
	uint64_t from_ns = c->at[i].from_ns, to_ns = cpu_ran_end(r, c, i);
	uint32_t parts = 0, number = 0;

	if (c->taken)
		c->taken[i] = (struct taken) { 0, 0 };
	while (from_ns < to_ns) {
		uint64_t until_ns = to_ns;
		struct holder h = find_holder(r->timelines, &c->at[i], from_ns, &until_ns);
		struct had had = cpu_ran_had(r, h.who, false, cpu, from_ns, until_ns, hint);

		number = pairs_id(&r->holders, h.who, h.group);
		if (c->taken)
			c->taken[i] =
				(struct taken) { bounded(had.interrupts), bounded(had.steal) };
		if (in_totals) {
			total(&c->totals, number, had.own);
			total(&c->totals, CPU_RAN_INTERRUPTS, had.interrupts);
			total(&c->totals, CPU_RAN_STEAL, had.steal);
		}
		parts++;
		from_ns = until_ns;
	}
	c->holder[i] = parts == 1 ? number : 0;
}

static void add_cpu(struct cpu_ran *r, uint32_t cpu, const struct cpus *cpus, uint64_t first)
{
	struct cpu_ran_cpu *c = &r->cpus[cpu];
	size_t hint[2] = { 0, 0 };

	c->at = cpus_ran(cpus, cpu, &c->n);
	c->first = first;
	c->holder = xmalloc((c->n + 1) * sizeof(*c->holder));
	if (r->interrupts || r->steal)
		c->taken = xmalloc((c->n + 1) * sizeof(*c->taken));
	for (size_t i = 0; i < c->n; i++) {
		add_change(r, cpu, i, i < c->n / CPU_RAN_BLOCK * CPU_RAN_BLOCK, hint);
		if ((i + 1) % CPU_RAN_BLOCK == 0)
			totals_end_block(&c->totals, (uint32_t)(i / CPU_RAN_BLOCK));
	}
}

void cpu_ran_init(struct cpu_ran *r, const struct timelines *tl, bool taken)
{
	const struct cpus *cpus = timelines_cpus(tl);
	uint64_t changes = 0;

	*r = (struct cpu_ran) { .timelines = tl, .n_cpus = cpus_number(cpus) };
	r->interrupts = taken ? timelines_interrupts(tl) : NULL;
	r->steal = taken ? timelines_steal(tl) : NULL;
	r->cpus = xcalloc((size_t)r->n_cpus + 1, sizeof(*r->cpus));
	(void)pairs_id(&r->holders, HOLDER_INTERRUPTS, 0); /* CPU_RAN_INTERRUPTS */
	(void)pairs_id(&r->holders, HOLDER_STEAL, 0);
	for (uint32_t cpu = 0; cpu < r->n_cpus; cpu++) {
		add_cpu(r, cpu, cpus, changes);
		changes += r->cpus[cpu].n;
	}
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
	const struct running_totals *t = &r->cpus[cpu].totals;
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
		sum_change(r, cpu, i, fn, arg);
	}
}

size_t cpu_ran_until(const struct cpu_ran_cpu *c, uint64_t ns, size_t guess)
{
	size_t from = 0, to = guess < c->n ? guess : c->n, step = 1;

	if (to && c->at[to - 1].from_ns > ns) {
		/* Before the guess. */
		while (step < to && c->at[to - 1 - step].from_ns > ns)
			step *= 2;
		from = step < to ? to - step : 0;
		to--;
	} else {
		from = to;
		while (from + step <= c->n && c->at[from + step - 1].from_ns <= ns) {
			from += step;
			step *= 2;
		}
		to = from + step <= c->n ? from + step - 1 : c->n;
	}
	return from + LOWER_BOUND(i, to - from, c->at[from + i].from_ns <= ns);
}
