// SPDX-License-Identifier: GPL-2.0-or-later
#include "processes.h"
#include "common/intern.h"
#include "common/xalloc.h"

#include <stdlib.h>
#include <string.h>

struct processes {
	const struct timelines *timelines;
	uint32_t *leader; /* by thread */
	/* By name (string id): processes of several names have such threads. NULL: not known. */
	bool *is_of_several;
	uint32_t n_names;
};

/*
 * Threads are numbered in the order in which they were first seen. A thread takes the last leader
 * before it, or the next one if there is none (a second call, backwards).
 */
static void find_leaders(struct processes *p, bool backwards, struct pair_table *last)
{
	uint32_t n = timelines_threads(p->timelines);

	pair_table_clear(last, sizeof(uint32_t));
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = backwards ? n - 1 - k : k;
		const struct thread *th = timelines_thread(p->timelines, i);
		uint32_t *leader =
			th->tgid ? pair_table_at(last, th->tgid, 0, sizeof(*leader)) : NULL;

		if (!th->tgid)
			continue;
		if (th->tid == th->tgid)
			*leader = i + 1;
		if (p->leader[i] == THREAD_NONE && *leader)
			p->leader[i] = *leader - 1;
	}
}

/* Of a text: the process's name of which a thread is called so (a text; 0: none). */
struct caller {
	uint32_t process;
	bool several;
};

struct callers {
	struct intern texts;
	struct caller *of;
	size_t cap;
};

static uint32_t text_id(struct callers *c, const struct processes *p, uint32_t string)
{
	const char *text = trace_string(timelines_trace(p->timelines), string);
	bool is_new;
	uint32_t id = xintern(&c->texts, text, strlen(text), &is_new);

	XGROW(c->of, id, c->cap);
	if (is_new)
		c->of[id] = (struct caller) { .process = 0 };
	return id;
}

static struct caller *text_of(struct callers *c, const struct processes *p, uint32_t string)
{
	uint32_t id = text_id(c, p, string);

	return &c->of[id];
}

/* A process's first thread is called as who made it until it has a name of its own: the last one. */
static void meet_names(struct callers *c, const struct processes *p, uint32_t thread)
{
	uint32_t process = text_id(c, p, process_name(p, thread));
	uint32_t last = timelines_thread(p->timelines, thread)->renames;

	for (uint32_t k = p->leader[thread] == thread ? last : 0; k <= last; k++) {
		struct caller *of = text_of(c, p, timelines_nth_name(p->timelines, thread, k));

		of->several |= of->process && of->process != process;
		of->process = process;
	}
}

void processes_find_names(struct processes *p)
{
	uint32_t n = timelines_threads(p->timelines);
	struct callers c = { .of = NULL };

	for (uint32_t i = 0; i < n; i++)
		if (p->leader[i] != THREAD_NONE)
			meet_names(&c, p, i);
	p->n_names = trace_strings_end(timelines_trace(p->timelines));
	p->is_of_several = xcalloc((size_t)p->n_names + 1, sizeof(*p->is_of_several));
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k <= timelines_thread(p->timelines, i)->renames; k++) {
			uint32_t name = timelines_nth_name(p->timelines, i, k);

			p->is_of_several[name] = text_of(&c, p, name)->several;
		}
	intern_free(&c.texts);
	free(c.of);
}

uint32_t process_that_tells(const struct processes *p, uint32_t thread, uint32_t name)
{
	const struct trace *t = timelines_trace(p->timelines);
	uint32_t process;

	if (!name || name >= p->n_names || !p->is_of_several[name] ||
	    thread >= timelines_threads(p->timelines) || p->leader[thread] == thread)
		return 0;
	process = process_name(p, thread);
	return strcmp(trace_string(t, process), trace_string(t, name)) ? process : 0;
}

void processes_new(struct processes **out, const struct timelines *tl)
{
	struct processes *p = xcalloc(1, sizeof(*p));
	uint32_t n = timelines_clients_end(tl);
	struct pair_table last = { .cap = 0 };

	*out = NULL;
	p->timelines = tl;
	p->leader = xmalloc(((size_t)n + 1) * sizeof(*p->leader));
	for (uint32_t i = 0; i < n; i++)
		p->leader[i] = THREAD_NONE;
	find_leaders(p, false, &last);
	find_leaders(p, true, &last);
	pair_table_free(&last);
	for (uint32_t i = timelines_threads(tl); i < n; i++)
		if (timelines_thread(tl, i)->parent != THREAD_NONE)
			p->leader[i] = p->leader[timelines_thread(tl, i)->parent];
	*out = p;
}

void processes_free(struct processes *p)
{
	if (!p)
		return;
	free(p->leader);
	free(p->is_of_several);
	free(p);
}

uint32_t process_leader(const struct processes *p, uint32_t thread)
{
	return p->leader[thread];
}

uint32_t process_name(const struct processes *p, uint32_t thread)
{
	uint32_t leader = p->leader[thread];

	if (leader == THREAD_NONE)
		return 0;
	return timelines_nth_name(p->timelines, leader,
				  timelines_thread(p->timelines, leader)->renames);
}
