// SPDX-License-Identifier: GPL-2.0-or-later
#include "path_processes.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "common/xalloc.h"
#include "polled_children.h"
#include "timeline/processes.h"

/* A process only waits for another one if that has so much of its time, in percent. */
#define WAITS_FOR_ONE 90

/* Labels of links: of a thread of a process that is not looked at; of one of that leader. */
#define LABEL_OTHER 1
#define LABEL_OF(leader) ((leader) + 2)

/* Time that a process had, of one stretch. */
struct had_time {
	uint32_t leader;
	enum chain_end end;
	uint64_t ns;
};

struct finder {
	const struct timelines *timelines;
	struct processes *processes;
	bool *started; /* by thread: its process is the one whose path it is, or below it */
	struct chains chains;
	struct polled_children *children;
	uint64_t *ns; /* by node of chains: its time, without that of nodes below */
	size_t cap_ns;
	struct had_time *had; /* of the stretch that is looked at */
	size_t n_had, cap_had;
};

/* ---- the chains ------------------------------------------------------------------------------ */

static uint32_t leader_of(const struct finder *f, uint32_t thread)
{
	uint32_t leader = process_leader(f->processes, thread);

	return leader == THREAD_NONE ? thread : leader;
}

/* Threads are numbered after the ones that started them. */
static void mark_started(struct finder *f, uint32_t thread)
{
	uint32_t n = timelines_threads(f->timelines), leader = leader_of(f, thread);

	f->started = xcalloc((size_t)n + 1, sizeof(*f->started));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t parent = timelines_thread(f->timelines, i)->parent;

		f->started[i] = leader_of(f, i) == leader || i == thread ||
				(parent < n && f->started[parent]);
	}
}

static uint32_t label_of_thread(const struct finder *f, uint32_t thread)
{
	return thread < timelines_threads(f->timelines) && f->started[thread]
		       ? LABEL_OF(leader_of(f, thread))
		       : LABEL_OTHER;
}

/* A chain_user's. */
static uint32_t label_link(void *arg, const struct link *l)
{
	return label_of_thread(arg, l->waker);
}

/* A chain_sink's. */
static void add(void *arg, uint32_t node, struct amount_key key, uint64_t amount)
{
	struct finder *f = arg;

	if (key.kind != AMOUNT_TIME)
		return;
	XGROW_ZEROED(f->ns, node, f->cap_ns);
	f->ns[node] += amount;
}

/* For polled_life_explain(). */
static uint32_t head_of_life(void *arg, uint32_t thread, uint64_t at_ns)
{
	struct finder *f = arg;

	(void)at_ns;
	return chains_head(&f->chains, label_of_thread(f, thread));
}

/* For polled_life_explain(): of a child for which the first thread waits. */
static uint32_t head_of_child(void *arg, const struct polled_child *of, uint32_t parent,
			      uint64_t at_ns)
{
	struct finder *f = arg;
	uint32_t head = head_of_life(f, parent, at_ns);

	return chains_link_node(&f->chains, head, label_of_thread(f, of->child));
}

/* ---- the processes --------------------------------------------------------------------------- */

static bool is_above(const struct path_processes *p, uint32_t number, uint32_t leader)
{
	for (; number; number = p->at[number].above)
		if (p->at[number].leader == leader)
			return true;
	return p->at[0].leader == leader;
}

/*
 * One process for each way to it: links of threads that are not looked at, and of those of a
 * process that is in the chain already, are left out. A node has a higher number than the one
 * before it.
 */
static void make_processes(struct path_processes *p, const struct finder *f)
{
	const struct pairs *nodes = &f->chains.nodes;
	uint32_t *of = xcalloc((size_t)nodes->n + 1, sizeof(*of)); /* by node */
	struct pairs known = { .n = 0 };			   /* (number above, leader) */
	int is_new;

	for (uint32_t i = 1; i <= nodes->n; i++) {
		uint32_t above = of[nodes->at[i].a], leader = nodes->at[i].b - LABEL_OF(0);

		of[i] = above;
		if (nodes->at[i].b != LABEL_OTHER && !is_above(p, above, leader)) {
			of[i] = pairs_id_new(&known, above, leader, &is_new);
			if (is_new)
				p->at[p->n++] = (struct path_process) { above, leader, 0 };
		}
		p->at[of[i]].ns += i < f->cap_ns ? f->ns[i] : 0;
	}
	for (uint32_t i = p->n; i-- > 1;)
		p->at[p->at[i].above].ns += p->at[i].ns;
	pairs_free(&known);
	free(of);
}

static void finder_init(struct finder *f, const struct timelines *tl, const struct options *o,
			uint32_t thread,
			void (*sink)(void *, uint32_t, struct amount_key, uint64_t))
{
	struct chain_user user = { .sink = { .arg = f, .add = sink },
				   .label = label_link,
				   .identity = chain_identity_is_label };

	*f = (struct finder) { .timelines = tl };
	processes_new(&f->processes, tl);
	mark_started(f, thread);
	chains_init(&f->chains, tl, o, &user);
	polled_children_new(&f->children, &f->chains, thread);
}

static void finder_free(struct finder *f)
{
	polled_children_free(f->children);
	chains_free(&f->chains);
	processes_free(f->processes);
	free(f->started);
	free(f->ns);
	free(f->had);
}

static void explain(struct finder *f, uint64_t from_ns, uint64_t to_ns)
{
	polled_life_explain(&f->chains, f->children, from_ns, to_ns,
			    &(struct polled_heads) { f, head_of_life, head_of_child });
}

void path_processes_find(struct path_processes *p, const struct timelines *tl,
			 const struct options *o, uint32_t thread, uint64_t from_ns, uint64_t to_ns)
{
	struct finder f;

	finder_init(&f, tl, o, thread, add);
	explain(&f, from_ns, to_ns);
	*p = (struct path_processes) { .n = 0 };
	p->at = xcalloc((size_t)f.chains.nodes.n + 1, sizeof(*p->at));
	p->at[p->n++].leader = leader_of(&f, thread);
	make_processes(p, &f);
	finder_free(&f);
}

void path_processes_free(struct path_processes *p)
{
	free(p->at);
	*p = (struct path_processes) { .n = 0 };
}

/* ---- the longest steps ----------------------------------------------------------------------- */

/*
 * By process: the one right below it with most time, if it has nearly all of it; 0: none. NULL: out
 * of memory.
 */
static uint32_t *find_only_ones(const struct path_processes *p)
{
	uint32_t *only = xcalloc((size_t)p->n + 1, sizeof(*only));

	for (uint32_t i = 1; i < p->n; i++) {
		uint32_t above = p->at[i].above;

		if (100 * p->at[i].ns >= WAITS_FOR_ONE * p->at[above].ns &&
		    p->at[i].ns > p->at[only[above]].ns * !!only[above])
			only[above] = i;
	}
	return only;
}

static bool has_below(const struct path_processes *p, uint32_t number)
{
	for (uint32_t i = number + 1; i < p->n; i++)
		if (p->at[i].above == number)
			return true;
	return false;
}

static int by_leader(const void *a, const void *b)
{
	return compare_numbers(((const struct long_step *)a)->leader,
			       ((const struct long_step *)b)->leader);
}

static int longest_first(const void *a, const void *b)
{
	int c = compare_numbers(((const struct long_step *)b)->ns,
				((const struct long_step *)a)->ns);

	return c ? c : by_leader(a, b);
}

struct long_step *path_processes_steps(const struct path_processes *p, size_t *n)
{
	uint32_t *only = find_only_ones(p), top = 0;
	struct long_step *s = xcalloc((size_t)p->n + 1, sizeof(*s));
	size_t n_found = 0;

	*n = !only || !s;
	while (!*n && only[top] && has_below(p, only[top]))
		top = only[top];
	for (uint32_t i = 1; i < p->n && !*n; i++) {
		uint32_t at = i;

		if (p->at[i].above != top || !p->at[i].ns)
			continue;
		while (only[at])
			at = only[at];
		s[n_found++] = (struct long_step) { p->at[at].leader, p->at[at].ns };
	}
	free(only);
	if (!n_found) {
		free(s);
		return NULL;
	}
	qsort(s, n_found, sizeof(*s), by_leader);
	for (size_t i = 0; i < n_found; i++) {
		if (*n && s[*n - 1].leader == s[i].leader)
			s[*n - 1].ns += s[i].ns;
		else
			s[(*n)++] = s[i];
	}
	qsort(s, *n, sizeof(*s), longest_first);
	return s;
}

/* ---- when ------------------------------------------------------------------------------------ */

static bool node_has_above(const struct pairs *nodes, uint32_t node, uint32_t label)
{
	while ((node = nodes->at[node].a))
		if (nodes->at[node].b == label)
			return true;
	return false;
}

/* The process that a node's time belongs to, as in make_processes(); THREAD_NONE: none. */
static uint32_t leader_of_node(const struct finder *f, uint32_t node)
{
	const struct pairs *nodes = &f->chains.nodes;

	while (node &&
	       (nodes->at[node].b == LABEL_OTHER || node_has_above(nodes, node, nodes->at[node].b)))
		node = nodes->at[node].a;
	return node ? nodes->at[node].b - LABEL_OF(0) : THREAD_NONE;
}

/* A chain_sink's. */
static void add_had(void *arg, uint32_t node, struct amount_key key, uint64_t amount)
{
	struct finder *f = arg;

	if (key.kind != AMOUNT_TIME)
		return;
	XAPPEND(f->had, f->n_had, f->cap_had) =
		(struct had_time) { leader_of_node(f, node), key.end, amount };
}

static int by_process_and_end(const void *pa, const void *pb)
{
	const struct had_time *a = pa, *b = pb;
	int c = compare_numbers(a->leader, b->leader);

	return c ? c : compare_numbers(a->end, b->end);
}

/* Of what is in f->had, which it sorts: the process that had most, and what most of that was. */
static struct had_time most_of(struct finder *f)
{
	struct had_time most = { THREAD_NONE, CHAIN_UNKNOWN, 0 };
	size_t n;

	if (f->n_had)
		qsort(f->had, f->n_had, sizeof(*f->had), by_process_and_end);
	for (size_t i = 0; i < f->n_had; i += n) {
		struct had_time all = { f->had[i].leader, f->had[i].end, 0 };
		uint64_t most_ns = 0, ns = 0;

		for (n = 0; i + n < f->n_had && f->had[i + n].leader == all.leader; n++) {
			const struct had_time *h = &f->had[i + n];

			ns = n && h[-1].end == h->end ? ns + h->ns : h->ns;
			if (ns > most_ns) {
				most_ns = ns;
				all.end = h->end;
			}
			all.ns += h->ns;
		}
		if (all.ns > most.ns)
			most = all;
	}
	return most;
}

struct path_stretch *path_processes_stretches(const struct timelines *tl, const struct options *o,
					      uint32_t thread, uint64_t from_ns, uint64_t to_ns,
					      uint32_t parts, size_t *n)
{
	struct path_stretch *s = xcalloc(parts, sizeof(*s));
	struct finder f;

	*n = 0;
	finder_init(&f, tl, o, thread, add_had);
	for (uint32_t i = 0; i < parts; i++) {
		uint64_t from = from_ns + (to_ns - from_ns) / parts * i;
		uint64_t to = i + 1 < parts ? from + (to_ns - from_ns) / parts : to_ns;
		struct path_stretch *last = *n ? &s[*n - 1] : NULL;
		struct had_time most;

		if (from >= to)
			continue;
		f.n_had = 0;
		explain(&f, from, to);
		most = most_of(&f);
		if (last && last->leader == most.leader && last->end == most.end)
			last->to_ns = to;
		else
			s[(*n)++] = (struct path_stretch) { from, to, most.leader, most.end };
	}
	finder_free(&f);
	return s;
}
