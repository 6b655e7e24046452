// SPDX-License-Identifier: GPL-2.0-or-later
#include "contexts.h"

#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "trace/trace.h"

/* What was read of a thread. */
struct context_seen {
	uint64_t ns;
	uint32_t number;
};

/* Contexts have numbers of 32 bits. */
#define CONTEXTS_MAX (UINT32_MAX - 1)

static void add(struct contexts *c, const struct context *context)
{
	if (c->n >= CONTEXTS_MAX)
		out_of_memory();
	XAPPEND(c->at, c->n, c->cap) = *context;
}

void contexts_event(struct contexts *c, uint32_t thread, const struct event *ev)
{
	struct context context = { { ev->context.trace_high, ev->context.trace_low },
				   ev->context.span,
				   ev->context.route };

	XREACH(c->seen, c->n_seen, thread);
	if (!c->n)
		add(c, &(struct context) { .route = 0 });
	c->seen[thread] = (struct context_seen) { ev->time_ns, 0 };
	if (!(context.trace[0] | context.trace[1] | context.span | context.route))
		return;
	c->seen[thread].number = (uint32_t)c->n;
	add(c, &context);
}

void contexts_lost(struct contexts *c, uint64_t last_ns)
{
	if (c->lost_until_ns < last_ns)
		c->lost_until_ns = last_ns;
}

void contexts_forget(struct contexts *c, uint32_t thread)
{
	if (thread < c->n_seen)
		c->seen[thread].number = 0;
}

uint32_t contexts_last(const struct contexts *c, uint32_t thread, uint64_t since_ns)
{
	const struct context_seen *seen = thread < c->n_seen ? &c->seen[thread] : NULL;

	if (!seen || seen->ns < since_ns || (c->lost_until_ns && seen->ns <= c->lost_until_ns))
		return 0;
	return seen->number;
}

void contexts_free(struct contexts *c)
{
	free(c->at);
	free(c->seen);
}
