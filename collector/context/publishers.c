// SPDX-License-Identifier: GPL-2.0-or-later
#include "publishers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/grow.h"
#include "common/lower_bound.h"
#include "files/owners.h"
#include "files/process_context.h"
#include "files/process_status.h"
#include "kernel/clock.h"
#include "names/reader.h"

/* A helper that takes longer has failed. */
#define ANSWER_NS 1000000000u
/* Keys may be published later: the process is asked again, each time after twice as long. */
#define AGAIN_NS 250000000u
#define AGAIN_MAX_NS 8000000000u
/* Copying what they are in may take this part of the time. */
#define COPY_PART 10u
/* What has waited for so long at the end is told to be missing. */
#define LATE_NS 2000000000u

struct process {
	uint32_t tgid;
	uint32_t owner; /* of owners */
	struct wire_publisher at;
	uint64_t again_ns, pause_ns; /* when its keys are looked for; again_ns 0: they are known */
	bool was_asked, is_late;     /* is_late: it is counted as missed */
};

struct publishers {
	struct helpers *helpers;
	publishers_fn fn;
	void *ctx;
	struct process *processes; /* sorted by tgid */
	struct owners owners;	   /* users, by their processes and one whose keys are read */
	size_t n_processes, cap_processes;
	struct publishers_count count;
	uint64_t missed; /* that were not asked in time */

	struct reader *reader; /* of keys; NULL: none is at work */
	uint32_t of, owner;    /* the process whose they are, and its owner */
	uint64_t from_ns, until_ns;
	uint64_t look_ns; /* not before that */
};

/* ---- processes ------------------------------------------------------------------------------ */

static size_t place_of(const struct publishers *p, uint32_t tgid)
{
	return LOWER_BOUND(k, p->n_processes, p->processes[k].tgid < tgid);
}

static struct process *find_process(struct publishers *p, uint32_t tgid)
{
	size_t k = place_of(p, tgid);

	return k < p->n_processes && p->processes[k].tgid == tgid ? &p->processes[k] : NULL;
}

static void tell(struct publishers *p, const struct process *of)
{
	p->fn(p->ctx, of->tgid, &of->at);
}

/* A process that is not known yet; NULL: there is no room for it. */
static struct process *new_process(struct publishers *p, uint32_t tgid, uint64_t owner_key)
{
	uint32_t owner = owners_find(&p->owners, owner_key);
	size_t k = place_of(p, tgid);

	if (!GROW(p->processes, p->n_processes, p->cap_processes) ||
	    !owners_take(&p->owners, owner, 1, WIRE_PUBLISHERS)) {
		p->count.left_out++;
		return NULL;
	}
	memmove(&p->processes[k + 1], &p->processes[k],
		(p->n_processes++ - k) * sizeof(*p->processes));
	p->count.processes++;
	p->processes[k] = (struct process) { .tgid = tgid, .owner = owner };
	return &p->processes[k];
}

/* The process publishes as that says; a variable found before counts no more. */
static void publish(struct publishers *p, struct process *of, const struct wire_publisher *at)
{
	of->at = *at;
	of->again_ns = clock_now_ns();
	of->was_asked = false;
	of->pause_ns = AGAIN_NS;
	tell(p, of);
}

static void mapped(void *ctx, uint32_t tgid, uint64_t bias, const struct reader_parts *parts)
{
	const struct elftls *variable = &parts->context;
	struct publishers *p = ctx;
	struct process *of;
	struct wire_publisher at = {
		.at = { .slot = variable->slot + bias,
			.offset = variable->offset,
			.tls = variable->tls },
		.route = WIRE_NO_KEY,
	};

	if (!parts->has_context)
		return;
	of = find_process(p, tgid);
	if (!of)
		of = new_process(p, tgid, process_owner_key(tgid));
	if (of)
		publish(p, of, &at);
}

static void gone(void *ctx, uint32_t tgid)
{
	struct publishers *p = ctx;
	struct process *of = find_process(p, tgid);

	if (!of)
		return;
	owners_give(&p->owners, of->owner, 1);
	memmove(of, of + 1, (size_t)(p->processes + --p->n_processes - of) * sizeof(*p->processes));
	p->fn(p->ctx, tgid, NULL);
}

static void forked(void *ctx, uint32_t tgid, uint32_t parent)
{
	const struct process *from = find_process(ctx, parent);
	struct publishers *p = ctx;
	struct wire_publisher at;
	struct process *of;

	if (!from || find_process(p, tgid))
		return;
	at = from->at;
	of = new_process(p, tgid, p->owners.list[from->owner].key);
	if (of)
		publish(p, of, &at);
}

const struct mapped_files_user publishers_user = { mapped, forked, gone };

/* ---- keys ----------------------------------------------------------------------------------- */

/* A process whose keys are to be looked for: of the owner for whom that took the least time. */
static struct process *next_process(struct publishers *p, uint64_t now_ns)
{
	struct process *next = NULL;

	for (size_t i = 0; i < p->n_processes; i++) {
		struct process *of = &p->processes[i];
		uint64_t spent_ns = p->owners.list[of->owner].spent_ns;

		if (!of->again_ns || of->again_ns > now_ns)
			continue;
		if (!next || spent_ns < p->owners.list[next->owner].spent_ns ||
		    (of->owner == next->owner && of->again_ns < next->again_ns))
			next = of;
	}
	return next;
}

/* Begins with a process whose keys are to be looked for, if there is one. */
static void look_for_keys(struct publishers *p, uint64_t now_ns)
{
	struct process *of = now_ns < p->look_ns ? NULL : next_process(p, now_ns);
	uint64_t took_ns;
	int fd;

	if (!of)
		return;
	of->was_asked = true;
	of->again_ns = now_ns + of->pause_ns;
	if (of->pause_ns < AGAIN_MAX_NS)
		of->pause_ns *= 2;
	fd = process_context_copy(of->tgid);
	if (fd >= 0 && !reader_open_keys(&p->reader, p->helpers, fd)) {
		p->of = of->tgid;
		p->owner = of->owner;
		owners_add(&p->owners, p->owner, 1);
		p->from_ns = clock_now_ns();
		p->until_ns = p->from_ns + ANSWER_NS;
	}
	if (fd >= 0)
		close(fd);
	took_ns = clock_now_ns() - now_ns;
	owners_spend(&p->owners, of->owner, took_ns);
	p->look_ns = now_ns + took_ns * COPY_PART;
}

static int take_keys(struct publishers *p, uint64_t wait_ns)
{
	struct process *of = find_process(p, p->of);
	int route = reader_route(p->reader, wait_ns);

	if (route < 0)
		return route;
	if (!of || route == (int)WIRE_NO_KEY)
		return 0;
	of->at.route = (uint32_t)route;
	of->again_ns = 0;
	p->count.routes++;
	tell(p, of);
	return 0;
}

/* ---- steps ---------------------------------------------------------------------------------- */

static void take_answer(struct publishers *p, uint64_t wait_ns)
{
	if (take_keys(p, wait_ns) == -EAGAIN && clock_now_ns() < p->until_ns)
		return;
	reader_close(p->reader);
	p->reader = NULL;
	owners_spend(&p->owners, p->owner, clock_now_ns() - p->from_ns);
	owners_give(&p->owners, p->owner, 1);
}

static void step(struct publishers *p, uint64_t wait_ns)
{
	if (p->reader)
		take_answer(p, wait_ns);
	if (!p->reader)
		look_for_keys(p, clock_now_ns());
}

void publishers_step(struct publishers *p)
{
	step(p, 0);
}

bool publishers_is_busy(const struct publishers *p)
{
	return p->reader;
}

struct publishers_count publishers_count(const struct publishers *p)
{
	return p->count;
}

uint64_t publishers_missed(struct publishers *p)
{
	uint64_t now_ns = clock_now_ns();

	for (size_t i = 0; i < p->n_processes; i++) {
		struct process *of = &p->processes[i];

		if (of->was_asked || of->is_late || now_ns - of->again_ns <= LATE_NS)
			continue;
		of->is_late = true;
		p->missed++;
	}
	return p->missed + p->count.left_out;
}

/* Whether a process was not asked for its keys yet. */
static bool is_key_wanted(const struct publishers *p)
{
	for (size_t i = 0; i < p->n_processes; i++)
		if (!p->processes[i].was_asked)
			return true;
	return false;
}

void publishers_begin(struct publishers *p, uint64_t wait_ns)
{
	uint64_t end_ns = clock_now_ns() + wait_ns;

	while ((p->reader || is_key_wanted(p)) && clock_now_ns() < end_ns)
		step(p, wait_ns / 10);
}

/* ---- beginning and end ---------------------------------------------------------------------- */

int publishers_new(struct publishers **out, struct helpers *helpers, publishers_fn fn, void *ctx)
{
	struct publishers *p = *out = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->helpers = helpers;
	p->fn = fn;
	p->ctx = ctx;
	return 0;
}

void publishers_free(struct publishers *p)
{
	if (!p)
		return;
	reader_close(p->reader);
	free(p->processes);
	free(p);
}
