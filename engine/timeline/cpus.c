// SPDX-License-Identifier: GPL-2.0-or-later
#include "cpus.h"

#include <stdlib.h>

#include "common/xalloc.h"
#include "common/lower_bound.h"

/* The changes of one CPU, or of one thread. */
struct series {
	struct change *at;
	size_t n, cap;
	size_t losses; /* of a thread: how many it has been settled for */
};

struct span {
	uint64_t from_ns, to_ns;
};

/* When the recorder had a CPU. */
struct spans {
	struct span *at;
	size_t n, cap;
};

struct series_list {
	struct series *at;
	size_t n, cap;
};

struct cpus {
	struct series_list cpus, threads;
	struct spans *recorder; /* by CPU */
	size_t n_recorder, cap_recorder;
	uint64_t *losses; /* of queues: when each begins */
	size_t n_losses, cap_losses;
	uint64_t lossy_until_ns;
};

void cpus_new(struct cpus **out)
{
	*out = xcalloc(1, sizeof(**out));
}

static void free_list(struct series_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->at[i].at);
	free(l->at);
}

void cpus_free(struct cpus *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n_recorder; i++)
		free(c->recorder[i].at);
	free(c->recorder);
	free_list(&c->cpus);
	free_list(&c->threads);
	free(c->losses);
	free(c);
}

/* The i-th one, empty if it is new. */
static struct series *series_at(struct series_list *l, uint32_t i)
{
	while (l->n <= i)
		XAPPEND(l->at, l->n, l->cap) = (struct series) { .n = 0 };
	return &l->at[i];
}

/* What was said of from_ns and later no longer holds. none: what it is before the first change. */
static void change(struct series *s, uint64_t from_ns, uint32_t to, uint32_t none)
{
	size_t had = s->n;

	while (s->n && s->at[s->n - 1].from_ns >= from_ns)
		s->n--;
	/* A thread that comes on its CPU again is another change: it may have another name. */
	if (s->n == had && (s->n ? s->at[s->n - 1].to : none) == to)
		return;
	XAPPEND(s->at, s->n, s->cap) = (struct change) { from_ns, to };
}

void cpus_run(struct cpus *c, uint32_t cpu, uint64_t from_ns, uint32_t thread)
{
	struct series *s = c ? series_at(&c->cpus, cpu) : NULL;

	if (s)
		change(s, from_ns, thread, THREAD_NONE);
}

void cpus_forget_idle(struct cpus *c, uint32_t cpu)
{
	struct series *s = c ? series_at(&c->cpus, cpu) : NULL;

	if (s && s->n && s->at[s->n - 1].to == THREAD_IDLE)
		change(s, s->at[s->n - 1].from_ns, THREAD_NONE, THREAD_NONE);
}

void cpus_missed(struct cpus *c, uint32_t cpu, uint64_t from_ns)
{
	struct series *s = c ? series_at(&c->cpus, cpu) : NULL;
	size_t i = s ? s->n : 0;

	/* The recorder's time is told right after the switch that ends it. */
	i -= i && s->at[i - 1].from_ns >= from_ns;
	if (i && s->at[i - 1].to == THREAD_IDLE)
		s->at[i - 1].to = THREAD_NONE;
}

/* The places of a thread, settled: since the first loss that is new to it, it is not known. */
static struct series *places_of(struct cpus *c, uint32_t thread)
{
	struct series *s = c ? series_at(&c->threads, thread) : NULL;

	if (s && s->losses < c->n_losses) {
		change(s, c->losses[s->losses], CPU_NONE, CPU_NONE);
		s->losses = c->n_losses;
	}
	return s;
}

void cpus_place(struct cpus *c, uint32_t thread, uint64_t from_ns, uint32_t cpu)
{
	struct series *s = places_of(c, thread);

	/* While changes are being lost, the next one may be among them. */
	if (s)
		change(s, from_ns, from_ns < c->lossy_until_ns ? CPU_NONE : cpu, CPU_NONE);
}

void cpus_lost(struct cpus *c, uint64_t from_ns, uint64_t last_ns)
{
	if (!c)
		return;
	XAPPEND(c->losses, c->n_losses, c->cap_losses) = from_ns;
	if (c->lossy_until_ns <= last_ns)
		c->lossy_until_ns = last_ns < UINT64_MAX ? last_ns + 1 : last_ns;
}

void cpus_arrive(struct cpus *c, uint32_t thread, uint64_t ready_ns, uint64_t now_ns, uint32_t cpu)
{
	struct series *s = places_of(c, thread);
	struct change last = { 0, CPU_NONE };

	if (!s)
		return;
	if (s->n)
		last = s->at[s->n - 1];
	if (last.to == cpu)
		return;
	if (ready_ns < last.from_ns)
		ready_ns = last.from_ns;
	if (ready_ns < c->lossy_until_ns)
		ready_ns = c->lossy_until_ns;
	if (ready_ns > now_ns)
		return;
	if (last.to == CPU_NONE) {
		change(s, ready_ns, cpu, CPU_NONE);
	} else {
		/* It moved, and when is not known. */
		change(s, ready_ns, CPU_NONE, CPU_NONE);
		change(s, now_ns, cpu, CPU_NONE);
	}
}

void cpus_recorder(struct cpus *c, uint32_t cpu, uint64_t from_ns, uint64_t to_ns)
{
	struct spans *s;
	struct span *last;

	while (c && c->n_recorder <= cpu)
		XAPPEND(c->recorder, c->n_recorder, c->cap_recorder) = (struct spans) { .n = 0 };
	if (!c || from_ns >= to_ns)
		return;
	s = &c->recorder[cpu];
	/* A damaged trace may have overlapping ones. */
	for (; s->n && s->at[s->n - 1].to_ns >= from_ns; s->n--) {
		last = &s->at[s->n - 1];
		from_ns = last->from_ns < from_ns ? last->from_ns : from_ns;
	}
	XAPPEND(s->at, s->n, s->cap) = (struct span) { from_ns, to_ns };
	return;
}

static void append(struct series *s, uint64_t from_ns, uint32_t to)
{
	XAPPEND(s->at, s->n, s->cap) = (struct change) { from_ns, to };
}

/* Appends an idle time of a CPU, and what of it the recorder had; *next: spans before it are over.
 */
static void append_idle(struct series *to, const struct spans *spans, size_t *next,
			uint64_t from_ns, uint64_t until_ns)
{
	while (*next < spans->n && spans->at[*next].to_ns <= from_ns)
		++*next;
	for (size_t i = *next; from_ns < until_ns; i++) {
		const struct span *s = i < spans->n ? &spans->at[i] : NULL;

		if (!s || s->from_ns > from_ns)
			append(to, from_ns, THREAD_IDLE);
		if (!s || s->from_ns >= until_ns)
			break;
		append(to, s->from_ns > from_ns ? s->from_ns : from_ns, CPU_RAN_RECORDER);
		from_ns = s->to_ns;
	}
}

/* Says where a CPU ran the recorder, which was idle so far. */
static void split_idle(struct series *s, const struct spans *spans)
{
	struct series to = { .n = 0 };
	size_t next = 0;

	for (size_t i = 0; i < s->n; i++) {
		uint64_t until_ns = i + 1 < s->n ? s->at[i + 1].from_ns : UINT64_MAX;

		if (s->at[i].to == THREAD_IDLE)
			append_idle(&to, spans, &next, s->at[i].from_ns, until_ns);
		else
			append(&to, s->at[i].from_ns, s->at[i].to);
	}
	free(s->at);
	*s = to;
}

void cpus_finish(struct cpus *c, uint32_t threads)
{
	for (uint32_t i = 0; c && i < threads; i++)
		places_of(c, i);
	for (size_t i = 0; c && i < c->n_recorder && i < c->cpus.n; i++)
		if (c->recorder[i].n)
			split_idle(&c->cpus.at[i], &c->recorder[i]);
}

uint32_t cpus_number(const struct cpus *c)
{
	return (uint32_t)c->cpus.n;
}

const struct change *cpus_ran(const struct cpus *c, uint32_t cpu, size_t *n)
{
	*n = cpu < c->cpus.n ? c->cpus.at[cpu].n : 0;
	return *n ? c->cpus.at[cpu].at : NULL;
}

uint32_t cpus_queue(const struct cpus *c, uint32_t thread, uint64_t from_ns, uint64_t *until_ns)
{
	const struct series *s = thread < c->threads.n ? &c->threads.at[thread] : NULL;
	size_t i = s ? LOWER_BOUND(k, s->n, s->at[k].from_ns <= from_ns) : 0;

	*until_ns = s && i < s->n ? s->at[i].from_ns : UINT64_MAX;
	return i ? s->at[i - 1].to : CPU_NONE;
}
