// SPDX-License-Identifier: GPL-2.0-or-later
#include "publishers.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/grow.h"
#include "files/process_context.h"
#include "kernel/clock.h"
#include "names/reader.h"

/* A helper that takes longer has failed. */
#define ANSWER_NS 1000000000u
/* Keys may be published later: the process is asked again, each time after twice as long. */
#define AGAIN_NS 250000000u
#define AGAIN_FIRST_NS 1u
#define AGAIN_MAX_NS 8000000000u

struct process {
	uint32_t tgid;
	struct wire_publisher at;
	uint64_t again_ns, pause_ns; /* when its keys are looked for; again_ns 0: they are known */
};

struct publishers {
	struct helpers *helpers;
	publishers_fn fn;
	void *ctx;
	struct process *processes;
	size_t n_processes, cap_processes;
	struct publishers_count count;

	struct reader *reader; /* of keys; NULL: none is at work */
	uint32_t of;	       /* the process whose they are */
	uint64_t until_ns;
};

/* ---- processes ------------------------------------------------------------------------------ */

static struct process *find_process(struct publishers *p, uint32_t tgid)
{
	for (size_t i = 0; i < p->n_processes; i++)
		if (p->processes[i].tgid == tgid)
			return &p->processes[i];
	return NULL;
}

static void tell(struct publishers *p, const struct process *of)
{
	p->fn(p->ctx, of->tgid, &of->at);
}

/* The process publishes as that says; a variable found before counts no more. */
static void add_process(struct publishers *p, uint32_t tgid, const struct wire_publisher *at)
{
	struct process *of = find_process(p, tgid);

	if (!of && (p->n_processes >= WIRE_PUBLISHERS ||
		    !GROW(p->processes, p->n_processes, p->cap_processes)))
		return;
	if (!of) {
		of = &p->processes[p->n_processes++];
		p->count.processes++;
	}
	*of = (struct process) {
		.tgid = tgid, .at = *at, .again_ns = AGAIN_FIRST_NS, .pause_ns = AGAIN_NS
	};
	tell(p, of);
}

static void mapped(void *ctx, uint32_t tgid, uint64_t bias, const struct reader_parts *parts)
{
	const struct elftls *variable = &parts->context;
	struct wire_publisher at = {
		.slot = variable->slot + bias,
		.offset = variable->offset,
		.tls = variable->tls,
		.route = WIRE_NO_KEY,
	};

	if (parts->has_context)
		add_process(ctx, tgid, &at);
}

static void gone(void *ctx, uint32_t tgid)
{
	struct publishers *p = ctx;
	struct process *of = find_process(p, tgid);

	if (!of)
		return;
	*of = p->processes[--p->n_processes];
	p->fn(p->ctx, tgid, NULL);
}

static void forked(void *ctx, uint32_t tgid, uint32_t parent)
{
	const struct process *of = find_process(ctx, parent);

	if (of) {
		struct wire_publisher at = of->at;

		add_process(ctx, tgid, &at);
	}
}

const struct mapped_files_user publishers_user = { mapped, forked, gone };

/* ---- keys ----------------------------------------------------------------------------------- */

/* Begins with a process whose keys are to be looked for, if there is one. */
static void look_for_keys(struct publishers *p, uint64_t now_ns)
{
	for (size_t i = 0; i < p->n_processes; i++) {
		struct process *of = &p->processes[i];
		int fd;

		if (!of->again_ns || of->again_ns > now_ns)
			continue;
		of->again_ns = now_ns + of->pause_ns;
		if (of->pause_ns < AGAIN_MAX_NS)
			of->pause_ns *= 2;
		fd = process_context_copy(of->tgid);
		if (fd < 0)
			return;
		if (!reader_open_keys(&p->reader, p->helpers, fd)) {
			p->of = of->tgid;
			p->until_ns = now_ns + ANSWER_NS;
		}
		close(fd);
		return;
	}
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

/* Whether a process was not asked for its keys yet. */
static bool is_key_wanted(const struct publishers *p)
{
	for (size_t i = 0; i < p->n_processes; i++)
		if (p->processes[i].again_ns == AGAIN_FIRST_NS)
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
