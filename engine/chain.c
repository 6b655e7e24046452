// SPDX-License-Identifier: GPL-2.0-or-later
#include "chain.h"

#include <errno.h>

#include "chain_private.h"
#include "chain_sums.h"

static const char *const end_names[CHAIN_ENDS] = {
	[CHAIN_RUNNING] = "[running]",	   [CHAIN_RUNNABLE] = "[runnable]",
	[CHAIN_PREEMPTED] = "[preempted]", [CHAIN_INTERRUPT] = "[interrupt]",
	[CHAIN_UNKNOWN] = "[unknown]",	   [CHAIN_NOT_WOKEN] = "[not woken]",
	[CHAIN_DEPTH] = "[depth limit]",   [CHAIN_LOOP] = "[loop]",
};

const char *chain_end_name(enum chain_end end)
{
	return end_names[end];
}

uint32_t chain_any_label(void *arg, const struct wait *w, struct context context, bool first)
{
	(void)arg;
	(void)w;
	(void)context;
	(void)first;
	return 1;
}

int chains_init(struct chains *c, const struct timelines *tl, enum options_mode mode,
		uint32_t depth, struct chain_user user)
{
	*c = (struct chains) {
		.timelines = tl,
		.mode = mode,
		.depth = depth < OPTIONS_DEPTH_MAX ? depth : OPTIONS_DEPTH_MAX,
		.user = user,
		.add = user.add,
		.long_window = 256,
		.stretches_per_chain = 8,
		.stretches_per_block = 16,
		.add_arg = user.arg,
	};
	c->contexts = contexts_new(timelines_trace(tl));
	return c->contexts ? 0 : -ENOMEM;
}

void chains_free(struct chains *c)
{
	contexts_free(c->contexts);
	chain_sums_free(c->sums);
	pairs_free(&c->nodes);
	c->contexts = NULL;
	c->sums = NULL;
}

static uint32_t node_of(struct chains *c, uint32_t parent, uint32_t label)
{
	uint32_t node = label ? pairs_id(&c->nodes, parent, label) : 0;

	if (!node)
		c->out_of_memory = true;
	return node;
}

uint32_t chains_head(struct chains *c, uint32_t label)
{
	return node_of(c, 0, label);
}

bool chain_has(const struct chain_member *m, uint32_t thread)
{
	for (; m; m = m->up)
		if (m->thread == thread)
			return true;
	return false;
}

uint32_t chain_link(struct chains *c, uint32_t node, const struct wait *w, uint32_t links_left,
		    bool first, struct context *context, enum chain_end *end)
{
	if (w->flags & WAIT_NOT_WOKEN) {
		*end = CHAIN_NOT_WOKEN;
		return 0;
	}
	if (w->waker == THREAD_NONE) {
		*end = CHAIN_UNKNOWN;
		return 0;
	}
	if (!links_left) {
		*end = CHAIN_DEPTH;
		return 0;
	}
	*context = context_of(c->contexts, timelines_pair(c->timelines, w->waker_stack).kstack,
			      w->waker == THREAD_IDLE);
	return node_of(c, node, c->user.label(c->user.arg, w, *context, first));
}

static void explain(struct chains *c, uint32_t node, const struct wait *w, uint64_t from_ns,
		    uint64_t to_ns, uint32_t links_left, const struct chain_member *chain);

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void chain_take(struct chains *c, struct chain_window *win, const struct wait *w,
		uint32_t links_left, const struct chain_member *waker)
{
	uint64_t out = later(w->out_ns, win->from_ns), in = sooner(w->in_ns, win->to_ns);
	uint64_t wake = sooner(later(w->wake_ns, out), in);

	c->steps++;
	if (in <= out)
		return;
	switch (w->kind) {
	case WAIT_SLEEP:
		win->slept_ns += wake - out;
		win->runnable_ns += in - wake;
		if (wake > out)
			explain(c, win->node, w, out, wake, links_left, waker);
		break;
	case WAIT_PREEMPTED:
		win->runnable_ns += in - out;
		break;
	default:
		win->unknown_ns += in - out;
	}
}

/*
 * Takes the stretches [first, end), of which only the outermost may reach beyond the window.
 * Returns the time of those that were taken all at once, which the window's sums do not have.
 */
static uint64_t take_many(struct chains *c, struct chain_window *win, const struct thread *th,
			  uint32_t first, uint32_t end, uint32_t links_left,
			  const struct chain_member *waker)
{
	uint32_t from = end, to = end;
	uint64_t ns = 0;

	if (end - first > 2)
		chain_sums_add(c, win->node, waker->thread, links_left, first + 1, end - 1, &from,
			       &to, &ns);
	for (uint32_t i = to; i < end; i++)
		chain_take(c, win, &th->waits[i], links_left, waker);
	for (uint32_t i = first; i < from && i < to; i++)
		chain_take(c, win, &th->waits[i], links_left, waker);
	return ns;
}

/* What the last member of the chain did in [from, to), which is what all before it waited for. */
static void follow(struct chains *c, uint32_t node, const struct wait *woke, uint64_t from_ns,
		   uint64_t to_ns, uint32_t links_left, const struct chain_member *waker)
{
	const struct thread *th = timelines_thread(c->timelines, waker->thread);
	uint64_t alive_from = sooner(later(from_ns, th->begin_ns), to_ns);
	uint64_t alive_to = later(sooner(to_ns, th->end_ns), alive_from);
	struct chain_window win = { .node = node, .from_ns = from_ns, .to_ns = to_ns };
	const struct wait *birth = thread_birth(th);
	uint64_t at_once = 0, running;
	uint32_t i = woke->waker_pos;

	/* Usually the window ends where the waking was, and that is where its stretches stand. */
	if (to_ns < woke->wake_ns)
		i = thread_position(th, to_ns);
	while (i < th->n_waits && th->waits[i].out_ns < to_ns)
		i++;
	if (i >= c->long_window && th->waits[i - c->long_window].in_ns > from_ns)
		at_once =
			take_many(c, &win, th, thread_position(th, from_ns), i, links_left, waker);
	else
		while (i-- > 0 && th->waits[i].in_ns > from_ns)
			chain_take(c, &win, &th->waits[i], links_left, waker);
	running =
		(alive_to - alive_from) - win.slept_ns - win.runnable_ns - win.unknown_ns - at_once;
	win.unknown_ns += to_ns - alive_to;
	if (!birth)
		win.unknown_ns += alive_from - from_ns;
	else if (alive_from > from_ns)
		explain(c, node, birth, from_ns, alive_from, links_left, waker);
	if (running)
		c->add(c->add_arg, node, CHAIN_RUNNING, running);
	if (win.runnable_ns)
		c->add(c->add_arg, node, CHAIN_RUNNABLE, win.runnable_ns);
	if (win.unknown_ns)
		c->add(c->add_arg, node, CHAIN_UNKNOWN, win.unknown_ns);
}

static void explain(struct chains *c, uint32_t node, const struct wait *w, uint64_t from_ns,
		    uint64_t to_ns, uint32_t links_left, const struct chain_member *chain)
{
	struct context context = { 0 };
	enum chain_end end = CHAIN_UNKNOWN;
	uint32_t link = chain_link(c, node, w, links_left, !chain->up, &context, &end);
	struct chain_member next = { w->waker, chain };

	if (!link)
		c->add(c->add_arg, node, end, to_ns - from_ns);
	else if (context.interrupt)
		c->add(c->add_arg, link, CHAIN_INTERRUPT, to_ns - from_ns);
	else if (chain_has(chain, w->waker))
		c->add(c->add_arg, link, CHAIN_LOOP, to_ns - from_ns);
	else
		follow(c, link, w, from_ns, to_ns, links_left - 1, &next);
}

void chains_explain(struct chains *c, uint32_t head, uint32_t thread, const struct wait *w,
		    uint64_t from_ns, uint64_t to_ns)
{
	struct chain_member self = { thread, NULL };

	if (from_ns >= to_ns || !head)
		return;
	if (c->mode == MODE_CLASSIC)
		chain_classic(c, head, thread, w, to_ns - from_ns);
	else
		explain(c, head, w, from_ns, to_ns, c->depth, &self);
}
