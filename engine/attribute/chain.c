// SPDX-License-Identifier: GPL-2.0-or-later
#include "chain_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "waker_totals.h"

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
	[CHAIN_ON_CPU] = "[on-CPU]",	   [CHAIN_TIMER] = "[timer]",
	[CHAIN_NETWORK] = "[network]",	   [CHAIN_DISK] = "[disk]",
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
		.detail = user.detail,
		.add_arg = user.arg,
	};
	c->kernel = kernel_stacks_new(timelines_trace(tl));
	c->known = calloc(KNOWN_HOPS, sizeof(*c->known));
	return c->kernel && c->known ? 0 : -ENOMEM;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint32_t chain_joint_is_label(const void *arg, uint32_t label)
{
	(void)arg;
	return label;
}

void chains_fold_repeats(struct chains *c, chain_joint_fn joint)
{
	c->joint = joint;
}

void chains_ask_windows(struct chains *c, chain_window_fn fn, void *arg)
{
	c->window = fn;
	c->window_arg = arg;
}

/* ---- exact attribution ---------------------------------------------------------------------- */

static void explain(struct chains *c, uint32_t node, const struct wait *w, uint64_t from_ns,
		    uint64_t to_ns, uint32_t links_left, const struct chain_member *chain);

/*
 * Adds the part of one of the waker's off-CPU intervals that lies in the window: its sleep goes to
 * the thread that woke it, at once, the rest to the window's sums. waker: the waker and all before
 * it.
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
	if (to_ns > in_ns && chain_samples_wanted(&c->samples))
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

	/* Not while totals are built, whose nodes are not those of this wait. */
	if (c->window && c->add == c->user.add)
		c->window(c->window_arg, node, waker->thread, from_ns, to_ns);
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
	if (running && chain_samples_wanted(&c->samples))
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
	struct chain_member next = { w->waker, chain };
	uint32_t link = chains_hop(c, node, w, links_left, !chain->up, &end);

	if (!link)
		c->add(c->add_arg, node, end, to_ns - from_ns);
	else if (end == CHAIN_DISK)
		chains_add_disk_window(c, link, disk_request_of(c->timelines, w), from_ns, to_ns);
	else if (chain_end_is_interrupt(end))
		chains_add_interrupted(c, link, end, w, to_ns - from_ns);
	else if (chain_has(chain, w->waker))
		c->add(c->add_arg, link, CHAIN_LOOP, to_ns - from_ns);
	else
		follow(c, link, w, from_ns, to_ns, chains_left(c, node, link, links_left), &next);
	c->hops--;
}

/* ---- running totals over a waker's timeline -------------------------------------------------- */

/* A parent that is none: below it are the roots of relative chains. */
#define NO_NODE UINT32_MAX
/* Totals are built up to here only, so that no chain in them is cut by the bound of hops. */
#define BUILD_HOPS_MAX (OPTIONS_DEPTH_MAX / 10)

static void add_to_totals(void *arg, uint32_t node, enum chain_end end, uint64_t ns)
{
	totals_add(arg, node, end, ns);
}

/* A key's second part that is not an end: who had the CPU, names after the others. */
static uint32_t key_of_who(uint32_t who)
{
	return CHAIN_ENDS + who + WHO_OTHERS;
}

static uint32_t who_of_key(uint32_t key)
{
	return key - CHAIN_ENDS - WHO_OTHERS;
}

/* Numbers of names are below; those of what disks did and of objects are fewer than either has. */
#define KEY_DISK (UINT32_C(1) << 30)
#define KEY_NETWORK (UINT32_C(3) << 29)

static void add_detail_to_totals(void *arg, uint32_t node, enum chain_end end, uint32_t what,
				 uint64_t ns)
{
	totals_add(arg, node, (end == CHAIN_DISK ? KEY_DISK : KEY_NETWORK) | what, ns);
}

static void add_who_to_totals(void *arg, uint32_t node, uint32_t who, uint64_t ns)
{
	totals_add(arg, node, key_of_who(who), ns);
}

/* Likewise: a sample, whose stacks are a pair. Strings are fewer than that. */
#define KEY_RAN (UINT32_C(1) << 31)
/* No pair has the number that is left. */
#define KEY_INTERRUPTED UINT32_MAX

static void add_interrupted_to_totals(void *arg, uint32_t node, uint64_t ns)
{
	totals_add(arg, node, KEY_INTERRUPTED, ns);
}

static void add_ran_to_totals(void *arg, uint32_t node, uint32_t pair, int64_t count)
{
	totals_add(arg, node, KEY_RAN | pair, (uint64_t)count);
}

static void build(struct chains *c, struct running_totals *t, uint32_t root, uint32_t thread,
		  uint32_t links_left)
{
	const struct thread *th = timelines_thread(c->timelines, thread);
	const struct chain_member nobody = { THREAD_NONE, NULL };
	const struct chain_member waker = { thread, &nobody };
	void (*add)(void *, uint32_t, enum chain_end, uint64_t) = c->add;
	struct chain_samples samples = c->samples;
	void (*detail)(void *, uint32_t, enum chain_end, uint32_t, uint64_t) = c->detail;
	chain_who_fn who = c->who;
	uint32_t block = c->intervals_per_block;
	void *add_arg = c->add_arg, *who_arg = c->who_arg;

	c->add = add_to_totals;
	c->detail = detail ? add_detail_to_totals : NULL;
	c->who = who ? add_who_to_totals : NULL;
	c->add_arg = c->who_arg = c->samples.arg = t;
	c->samples.ran = add_ran_to_totals;
	if (c->samples.interrupted)
		c->samples.interrupted = add_interrupted_to_totals;
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
	c->detail = detail;
	c->who = who;
	c->add_arg = add_arg;
	c->who_arg = who_arg;
	c->samples = samples;
}

/* The node of the same links below another node. 0: out of memory. */
static uint32_t graft(struct chains *c, uint32_t node, uint32_t root, uint32_t relative)
{
	uint32_t parent, grafted, *known;
	struct pair link;

	if (relative == root)
		return node;
	known = waker_totals_grafted(c->totals, node, relative);
	if (!known || *known)
		return known ? *known : 0;
	link = c->nodes.at[relative];
	parent = graft(c, node, root, link.a);
	grafted = parent ? chains_link_node(c, parent, link.b) : 0;
	/* The first look-up's place may have moved. */
	known = waker_totals_grafted(c->totals, node, relative);
	if (known)
		*known = grafted;
	return grafted;
}

static uint64_t add_blocks(struct chains *c, const struct running_totals *t, uint32_t root,
			   uint32_t node, uint32_t from, uint32_t to)
{
	uint64_t sum = 0;

	for (uint32_t id = 1; id <= t->table.keys.n; id++) {
		uint64_t ns = totals_between(t, id, from, to);
		struct pair key = t->table.keys.at[id];
		uint32_t at;

		c->steps++;
		if (!ns)
			continue;
		at = graft(c, node, root, key.a);
		if (!at)
			c->out_of_memory = true;
		else if (key.b < CHAIN_ENDS)
			c->add(c->add_arg, at, (enum chain_end)key.b, ns);
		else if (key.b == KEY_INTERRUPTED)
			c->samples.interrupted(c->samples.arg, at, ns);
		else if (key.b & KEY_RAN)
			c->samples.ran(c->samples.arg, at, key.b & ~KEY_RAN, (int64_t)ns);
		else if ((key.b & KEY_NETWORK) == KEY_NETWORK)
			c->detail(c->add_arg, at, CHAIN_NETWORK, key.b & ~KEY_NETWORK, ns);
		else if (key.b & KEY_DISK)
			c->detail(c->add_arg, at, CHAIN_DISK, key.b & ~KEY_DISK, ns);
		else
			c->who(c->who_arg, at, who_of_key(key.b), ns);
		sum += key.b < CHAIN_ENDS || (key.b & (KEY_RAN | KEY_DISK)) == KEY_DISK ? ns : 0;
	}
	return sum;
}

/* The entry, with its totals; NULL: they are not to be used, or out of memory. */
static struct waker_entry *totals_of(struct chains *c, uint32_t root, uint32_t thread,
				     uint32_t links_left, uint32_t intervals)
{
	struct waker_entry *e = waker_totals_entry(c->totals, thread, links_left, root), made;

	if (!e) {
		c->out_of_memory = true;
		return NULL;
	}
	if (e->built)
		return e;
	/* Built when walking has cost as much as building will: at worst twice the work. */
	e->walked += intervals;
	if (c->intervals_per_chain && e->walked < timelines_thread(c->timelines, thread)->n_waits)
		return NULL;
	/* Where links repeat, the way may come back to this thread with as many links left. */
	if (e->building || c->hops > BUILD_HOPS_MAX)
		return NULL;
	e->building = true;
	/* Others may be built meanwhile, and the array of entries may move. */
	made = *e;
	build(c, &made.totals, root, thread, links_left);
	made.built = !made.totals.out_of_memory;
	made.building = false;
	e = waker_totals_entry(c->totals, thread, links_left, root);
	*e = made;
	c->out_of_memory |= !made.built;
	return made.built ? e : NULL;
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
	uint32_t from_block = (first + block - 1) / block, to_block = end / block, root;
	struct waker_entry *e;

	*from = *to = end;
	if (!c->totals)
		c->totals = waker_totals_new();
	/* What follows a link may repeat it. */
	root = chains_link_node(c, NO_NODE, c->joint ? c->nodes.at[node].b : NO_NODE);
	if (!c->totals || !root) {
		c->out_of_memory = true;
		return 0;
	}
	e = totals_of(c, root, thread, links_left, end - first);
	if (!e || from_block >= to_block ||
	    (uint64_t)c->intervals_per_chain * e->totals.table.keys.n > end - first)
		return 0;
	*from = from_block * block;
	*to = to_block * block;
	c->summed++;
	return add_blocks(c, &e->totals, root, node, from_block, to_block);
}

void chains_free(struct chains *c)
{
	kernel_stacks_free(c->kernel);
	chain_samples_free(&c->samples);
	pairs_free(&c->nodes);
	free(c->links);
	free(c->known);
	waker_totals_free(c->totals);
	c->kernel = NULL;
	c->totals = NULL;
	c->links = NULL;
	c->known = NULL;
}

/* ---- interface ------------------------------------------------------------------------------- */

void chains_explain(struct chains *c, uint32_t head, uint32_t thread, const struct wait *w,
		    uint64_t from_ns, uint64_t to_ns)
{
	struct chain_member self = { thread, NULL };

	if (from_ns >= to_ns || !head)
		return;
	if (c->options->mode == MODE_CLASSIC)
		chains_explain_classic(c, head, thread, w, to_ns - from_ns);
	else
		explain(c, head, w, from_ns, to_ns, c->depth, &self);
}
