// SPDX-License-Identifier: GPL-2.0-or-later
#include "peers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pairs.h"
#include "base/text.h"
#include "common/grow.h"
#include "common/intern.h"

struct peers {
	const struct timelines *timelines;
	const struct trace *trace;
	struct kernel_stacks *kernel;
	bool knows_ends, knows_pipes;
	/* "OWN END|OTHER END", or for one that is not connected "OWN END|*". */
	struct intern ends;
	uint32_t *owners; /* process, by the ids of these; [0] unused */
	size_t n_owners, cap_owners;
	struct peer_list *of_pipe; /* by object */
};

struct peers *peers_new(const struct timelines *tl, struct kernel_stacks *k)
{
	struct peers *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->timelines = tl;
	p->trace = timelines_trace(tl);
	p->kernel = k;
	return p;
}

void peers_free(struct peers *p)
{
	if (!p)
		return;
	intern_free(&p->ends);
	free(p->owners);
	free(p->of_pipe);
	free(p);
}

/* ---- connections ---------------------------------------------------------------------------- */

/*
 * The other end of a connection, as that end itself writes it: "tcp 10.0.0.5:5432". A poll() of one
 * descriptor has it as its name.
 */
static void put_other_end(const struct peers *p, const struct trace_object *o, struct text_buf *b)
{
	const char *class = trace_string(p->trace, o->class), *own = trace_string(p->trace, o->own);
	size_t len = strlen(class);

	if (!strncmp(own, class, len) && own[len] == ' ') {
		text_puts(b, class);
		text_puts(b, " ");
	}
	text_puts(b, trace_string(p->trace, o->name));
}

/* "udp :53": it takes what comes from anybody. */
static bool is_unconnected(const char *other_end)
{
	const char *space = strchr(other_end, ' ');

	return space && space[1] == ':';
}

static void note_end(struct peers *p, const struct trace_object *o, struct text_buf *other,
		     struct text_buf *b)
{
	uint32_t id = 0, *owners;
	bool is_new = false;

	other->len = b->len = 0;
	put_other_end(p, o, other);
	text_puts(b, trace_string(p->trace, o->own));
	text_puts(b, "|");
	if (!other->len || other->failed || b->failed)
		return;
	/* Which process takes a listening socket's connections is known once it has taken one. */
	if (!is_unconnected(other->p))
		text_puts(b, other->p);
	else if (!strncmp(other->p, "udp ", 4))
		text_puts(b, "*");
	if (!b->failed)
		id = intern_id(&p->ends, b->p, b->len, &is_new);
	if (!id || !is_new)
		return;
	while (p->n_owners <= id) {
		owners = grow_array(p->owners, p->n_owners, &p->cap_owners, sizeof(*owners));
		if (!owners)
			return;
		p->owners = owners;
		owners[p->n_owners++] = 0;
	}
	p->owners[id] = o->owner;
}

static void find_ends(struct peers *p)
{
	struct text_buf other = { 0 }, b = { 0 };

	p->knows_ends = true;
	for (uint32_t i = 1; i < trace_objects_end(p->trace); i++) {
		const struct trace_object *o = trace_object(p->trace, i);

		if (o && o->own && o->owner)
			note_end(p, o, &other, &b);
	}
	text_free(&other);
	text_free(&b);
}

/* The process whose own end is "OWN END|OTHER END"; 0: not known. */
static uint32_t owner_of(const struct peers *p, const char *own, const char *other)
{
	struct text_buf b = { 0 };
	uint32_t id = 0;

	text_puts(&b, own);
	text_puts(&b, "|");
	text_puts(&b, other);
	if (!b.failed)
		id = intern_find(&p->ends, b.p, b.len);
	text_free(&b);
	return id < p->n_owners ? p->owners[id] : 0;
}

/* end, own: "udp ADDRESS:PORT". The process that receives at that port, at any address. */
static uint32_t owner_of_port(const struct peers *p, const char *end, const char *own)
{
	static const char *const any[] = { "udp 0.0.0.0", "udp [::]" };
	const char *port = strrchr(end, ':'), *own_port = strrchr(own, ':');
	uint32_t owner = 0;
	char text[64];

	/* Only if both ends have one address both are on this machine. */
	if (!port || !own_port || port - end != own_port - own ||
	    memcmp(end, own, (size_t)(port - end)) || strncmp(end, "udp ", 4))
		return 0;
	for (size_t i = 0; i < sizeof(any) / sizeof(any[0]) && !owner; i++) {
		snprintf(text, sizeof(text), "%s%.8s", any[i], port);
		owner = owner_of(p, text, "*");
	}
	return owner;
}

static uint32_t connected_to(struct peers *p, const struct trace_object *o)
{
	const char *own = trace_string(p->trace, o->own);
	struct text_buf other = { 0 };
	uint32_t owner = 0;

	if (!p->knows_ends)
		find_ends(p);
	put_other_end(p, o, &other);
	if (other.len && !other.failed && !is_unconnected(other.p)) {
		owner = owner_of(p, other.p, own);
		if (!owner)
			owner = owner_of(p, other.p, "*");
		if (!owner)
			owner = owner_of_port(p, other.p, own);
	}
	text_free(&other);
	return owner;
}

/* ---- pipes ---------------------------------------------------------------------------------- */

static void add_peer(struct peer_list *list, uint32_t pid)
{
	for (uint32_t i = 0; i < list->n && i < PEERS_NAMED; i++)
		if (list->pids[i] == pid)
			return;
	if (list->n < PEERS_NAMED)
		list->pids[list->n] = pid;
	list->n++;
}

static bool is_pipe(const struct peers *p, uint32_t object)
{
	const struct trace_object *o = trace_object(p->trace, object);

	/* A poll() of one descriptor has what that is as its name. */
	return o && (!strcmp(trace_string(p->trace, o->class), "pipe") ||
		     !strncmp(trace_string(p->trace, o->name), "pipe ", 5));
}

/* The process that ended a wait for a pipe by using the pipe; 0: not known. */
static uint32_t used_by(const struct peers *p, const struct wait *w)
{
	uint32_t kstack = timelines_pair(p->timelines, w->waker_stack).kstack;

	if (w->waker >= THREAD_IDLE || !kernel_stack_uses_pipe(p->kernel, kstack))
		return 0;
	return timelines_thread(p->timelines, w->waker)->tgid;
}

static void find_pipes(struct peers *p)
{
	p->knows_pipes = true;
	p->of_pipe = calloc(trace_objects_end(p->trace), sizeof(*p->of_pipe));
	for (uint32_t i = 0; p->of_pipe && i < timelines_threads(p->timelines); i++) {
		const struct thread *th = timelines_thread(p->timelines, i);

		for (uint32_t k = 0; k < th->n_waits; k++) {
			const struct wait *w = &th->waits[k];
			struct stack_pair pair = timelines_pair(p->timelines, w->stack);
			uint32_t object = pair.ready ? pair.ready : pair.object, pid;

			if (w->kind != WAIT_SLEEP || !is_pipe(p, object))
				continue;
			pid = used_by(p, w);
			if (pid)
				add_peer(&p->of_pipe[object], pid);
		}
	}
}

/* ---- all of them ---------------------------------------------------------------------------- */

uint32_t peers_holder(const struct peers *p, uint32_t object)
{
	const struct trace_object *o = trace_object(p->trace, object);

	return o && !strcmp(trace_string(p->trace, o->class), "futex") ? o->peer : 0;
}

struct peer_list peers_of(struct peers *p, uint32_t object)
{
	const struct trace_object *o = trace_object(p->trace, object);
	struct peer_list list = { .n = 0 };

	if (!o || peers_holder(p, object))
		return list;
	list.pids[0] = o->peer;
	if (!list.pids[0] && o->own)
		list.pids[0] = connected_to(p, o);
	list.n = list.pids[0] != 0;
	if (list.n || !is_pipe(p, object))
		return list;
	if (!p->knows_pipes)
		find_pipes(p);
	return p->of_pipe ? p->of_pipe[object] : list;
}
