// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is said of a piece of a chain beside its end: who had the CPU, what a disk was at, to which
 * socket packets came.
 */
#include "chain.h"

/* ---- who had the CPU ------------------------------------------------------------------------ */

void chains_ask_who(struct chains *c, const struct who_ran *r, chain_who_fn fn, void *arg)
{
	c->who = r ? fn : NULL;
	c->who_arg = arg;
	c->who_ran = r;
}

struct who_node {
	struct chains *chains;
	uint32_t node;
	uint64_t count;
};

static void add_who(void *arg, uint32_t who, uint64_t ns)
{
	const struct who_node *n = arg;

	n->chains->who(n->chains->who_arg, n->node, who, ns * n->count);
}

void chains_who(struct chains *c, uint32_t node, uint32_t thread, const struct wait *w,
		uint64_t from_ns, uint64_t to_ns, int64_t count)
{
	struct who_node n = { c, node, (uint64_t)count };

	if (c->who && from_ns < to_ns)
		who_ran_share(c->who_ran, thread, w, from_ns, to_ns, add_who, &n);
}

void chains_who_before_run(struct chains *c, uint32_t node, const struct wait *woke,
			   uint64_t from_ns, uint64_t to_ns, int64_t count)
{
	const struct thread *waker = timelines_thread(c->timelines, woke->waker);

	/* The interval is the waker's last one before it woke the thread. */
	if (c->who && from_ns < to_ns)
		chains_who(c, node, woke->waker, &waker->waits[wait_waker_pos(waker, woke) - 1],
			   from_ns, to_ns, count);
}

/* ---- the network ---------------------------------------------------------------------------- */

uint32_t chain_socket_of(const struct timelines *tl, const struct options *o, const struct wait *w)
{
	struct stack_pair slept = timelines_pair(tl, w->stack);
	uint32_t id = slept.ready ? slept.ready : slept.object;
	const struct trace_object *socket = trace_object(timelines_trace(tl), id);

	/* Sockets of the network have an address of their own. */
	return socket && socket->own && o->objects != OBJECTS_NONE ? id : 0;
}

void chains_add_interrupted(struct chains *c, uint32_t node, enum chain_end end,
			    const struct wait *w, uint64_t ns)
{
	uint32_t socket = 0;

	if (end == CHAIN_NETWORK && c->detail)
		socket = chain_socket_of(c->timelines, c->options, w);
	if (socket && ns)
		c->detail(c->add_arg, node, end, socket, ns);
	else
		c->add(c->add_arg, node, end, ns);
}

/* ---- disks ---------------------------------------------------------------------------------- */

void chains_add_disk(struct chains *c, uint32_t node, const struct disk_request *r,
		     enum disk_stage stage, uint64_t ns)
{
	if (!ns)
		return;
	if (c->detail)
		c->detail(c->add_arg, node, CHAIN_DISK, disk_what(r->kind, stage), ns);
	else
		c->add(c->add_arg, node, CHAIN_DISK, ns);
}

void chains_add_disk_window(struct chains *c, uint32_t node, const struct disk_request *r,
			    uint64_t from_ns, uint64_t to_ns)
{
	uint64_t issued_ns = clip_ns(r->issued_ns, from_ns, to_ns);

	if (!r->issued_ns) {
		chains_add_disk(c, node, r, DISK_WHOLE, to_ns - from_ns);
		return;
	}
	chains_add_disk(c, node, r, DISK_QUEUED, issued_ns - from_ns);
	chains_add_disk(c, node, r, DISK_DEVICE, to_ns - issued_ns);
}
