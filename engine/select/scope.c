// SPDX-License-Identifier: GPL-2.0-or-later
#include "scope.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/processes.h"
#include "common/xalloc.h"

#define COMM_MAX 15 /* bytes of a thread's name that the kernel keeps */

bool process_is_called(const char *process, uint32_t id, const char *name)
{
	size_t len = strlen(process);
	char with_id[16];

	snprintf(with_id, sizeof(with_id), "/%" PRIu32, id);
	return !strcmp(process, name) || (len == COMM_MAX && !strncmp(process, name, COMM_MAX)) ||
	       (!strncmp(process, name, len) && !strcmp(name + len, with_id));
}

/* Processes that are chosen by -p or --tree-of. */
struct chosen {
	const struct process_list *list;
	struct id_list own; /* ids that they have in their PID namespaces */
	uint8_t *named;	    /* by leader: NOT_ASKED, or whether it has a name of the list */
};

enum { NOT_ASKED, NO, YES };

/* Whether it has, or had, one of the names. */
static bool had_name(const struct timelines *tl, uint32_t leader, const struct path_list *names)
{
	const struct trace *t = timelines_trace(tl);

	for (uint32_t k = 0; k <= timelines_thread(tl, leader)->renames; k++)
		for (size_t i = 0; i < names->n; i++)
			if (process_is_called(trace_string(t, timelines_nth_name(tl, leader, k)),
					      timelines_thread(tl, leader)->tid, names->paths[i]))
				return true;
	return false;
}

/* True if the process of the thread is called so: it may have many threads and many names. */
static bool has_name(const struct timelines *tl, const struct processes *p, uint32_t thread,
		     const struct chosen *c)
{
	uint32_t leader = c->named ? process_leader(p, thread) : THREAD_NONE;

	if (leader == THREAD_NONE)
		return false;
	if (c->named[leader] == NOT_ASKED)
		c->named[leader] = had_name(tl, leader, &c->list->names) ? YES : NO;
	return c->named[leader] == YES;
}

/* Where the process is not known, the thread may at least be its leader. */
static uint32_t process_of(const struct thread *th)
{
	return th->tgid ? th->tgid : th->tid;
}

static bool has_process(const struct timelines *tl, uint32_t id)
{
	for (uint32_t i = 0; i < timelines_threads(tl); i++)
		if (process_of(timelines_thread(tl, i)) == id)
			return true;
	return false;
}

static bool has_own_id(const struct timelines *tl, const struct processes *p, uint32_t thread,
		       const struct id_list *l)
{
	uint32_t leader = l->n && p ? process_leader(p, thread) : THREAD_NONE;

	return leader != THREAD_NONE && timelines_thread(tl, leader)->own_id &&
	       id_list_has(l, timelines_thread(tl, leader)->own_id);
}

static bool is_chosen(const struct timelines *tl, const struct processes *p, uint32_t thread,
		      const struct chosen *c)
{
	return id_list_has(&c->list->ids, process_of(timelines_thread(tl, thread))) ||
	       has_name(tl, p, thread, c) || has_own_id(tl, p, thread, &c->own);
}

/*
 * The threads of the processes, and all that they started. A process that got a used id later is
 * not meant: who started it is known. A thread is numbered after the one that started it, and a
 * client, which belongs to its server, after all.
 */
static void mark_trees(const struct timelines *tl, const struct options *o,
		       const struct processes *p, const struct chosen *trees, bool *in)
{
	for (uint32_t i = 0; i < timelines_clients_end(tl); i++) {
		const struct thread *th = timelines_thread(tl, i);

		in[i] = is_chosen(tl, p, i, trees) ||
			(o->command && process_of(th) == o->command && th->parent == THREAD_NONE) ||
			(th->parent != THREAD_NONE && in[th->parent]);
	}
}

/*
 * The ids of a list that no process of the machine has, or all if control groups are chosen as
 * well: they may mean processes of other PID namespaces, which know themselves by these.
 */
static void choose(struct chosen *c, const struct timelines *tl, const struct options *o,
		   const struct process_list *l)
{
	*c = (struct chosen) { .list = l };
	for (size_t i = 0; i < l->ids.n; i++)
		if (o->groups.n || !has_process(tl, l->ids.ids[i]))
			id_list_add(&c->own, l->ids.ids[i]);
	if (l->names.n)
		c->named = xcalloc((size_t)timelines_clients_end(tl) + 1, 1);
}

static void choose_end(struct chosen *c)
{
	free(c->own.ids);
	free(c->named);
}

static bool is_empty(const struct process_list *l)
{
	return !l->ids.n && !l->names.n;
}

void scope_find(bool **out, const struct timelines *tl, const struct options *o)
{
	bool trees = o->command || !is_empty(&o->trees);
	struct chosen in_process, in_tree;
	uint32_t n = timelines_clients_end(tl);
	bool *in = xcalloc((size_t)n + 1, sizeof(*in));
	struct processes *p = NULL;

	*out = NULL;
	choose(&in_process, tl, o, &o->processes);
	choose(&in_tree, tl, o, &o->trees);
	if (in_process.named || in_tree.named || in_process.own.n || in_tree.own.n)
		processes_new(&p, tl);
	if (trees)
		mark_trees(tl, o, p, &in_tree, in);
	for (uint32_t i = 0; i < n; i++) {
		const struct thread *th = timelines_thread(tl, i);

		/* Trees and processes add up; -t narrows them down. */
		if (!is_empty(&o->processes))
			in[i] |= is_chosen(tl, p, i, &in_process);
		else if (!trees)
			in[i] = true;
		if ((o->tids.n && !id_list_has(&o->tids, th->tid)) ||
		    (o->no_kthreads && th->flags & THREAD_KTHREAD))
			in[i] = false;
	}
	processes_free(p);
	choose_end(&in_process);
	choose_end(&in_tree);
	*out = in;
}
