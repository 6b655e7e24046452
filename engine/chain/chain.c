// SPDX-License-Identifier: GPL-2.0-or-later
#include "chain.h"

#include <errno.h>
#include <stdlib.h>

#include "running_totals.h"

/* A window of a waker's time, and what the waker did in the part of it looked at so far. */
struct waker_window {
	uint32_t node; /* of the waker's link */
	uint64_t from_ns, to_ns;
	uint64_t slept_ns, runnable_ns, unknown_ns;
};

static const char *const end_names[CHAIN_ENDS] = {
	[CHAIN_RUNNING] = "[running]",	   [CHAIN_RUNNABLE] = "[runnable]",
	[CHAIN_PREEMPTED] = "[preempted]", [CHAIN_INTERRUPT] = "[interrupt]",
	[CHAIN_UNKNOWN] = "[unknown]",	   [CHAIN_NOT_WOKEN] = "[not woken]",
	[CHAIN_DEPTH] = "[depth limit]",   [CHAIN_LOOP] = "[loop]",
	[CHAIN_ON_CPU] = "[on-CPU]",
};

const char *chain_end_name(enum chain_end end)
{
	return end_names[end];
}

size_t chain_ends_by_size(const uint64_t ns[CHAIN_ENDS], enum chain_end order[CHAIN_ENDS])
{
	size_t n = 0;

	for (int end = 0; end < CHAIN_ENDS; end++) {
		size_t at = n;

		if (!ns[end])
			continue;
		for (; at && ns[order[at - 1]] < ns[end]; at--)
			order[at] = order[at - 1];
		order[at] = (enum chain_end)end;
		n++;
	}
	return n;
}

int chains_init(struct chains *c, const struct timelines *tl, const struct options *o,
		struct chain_user user)
{
	*c = (struct chains) {
		.timelines = tl,
		.options = o,
		.depth = o->depth < OPTIONS_DEPTH_MAX ? o->depth : OPTIONS_DEPTH_MAX,
		.user = user,
		.long_window = 256,
		.intervals_per_chain = 8,
		.intervals_per_block = 16,
		.add = user.add,
		.add_arg = user.arg,
	};
	c->kernel = kernel_stacks_new(timelines_trace(tl));
	return c->kernel ? 0 : -ENOMEM;
}

enum chain_end chain_next(const struct timelines *tl, struct kernel_stacks *kernel,
			  const struct wait *w, uint32_t links_left, struct waker_context *context)
{
	if (w->flags & WAIT_NOT_WOKEN)
		return CHAIN_NOT_WOKEN;
	if (w->waker == THREAD_NONE)
		return CHAIN_UNKNOWN;
	if (!links_left)
		return CHAIN_DEPTH;
	*context = waker_context(kernel, timelines_pair(tl, w->waker_stack).kstack,
				 w->waker == THREAD_IDLE);
	return context->interrupt ? CHAIN_INTERRUPT : CHAIN_ENDS;
}

uint32_t chains_link(struct chains *c, uint32_t node, const struct wait *w, uint32_t links_left,
		     bool first, enum chain_end *end)
{
	struct waker_context context;
	uint32_t label = 1;
	struct link l;

	*end = chain_next(c->timelines, c->kernel, w, links_left, &context);
	if (*end != CHAIN_ENDS && *end != CHAIN_INTERRUPT)
		return 0;
	if (c->user.label) {
		l = link_of(c->timelines, c->options, w, context, first);
		label = c->user.label(c->user.arg, &l);
	}
	node = chains_node(c, node, label);
	if (!node)
		*end = CHAIN_UNKNOWN;
	return node;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ---- who had the CPU ------------------------------------------------------------------------ */

void chains_ask_who(struct chains *c, const struct who_ran *r, chain_who_fn fn)
{
	c->who = r ? fn : NULL;
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

	n->chains->who(n->chains->add_arg, n->node, who, ns * n->count);
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

/* ---- exact attribution ---------------------------------------------------------------------- */

static void explain(struct chains *c, uint32_t node, const struct wait *w, uint64_t from_ns,
		    uint64_t to_ns, uint32_t links_left, const struct chain_member *chain);

/*
 * Adds the part of one of the waker's off-CPU intervals that lies in the window: its sleep goes to
 * whoever woke it, at once, the rest to the window's sums. waker: the waker and all before it.
 */
static void take(struct chains *c, struct waker_window *win, const struct wait *w,
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
		chains_who(c, win->node, waker->thread, w, wake, in, 1);
		if (wake > out)
			explain(c, win->node, w, out, wake, links_left, waker);
		break;
	case WAIT_PREEMPTED:
		win->runnable_ns += in - out;
		chains_who(c, win->node, waker->thread, w, out, in, 1);
		break;
	default:
		win->unknown_ns += in - out;
	}
}

static uint64_t take_totals(struct chains *c, uint32_t node, uint32_t thread, uint32_t links_left,
			    uint32_t first, uint32_t end, uint32_t *from, uint32_t *to);

/*
 * Takes the intervals [first, end), of which only the outermost may reach beyond the window.
 * Returns the time of those that were taken from totals, which the window's sums do not have.
 */
static uint64_t take_many(struct chains *c, struct waker_window *win, const struct thread *th,
			  uint32_t first, uint32_t end, uint32_t links_left,
			  const struct chain_member *waker)
{
	uint32_t from = end, to = end;
	uint64_t ns = 0;

	if (end - first > 2)
		ns = take_totals(c, win->node, waker->thread, links_left, first + 1, end - 1, &from,
				 &to);
	for (uint32_t i = to; i < end; i++)
		take(c, win, &th->waits[i], links_left, waker);
	for (uint32_t i = first; i < from && i < to; i++)
		take(c, win, &th->waits[i], links_left, waker);
	return ns;
}

/* As follow(), for a waker that at first had no CPU, and then ran. */
static void add_ran(struct chains *c, uint32_t node, const struct wait *woke, uint64_t from_ns,
		    uint64_t to_ns)
{
	uint64_t in_ns = clip_ns(woke->out_ns + woke->waker_at, from_ns, to_ns);

	if (to_ns > in_ns)
		c->add(c->add_arg, node, CHAIN_RUNNING, to_ns - in_ns);
	if (to_ns > in_ns && chain_samples_wanted(&c->samples) && c->add == c->user.add)
		chain_samples_window(&c->samples, node, woke->waker, in_ns, to_ns);
	chains_who_before_run(c, node, woke, from_ns, in_ns, 1);
	if (in_ns > from_ns)
		c->add(c->add_arg, node, CHAIN_RUNNABLE, in_ns - from_ns);
}

/* What the last member of the chain did in [from, to), for which all before it waited. */
static void follow(struct chains *c, uint32_t node, const struct wait *woke, uint64_t from_ns,
		   uint64_t to_ns, uint32_t links_left, const struct chain_member *waker)
{
	const struct thread *th = timelines_thread(c->timelines, waker->thread);
	uint64_t alive_from = sooner(later(from_ns, th->begin_ns), to_ns);
	uint64_t alive_to = later(sooner(to_ns, th->end_ns), alive_from);
	struct waker_window win = { .node = node, .from_ns = from_ns, .to_ns = to_ns };
	const struct wait *birth = thread_birth(th);
	uint64_t at_once = 0, running;
	uint32_t i;

	if (woke->flags & WAIT_WAKER_RAN) {
		add_ran(c, node, woke, from_ns, to_ns);
		return;
	}
	/* Usually the window ends at the waking, for which the position is known. */
	if (to_ns < woke->wake_ns)
		i = thread_position(th, to_ns);
	else
		i = wait_waker_pos(th, woke);
	while (i < th->n_waits && th->waits[i].out_ns < to_ns)
		i++;
	if (i >= c->long_window && th->waits[i - c->long_window].in_ns > from_ns)
		at_once =
			take_many(c, &win, th, thread_position(th, from_ns), i, links_left, waker);
	else
		while (i-- > 0 && th->waits[i].in_ns > from_ns)
			take(c, &win, &th->waits[i], links_left, waker);
	running =
		(alive_to - alive_from) - win.slept_ns - win.runnable_ns - win.unknown_ns - at_once;
	win.unknown_ns += to_ns - alive_to;
	if (!birth)
		win.unknown_ns += alive_from - from_ns;
	else if (alive_from > from_ns)
		explain(c, node, birth, from_ns, alive_from, links_left, waker);
	if (running)
		c->add(c->add_arg, node, CHAIN_RUNNING, running);
	/* Not while totals are built: their nodes are none of this wait's. */
	if (running && chain_samples_wanted(&c->samples) && c->add == c->user.add)
		chain_samples_window(&c->samples, node, waker->thread, from_ns, to_ns);
	if (win.runnable_ns)
		c->add(c->add_arg, node, CHAIN_RUNNABLE, win.runnable_ns);
	if (win.unknown_ns)
		c->add(c->add_arg, node, CHAIN_UNKNOWN, win.unknown_ns);
}

static void explain(struct chains *c, uint32_t node, const struct wait *w, uint64_t from_ns,
		    uint64_t to_ns, uint32_t links_left, const struct chain_member *chain)
{
	enum chain_end end = CHAIN_UNKNOWN;
	uint32_t link = chains_link(c, node, w, links_left, !chain->up, &end);
	struct chain_member next = { w->waker, chain };

	if (!link)
		c->add(c->add_arg, node, end, to_ns - from_ns);
	else if (end == CHAIN_INTERRUPT)
		c->add(c->add_arg, link, CHAIN_INTERRUPT, to_ns - from_ns);
	else if (chain_has(chain, w->waker))
		c->add(c->add_arg, link, CHAIN_LOOP, to_ns - from_ns);
	else
		follow(c, link, w, from_ns, to_ns, links_left - 1, &next);
}

/* ---- running totals over a waker's timeline -------------------------------------------------- */

/*
 * A long window costs as much as it has different chains, not as much as it has off-CPU intervals
 * (law 5: a thousand idle threads that each wait for the whole trace for one busy waker). The chain
 * of a whole sleep of a waker is the same whoever waits for that waker. So for each waker and
 * number of links left there are totals of every chain that its sleeps lead to, relative to the
 * waker.
 */
struct waker_totals {
	struct pair_table entries; /* by (thread, links left) */
	uint32_t root;		   /* the node that stands for the waker in relative chains */
	struct pair_table grafted; /* node (uint32_t), by (node, relative node); 0: not made yet */
};

struct entry {
	struct running_totals totals; /* of (relative node, end) */
	uint64_t walked;	      /* intervals walked while the totals were not there */
	bool built;
};

static struct waker_totals *totals_of(struct chains *c)
{
	if (!c->totals) {
		c->totals = calloc(1, sizeof(*c->totals));
		if (c->totals)
			c->totals->root = pairs_id(&c->nodes, 0, UINT32_MAX);
	}
	return c->totals && c->totals->root ? c->totals : NULL;
}

/* NULL: out of memory. Moves when another one is asked for. */
static struct entry *entry_of(struct waker_totals *t, uint32_t thread, uint32_t links_left)
{
	return pair_table_at(&t->entries, thread, links_left, sizeof(struct entry));
}

static void add_to_totals(void *arg, uint32_t node, enum chain_end end, uint64_t ns)
{
	totals_add(arg, node, end, ns);
}

/* A key's second part that is not an end: who had the CPU, names from 3 on. */
static uint32_t key_of_who(uint32_t who)
{
	return CHAIN_ENDS + who + 3;
}

static uint32_t who_of_key(uint32_t key)
{
	return key - CHAIN_ENDS - 3;
}

static void add_who_to_totals(void *arg, uint32_t node, uint32_t who, uint64_t ns)
{
	totals_add(arg, node, key_of_who(who), ns);
}

static void build(struct chains *c, struct running_totals *t, uint32_t thread, uint32_t links_left)
{
	const struct thread *th = timelines_thread(c->timelines, thread);
	const struct chain_member nobody = { THREAD_NONE, NULL };
	const struct chain_member waker = { thread, &nobody };
	void (*add)(void *, uint32_t, enum chain_end, uint64_t) = c->add;
	chain_who_fn who = c->who;
	uint32_t block = c->intervals_per_block, root = c->totals->root;
	void *add_arg = c->add_arg;

	c->add = add_to_totals;
	c->who = who ? add_who_to_totals : NULL;
	c->add_arg = t;
	for (uint32_t i = 0; i < th->n_waits; i++) {
		struct waker_window w = { .node = root,
					  .from_ns = th->waits[i].out_ns,
					  .to_ns = th->waits[i].in_ns };

		take(c, &w, &th->waits[i], links_left, &waker);
		if (w.runnable_ns)
			totals_add(t, root, CHAIN_RUNNABLE, w.runnable_ns);
		if (w.unknown_ns)
			totals_add(t, root, CHAIN_UNKNOWN, w.unknown_ns);
		if ((i + 1) % block == 0)
			totals_end_block(t, i / block);
	}
	totals_end_block(t, th->n_waits / block);
	c->add = add;
	c->who = who;
	c->add_arg = add_arg;
}

/* The node of the same links below another node. 0: out of memory. */
static uint32_t graft(struct chains *c, uint32_t node, uint32_t relative)
{
	struct waker_totals *t = c->totals;
	uint32_t parent, grafted, *known;
	struct pair link;

	if (relative == t->root)
		return node;
	known = pair_table_at(&t->grafted, node, relative, sizeof(*known));
	if (!known || *known)
		return known ? *known : 0;
	link = c->nodes.at[relative];
	parent = graft(c, node, link.a);
	grafted = parent ? pairs_id(&c->nodes, parent, link.b) : 0;
	/* The first look-up's place may have moved. */
	known = pair_table_at(&t->grafted, node, relative, sizeof(*known));
	if (known)
		*known = grafted;
	return grafted;
}

static uint64_t add_blocks(struct chains *c, const struct running_totals *t, uint32_t node,
			   uint32_t from, uint32_t to)
{
	uint64_t sum = 0;

	for (uint32_t id = 1; id <= t->table.keys.n; id++) {
		uint64_t ns = totals_between(t, id, from, to);
		struct pair key = t->table.keys.at[id];
		uint32_t at;

		c->steps++;
		if (!ns)
			continue;
		at = graft(c, node, key.a);
		if (!at)
			c->out_of_memory = true;
		else if (key.b < CHAIN_ENDS)
			c->add(c->add_arg, at, (enum chain_end)key.b, ns);
		else
			c->who(c->add_arg, at, who_of_key(key.b), ns);
		sum += key.b < CHAIN_ENDS ? ns : 0;
	}
	return sum;
}

/*
 * Adds what the intervals [first, end) of thread, all of them whole, give below node, for a chain
 * with links_left more links; except running time. Returns how much that is. Takes the intervals
 * for which this is fast and leaves the rest, at both ends of the range, to the caller:
 * [first, *from) and [*to, end). *from == *to: all of it.
 */
static uint64_t take_totals(struct chains *c, uint32_t node, uint32_t thread, uint32_t links_left,
			    uint32_t first, uint32_t end, uint32_t *from, uint32_t *to)
{
	uint32_t block = c->intervals_per_block;
	uint32_t from_block = (first + block - 1) / block, to_block = end / block;
	struct waker_totals *all = totals_of(c);
	struct entry *e = all ? entry_of(all, thread, links_left) : NULL, made;

	*from = *to = end;
	if (!e) {
		c->out_of_memory = true;
		return 0;
	}
	if (!e->built) {
		/* Built when walking has cost as much as building will: at worst twice the work. */
		e->walked += end - first;
		if (c->intervals_per_chain &&
		    e->walked < timelines_thread(c->timelines, thread)->n_waits)
			return 0;
		/* Others may be built meanwhile, and the array of entries may move. */
		made = *e;
		build(c, &made.totals, thread, links_left);
		made.built = !made.totals.out_of_memory;
		e = entry_of(all, thread, links_left);
		*e = made;
		if (!e->built) {
			c->out_of_memory = true;
			return 0;
		}
	}
	if (from_block >= to_block ||
	    (uint64_t)c->intervals_per_chain * e->totals.table.keys.n > end - first)
		return 0;
	*from = from_block * block;
	*to = to_block * block;
	c->summed++;
	return add_blocks(c, &e->totals, node, from_block, to_block);
}

void chains_free(struct chains *c)
{
	struct waker_totals *t = c->totals;

	kernel_stacks_free(c->kernel);
	chain_samples_free(&c->samples);
	pairs_free(&c->nodes);
	if (t) {
		struct entry *of = t->entries.at;

		for (size_t id = 1; id < t->entries.cap; id++)
			totals_free(&of[id].totals);
		pair_table_free(&t->entries);
		pair_table_free(&t->grafted);
		free(t);
	}
	c->kernel = NULL;
	c->totals = NULL;
}

/* ---- classic attribution -------------------------------------------------------------------- */

/* The sleep from which the thread woke last before at_ns; NULL: none is known. */
static const struct wait *last_wakeup(const struct thread *th, uint64_t at_ns)
{
	for (uint32_t i = thread_position(th, at_ns); i-- > 0;) {
		if (th->waits[i].kind == WAIT_SLEEP)
			return &th->waits[i];
		if (th->waits[i].kind == WAIT_UNKNOWN)
			return NULL; /* it may have been woken in there */
	}
	return NULL;
}

/*
 * The whole wait goes to one chain, each link being the most recent wakeup of the thread before it,
 * however old. Where that wakeup is not in the trace the chain ends in [unknown].
 */
static void explain_classic(struct chains *c, uint32_t head, uint32_t thread, const struct wait *w,
			    uint64_t ns)
{
	struct chain_member members[OPTIONS_DEPTH_MAX + 1];
	enum chain_end end = CHAIN_UNKNOWN;
	uint32_t node = head;

	members[0] = (struct chain_member) { thread, NULL };
	for (uint32_t k = 0;; k++) {
		uint32_t link = w ? chains_link(c, node, w, c->depth - k, !k, &end) : 0;

		if (!w)
			end = CHAIN_UNKNOWN;
		if (!link)
			break;
		node = link;
		if (end == CHAIN_INTERRUPT)
			break;
		if (chain_has(&members[k], w->waker)) {
			end = CHAIN_LOOP;
			break;
		}
		members[k + 1] = (struct chain_member) { w->waker, &members[k] };
		w = last_wakeup(timelines_thread(c->timelines, w->waker), w->wake_ns);
	}
	c->user.add(c->user.arg, node, end, ns);
}

void chains_explain(struct chains *c, uint32_t head, uint32_t thread, const struct wait *w,
		    uint64_t from_ns, uint64_t to_ns)
{
	struct chain_member self = { thread, NULL };

	if (from_ns >= to_ns || !head)
		return;
	if (c->options->mode == MODE_CLASSIC)
		explain_classic(c, head, thread, w, to_ns - from_ns);
	else
		explain(c, head, w, from_ns, to_ns, c->depth, &self);
}
