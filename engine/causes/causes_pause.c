// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which time is a pause by choice: a thread's own timer ends its sleep, or it waits for work,
 * and nobody is known to wait for that thread meanwhile. See causes.h.
 */
#include <string.h>

#include "causes_private.h"
#include "base/kernel_functions.h"
#include "common/lower_bound.h"
#include "select/wait_nature.h"

/* Requests that a thread took earlier, and may be working for: so many are looked at. */
#define REQUESTS_BACK 64

/* Whether the thread is known to work for a request at that time. */
static bool works_for_request(const struct causes *c, uint32_t thread, uint64_t ns)
{
	const struct request_span *s;
	const uint32_t *read;
	size_t n, i;

	if (timelines_is_client(c->timelines, thread))
		return false;
	s = timelines_spans_written(c->timelines, thread, &n);
	i = n ? LOWER_BOUND(k, n, s[k].to_ns <= ns) : 0;
	if (i < n && s[i].from_ns <= ns)
		return true;
	read = timelines_requests_read(c->timelines, thread, &n);
	i = n ? LOWER_BOUND(k, n, timelines_request(c->timelines, read[k])->arrival_ns <= ns) : 0;
	for (size_t end = i > REQUESTS_BACK ? i - REQUESTS_BACK : 0; i-- > end;) {
		const struct request *q = timelines_request(c->timelines, read[i]);

		if (q->writer == thread && q->taken_ns <= ns && q->answer_ns > ns)
			return true;
	}
	return false;
}

/* Whether the sleep ended when a request came that the thread then read. */
static bool waits_for_request(const struct causes *c, uint32_t thread, const struct wait *w)
{
	size_t n, i;
	const uint32_t *read = timelines_requests_read(c->timelines, thread, &n);

	i = n ? LOWER_BOUND(k, n, timelines_request(c->timelines, read[k])->arrival_ns < w->out_ns)
	      : 0;
	return i < n && timelines_request(c->timelines, read[i])->arrival_ns <= w->wake_ns;
}

/* Whether a text has "tcp 10.0.0.53:53" or such; of a listening socket only the port follows. */
static bool names_peer(const char *name, const char *class)
{
	size_t len = strlen(class);

	for (const char *at = name; (at = strstr(at, class)); at += len)
		if ((at == name || at[-1] == ' ') && at[len] == ' ' && at[len + 1] != ':')
			return true;
	return false;
}

/*
 * Whether it slept for a message of somebody else's, and not just for a while: at a socket, or in a
 * poll() of one that is connected.
 */
static bool waits_for_message(const struct causes *c, const struct wait *w)
{
	static const char *const classes[] = { "tcp", "udp", "unix" };
	struct stack_pair p = timelines_pair(c->timelines, w->stack);
	const struct trace_object *o = trace_object(c->trace, p.object);
	const char *class = o ? trace_string(c->trace, o->class) : "";
	const char *name = o ? trace_string(c->trace, o->name) : "";

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (!strcmp(class, classes[i]) ||
		    (!strcmp(class, "poll") && names_peer(name, classes[i])))
			return true;
	return false;
}

static bool is_of_class(const struct causes *c, const struct wait *w, const char *class)
{
	uint32_t string = wait_class(c->timelines, w->stack);

	return string != SUMS_UNKNOWN && !strcmp(trace_string(c->trace, string), class);
}

/*
 * Whether a signal killed the thread while it waited for something in the midst of its work, and
 * not the end of its process, or as it waited for work.
 */
static bool killed_at_work(const struct causes *c, const struct wait *w)
{
	struct kernel_stacks *k = c->chains.kernel;
	uint32_t woke = timelines_pair(c->timelines, w->waker_stack).kstack;
	uint32_t slept = timelines_pair(c->timelines, w->stack).kstack;

	/* A join, or an idle thread of a pool; a lock is another matter. */
	if (is_of_class(c, w, "futex") && !wait_is_at_lock(c->timelines, k, w->stack))
		return false;
	return wait_killed(w) && !(kernel_stack_flags(k, woke, UINT32_MAX) & KFUNC_ENDS_PROCESS) &&
	       !(kernel_stack_wait_flags(k, slept) & (KFUNC_AWAITS_WORK | KFUNC_EVENT_LOOP));
}

void causes_begin_wait(struct causes *c, uint32_t thread, const struct wait *w)
{
	bool sleep = w->kind == WAIT_SLEEP;

	c->head = thread;
	c->head_wait = w;
	c->head_asked = timelines_is_client(c->timelines, thread) ||
			works_for_request(c, thread, w->out_ns);
	c->head_pauses = sleep && !c->head_asked && !killed_at_work(c, w) &&
			 (wait_is_idle(c->timelines, c->chains.kernel, thread, w) ||
			  waits_for_request(c, thread, w));
	c->pauses = c->head_pauses;
	c->piece_ns = 0;
	c->piece_wait = NULL;
	c->thread = THREAD_NONE;
}

/* Whether the chain's last thread is an idle one of the kernel's that somebody waits for. */
static bool waits_for_worker(const struct causes *c, uint32_t node)
{
	const struct pair *nodes = c->chains.nodes.at;

	return nodes[node].a && nodes[nodes[node].a].a && causes_label(c, nodes[node].b).idle;
}

/* Whether the last thread of the piece's chain pauses in it. */
static bool pauses(const struct causes *c, const struct chain_piece *p)
{
	if (c->head_asked || !p->wait || (p->end != CHAIN_TIMER && p->end != CHAIN_NETWORK) ||
	    works_for_request(c, p->thread, p->wait->out_ns) || causes_is_blocked(c, p->node))
		return false;
	/* The one who waits for it has asked it before, and has not just started it. */
	if (p->wait != c->head_wait && p->thread == c->head_wait->waker &&
	    timelines_thread(c->timelines, p->thread)->parent != c->head &&
	    wait_is_answered(c->timelines, c->chains.kernel, c->head, c->head_wait))
		return false;
	/* What a worker of the kernel's does later, somebody waits for. */
	if (waits_for_worker(c, p->node))
		return false;
	/* For a device, of which the kernel gets tired of waiting. */
	if (p->wait->state == 'D' || is_of_class(c, p->wait, "file"))
		return false;
	return p->end == CHAIN_TIMER ? !waits_for_message(c, p->wait)
				     : waits_for_request(c, p->thread, p->wait);
}

void causes_begin_piece(void *arg, const struct chain_piece *p)
{
	struct causes *c = arg;

	c->piece_ns = p->to_ns - p->from_ns;
	c->piece_wait = p->wait;
	c->thread = c->head_pauses ? c->head : p->thread;
	c->pauses = c->head_pauses || pauses(c, p);
}
