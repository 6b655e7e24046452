// SPDX-License-Identifier: GPL-2.0-or-later
#include "chain.h"

#include <stdlib.h>
#include <string.h>

#include "queued_windows.h"
#include "running_totals.h"
#include "sleep_ends.h"
#include "common/xalloc.h"

/* Of the way from a wait to what explains it. */
struct walk {
	struct chains *chains;
	struct attribution attribution; /* to the user; while totals are built to these */
	uint32_t hops; /* links so far, which have a bound of their own: see hop() */
	int64_t count; /* how many equal waits are explained */
	/*
	 * It is explained why a process ended, during which one of the chain's threads may have
	 * run: so chains may end in CHAIN_LOOP, of which totals know nothing.
	 */
	bool past_end;
	bool of_windows; /* a batch's, from this origin: the sink is told of windows, not of pieces
			  */
	uint64_t origin;
};

/* A window of a waker's time, and what is in pieces so far. */
struct waker_window {
	uint32_t node; /* of the waker's link */
	uint64_t from_ns, to_ns;
	uint64_t taken_ns;
};

void chains_init(struct chains *c, const struct timelines *tl, const struct options *o,
		 const struct chain_user *user)
{
	*c = (struct chains) {
		.timelines = tl,
		.options = o,
		.depth = o->depth < OPTIONS_DEPTH_MAX ? o->depth : OPTIONS_DEPTH_MAX,
		.user = *user,
		.long_window = 256,
		.intervals_per_chain = 8,
		.intervals_per_block = 16,
	};
	kernel_stacks_new(&c->kernel, timelines_trace(tl));
	chain_links_init(c);
	event_loops_new(&c->loops, tl, c->kernel);
	attribution_init(&c->attribution, tl, o, user->sink, user->wants, user->cpu_holders);
	if (c->attribution.cpu_holders)
		c->ran_at = xcalloc((size_t)timelines_threads(tl) + 1, sizeof(*c->ran_at));
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint32_t chain_identity_is_label(const void *arg, uint32_t label)
{
	(void)arg;
	return label;
}

/* As chains_link(). Links that repeat others are not bounded by the depth. */
static uint32_t hop(struct walk *k, uint32_t node, const struct wait *w, uint32_t links_left,
		    bool first, enum chain_end *end)
{
	struct chains *c = k->chains;
	struct waker_context context;

	if (k->hops++ < OPTIONS_DEPTH_MAX)
		return chains_link(c, node, w, links_left, first, end);
	*end = chain_next(c->timelines, c->kernel, c->options, w, 0, &context);
	return 0;
}

/* ---- exact attribution ---------------------------------------------------------------------- */

/* Tells a batch's sink what a piece is: a part of so many windows. */
static void tell_windows(const struct walk *k, const struct chain_piece *p, uint64_t ns)
{
	const struct chain_sink *to = &k->attribution.to;

	to->windows(to->arg,
		    &(struct chain_windows) {
			    p->node, p->end, p->thread, p->wait,
			    window_sum_of((uint64_t)k->count, ns, p->to_ns, k->origin), true });
}

static void put(const struct walk *k, struct chain_piece p)
{
	p.count = k->count;
	if (k->of_windows && p.from_ns + p.gaps_ns < p.to_ns)
		tell_windows(k, &p, p.to_ns - p.from_ns - p.gaps_ns);
	attribute_piece(&k->attribution, &p);
}

static void explain(struct walk *k, uint32_t node, const struct wait *w, struct waking by,
		    uint64_t from_ns, uint64_t to_ns, uint32_t links_left,
		    const struct chain_member *chain);

/* What ended w, a sleep of a timeline, or the one in which it goes on. */
static struct waking waking_of(const struct chains *c, const struct wait *w)
{
	return c->loops ? event_loops_waking(c->timelines, w)
			: (struct waking) { w->wake_ns, NULL };
}

/* Explains [from_ns, to_ns) of w by the end of another sleep, in which it goes on; or by its own.
 */
static void explain_by_end_of(struct walk *k, uint32_t node, const struct wait *w,
			      const struct wait *ended, uint64_t from_ns, uint64_t to_ns,
			      uint32_t links_left, const struct chain_member *chain)
{
	struct waking by = waking_of(k->chains, ended);
	struct wait joined;

	if (w != ended) {
		joined = event_loops_joined(k->chains->timelines, w, ended);
		w = &joined;
	}
	explain(k, node, w, by, from_ns, to_ns, links_left, chain);
}

/*
 * Takes the part of w, one of the waker's off-CPU intervals, that lies in the window: its sleep
 * goes to the thread that woke it, or that ended the sleep in which it goes on. waker: the waker
 * and all before it.
 */
static void take(struct walk *k, struct waker_window *win, const struct wait *w,
		 const struct wait *ended, uint32_t links_left, const struct chain_member *waker)
{
	uint64_t out = later(w->out_ns, win->from_ns), in = sooner(w->in_ns, win->to_ns);
	uint64_t wake = sooner(later(w->wake_ns, out), in);
	struct chain_piece p = { win->node, CHAIN_RUNNABLE, waker->thread, w, out, in, 0, 0 };

	k->chains->steps++;
	if (in <= out)
		return;
	win->taken_ns += in - out;
	if (w->kind == WAIT_SLEEP) {
		p.from_ns = wake;
		put(k, p);
		if (wake > out)
			explain_by_end_of(k, win->node, w, ended, out, wake, links_left, waker);
		return;
	}
	if (w->kind == WAIT_UNKNOWN)
		p.end = CHAIN_UNKNOWN;
	put(k, p);
}

static uint64_t take_totals(struct walk *k, uint32_t node, uint32_t thread, uint32_t links_left,
			    uint32_t first, uint32_t end, uint32_t *from, uint32_t *to);

/* Takes the waker's intervals [first, end), if possible by totals. */
static void take_many(struct walk *k, struct waker_window *win, const struct thread *th,
		      uint32_t first, uint32_t end, uint32_t links_left,
		      const struct chain_member *waker)
{
	uint32_t from = end, to = end;

	if (end - first > 2)
		win->taken_ns += take_totals(k, win->node, waker->thread, links_left, first + 1,
					     end - 1, &from, &to);
	for (uint32_t i = to; i < end; i++)
		take(k, win, &th->waits[i], &th->waits[i], links_left, waker);
	for (uint32_t i = first; i < from && i < to; i++)
		take(k, win, &th->waits[i], &th->waits[i], links_left, waker);
}

/* As follow(), for a waker that at first had no CPU, and then ran. */
static void put_ran(struct walk *k, uint32_t node, const struct wait *woke, uint64_t from_ns,
		    uint64_t to_ns)
{
	uint64_t in_ns = clip_ns(woke->out_ns + woke->waker_at, from_ns, to_ns);

	put(k, (struct chain_piece) { node, CHAIN_RUNNING, woke->waker, NULL, in_ns, to_ns, 0, 0 });
	if (in_ns > from_ns)
		put(k, (struct chain_piece) { node, CHAIN_RUNNABLE, woke->waker,
					      chains_before_run(k->chains, woke), from_ns, in_ns, 0,
					      0 });
}

/*
 * Takes those of the waker's intervals below end that it had since it took the request that it
 * answered by the waking. Returns how many are left.
 */
static uint32_t take_answering(struct walk *k, struct waker_window *win, struct waking by,
			       uint32_t end, uint32_t links_left, const struct chain_member *waker)
{
	struct loop_walk l =
		event_loops_walk(k->chains->loops, k->chains->timelines, waker->thread, by);

	for (; l.request && end > l.i; end--)
		take(k, win, &l.thread->waits[end - 1], &l.thread->waits[end - 1], links_left,
		     waker);
	while (loop_walk_back(&l)) {
		if (l.i >= end)
			continue;
		if (l.thread->waits[l.i].in_ns <= win->from_ns)
			break;
		end = l.i;
		take(k, win, &l.thread->waits[end], l.ended, links_left, waker);
	}
	return end;
}

/* follow(), which looks at what the waker did, interval by interval. */
static void follow_intervals(struct walk *k, uint32_t node, const struct wait *woke,
			     struct waking by, uint64_t from_ns, uint64_t to_ns,
			     uint32_t links_left, const struct chain_member *waker)
{
	const struct chains *c = k->chains;
	const struct thread *th = timelines_thread(c->timelines, waker->thread);
	const struct wait *end = sleep_ends_of_process(c->timelines, c->kernel, woke);
	const struct wait *birth = end;
	uint64_t alive_from = sooner(later(from_ns, end ? end->wake_ns : th->begin_ns), to_ns);
	uint64_t alive_to = later(sooner(to_ns, th->end_ns), alive_from);
	struct waker_window win = { .node = node, .from_ns = alive_from, .to_ns = to_ns };
	struct chain_piece p = { node, CHAIN_UNKNOWN, waker->thread, NULL, alive_to, to_ns, 0, 0 };
	bool past_end = k->past_end;
	uint32_t i;

	if (k->attribution.to.window)
		k->attribution.to.window(k->attribution.to.arg, node, waker->thread, alive_from,
					 to_ns);
	if (woke->flags & WAIT_WAKER_RAN) {
		put_ran(k, node, woke, from_ns, to_ns);
		return;
	}
	/* Usually the window ends at the waking, for which the position is known. */
	if (to_ns < woke->wake_ns)
		i = thread_position(th, to_ns);
	else
		i = wait_waker_pos(th, woke);
	while (i < th->n_waits && th->waits[i].out_ns < to_ns)
		i++;
	if (c->loops)
		i = take_answering(k, &win, by, i, links_left, waker);
	if (!k->past_end && i >= c->long_window && th->waits[i - c->long_window].in_ns > alive_from)
		take_many(k, &win, th, thread_position(th, alive_from), i, links_left, waker);
	else
		while (i-- > 0 && th->waits[i].in_ns > alive_from)
			take(k, &win, &th->waits[i], &th->waits[i], links_left, waker);
	put(k, p);
	p.from_ns = from_ns;
	p.to_ns = alive_from;
	/* Its first interval is far away in memory, and seldom needed. */
	if (alive_from > from_ns && !end)
		birth = thread_birth(th);
	if (!birth) {
		put(k, p);
	} else if (alive_from > from_ns) {
		k->past_end |= end != NULL;
		explain(k, node, birth, waking_of(c, birth), from_ns, alive_from, links_left,
			waker);
		k->past_end = past_end;
	}
	p.end = CHAIN_RUNNING;
	p.from_ns = alive_from;
	p.to_ns = alive_to;
	p.gaps_ns = win.taken_ns;
	put(k, p);
}

/* What the last member of the chain did in [from, to), for which all before it waited. */
static void follow(struct walk *k, uint32_t node, const struct wait *woke, struct waking by,
		   uint64_t from_ns, uint64_t to_ns, uint32_t links_left,
		   const struct chain_member *waker)
{
	if (woke->flags & WAIT_WAKER_RAN && !k->attribution.to.window)
		put_ran(k, node, woke, from_ns, to_ns);
	else
		follow_intervals(k, node, woke, by, from_ns, to_ns, links_left, waker);
}

/* [from, to), by the last member of the chain, and before it was asked for that by who asked it. */
static void explain_by_waker(struct walk *k, uint32_t link, const struct wait *w, struct waking by,
			     uint64_t from_ns, uint64_t to_ns, uint32_t links_left,
			     const struct chain_member *waker)
{
	const struct wait *asked = chains_asked(k->chains, w, by);
	uint64_t asked_ns = asked ? clip_ns(asked->wake_ns, from_ns, to_ns) : from_ns;
	/* What the worker did then is not looked at: it may be in the chain once more. */
	const struct chain_member other = { THREAD_NONE, waker->up };

	if (asked_ns < to_ns)
		follow(k, link, w, by, asked_ns, to_ns, links_left, waker);
	if (from_ns < asked_ns)
		explain(k, link, asked, waking_of(k->chains, asked), from_ns, asked_ns, links_left,
			&other);
}

static void explain(struct walk *k, uint32_t node, const struct wait *w, struct waking by,
		    uint64_t from_ns, uint64_t to_ns, uint32_t links_left,
		    const struct chain_member *chain)
{
	struct chain_piece p = { node, CHAIN_UNKNOWN, chain->thread, w, from_ns, to_ns, 0, 0 };
	struct chain_member next = { w->waker, chain };
	uint32_t link = hop(k, node, w, links_left, !chain->up, &p.end);

	if (link && p.end == CHAIN_ENDS && !chain_has(chain, w->waker)) {
		explain_by_waker(k, link, w, by, from_ns, to_ns,
				 chains_left(k->chains, node, link, links_left), &next);
	} else {
		if (link)
			p.node = link;
		if (p.end == CHAIN_ENDS)
			p.end = CHAIN_LOOP;
		put(k, p);
	}
	k->hops--;
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
 * All of ns goes to one chain, each link being the most recent wakeup of the thread before it,
 * however old. Where that wakeup is not in the trace the chain ends in [unknown]. node is what
 * members[n - 1] leads to, w the wait that is next; NULL: it is not known.
 */
static void explain_classic(struct walk *k, uint32_t node, struct chain_member *members, uint32_t n,
			    const struct wait *w, uint32_t left, uint64_t ns)
{
	struct chains *c = k->chains;
	enum chain_end end = CHAIN_UNKNOWN;
	const struct wait *asked;

	for (uint32_t i = n - 1;; i++) {
		uint32_t link = w ? hop(k, node, w, left, !i, &end) : 0;

		if (!w)
			end = CHAIN_UNKNOWN;
		if (!link)
			break;
		left = chains_left(c, node, link, left);
		node = link;
		if (chain_end_is_interrupt(end))
			break;
		if (chain_has(&members[i], w->waker)) {
			end = CHAIN_LOOP;
			break;
		}
		members[i + 1] = (struct chain_member) { w->waker, &members[i] };
		asked = work_item_of(c->timelines, w, w->wake_ns);
		w = asked ? asked
			  : last_wakeup(timelines_thread(c->timelines, w->waker), w->wake_ns);
	}
	/* The last wakeup may have been long before: of its stages there is nothing to say. */
	if (chain_end_is_interrupt(end))
		attribute_interrupt(&k->attribution, node, end, w, DISK_WHOLE, ns);
	else
		attribute_time(&k->attribution, node, end, ns);
}

/* ---- clients -------------------------------------------------------------------------------- */

/* [from, to) of a client's wait, below node, up to when the thread read or answered at most. */
static void explain_by(struct walk *k, uint32_t node, uint32_t client, const struct wait *w,
		       struct served_by by, uint64_t from_ns, uint64_t to_ns)
{
	struct chains *c = k->chains;
	struct chain_piece p = { node, CHAIN_UNKNOWN, client, w, from_ns, to_ns, 0, 0 };
	struct chain_member members[OPTIONS_DEPTH_MAX + 2];
	/* As if the thread had woken the client then; its position is looked for. */
	struct wait woken = { .out_ns = from_ns,
			      .wake_ns = by.at_ns,
			      .in_ns = by.at_ns,
			      .waker = by.thread & THREAD_NONE,
			      .waker_at = WAIT_WAKER_MAX };
	uint32_t link, left;

	if (from_ns >= to_ns)
		return;
	link = chains_client_link(c, node, w, by, &p.end);
	if (!link) {
		put(k, p);
		return;
	}
	k->hops = 1;
	left = chains_left(c, node, link, c->depth);
	members[0] = (struct chain_member) { client, NULL };
	members[1] = (struct chain_member) { by.thread, &members[0] };
	if (c->options->mode == MODE_CLASSIC)
		explain_classic(k, link, members, 2,
				last_wakeup(timelines_thread(c->timelines, by.thread), by.at_ns),
				left, to_ns - from_ns);
	else
		follow(k, link, &woken, (struct waking) { by.answers ? by.at_ns : 0, by.answers },
		       from_ns, to_ns, left, &members[1]);
	k->hops = 0;
}

/* The time in the queue: in parts, by the other request for which the reader worked meanwhile. */
static void explain_queued(struct walk *k, uint32_t head, uint32_t client, const struct wait *w,
			   const struct request *q, uint64_t from_ns, uint64_t to_ns)
{
	const struct timelines *tl = k->chains->timelines;
	struct served_by reader = chains_reader(q);
	const struct request_span *s = NULL, *end = NULL;
	uint32_t node;

	if (from_ns >= to_ns)
		return;
	node = chains_queued(k->chains, head);
	if (reader.thread != THREAD_NONE)
		s = served_span_at(tl, reader.thread, from_ns, &end);
	for (; s < end && s->from_ns < to_ns; s++) {
		uint64_t from = later(from_ns, s->from_ns), to = sooner(to_ns, s->to_ns);

		explain_by(k, node, client, w, reader, from_ns, from);
		explain_by(k, chains_queued_for(k->chains, node, timelines_request(tl, s->request)),
			   client, w, reader, from, to);
		from_ns = to;
	}
	explain_by(k, node, client, w, reader, from_ns, to_ns);
}

static void explain_client(struct walk *k, uint32_t head, uint32_t client, const struct wait *w,
			   uint64_t from_ns, uint64_t to_ns)
{
	const struct request *q = timelines_request_of(k->chains->timelines, w);

	explain_queued(k, head, client, w, q, from_ns, sooner(to_ns, q->taken_ns));
	explain_by(k, head, client, w, chains_writer(q), later(from_ns, q->taken_ns), to_ns);
}

/* ---- running totals over a waker's timeline -------------------------------------------------- */

/*
 * A long window costs as much as it has different chains, not as much as it has off-CPU intervals
 * (law 5: a thousand idle threads that each wait for the whole trace for one busy waker). The chain
 * of a whole sleep of a waker is the same whoever waits for that waker. So for each waker and
 * number of links left there are totals of every chain that its sleeps lead to, relative to the
 * waker.
 */
struct waker_entry {
	struct running_totals totals; /* of (relative node, id of an amount_key) */
	uint64_t walked;	      /* intervals walked while the totals were not there */
	bool built, building;
};

/*
 * The entry of a thread, below a relative root and with so many links left; all zero when it is
 * new. Moves when another one is asked for.
 */
static struct waker_entry *entry_of(struct waker_totals *t, uint32_t thread, uint32_t links_left,
				    uint32_t root)
{
	uint32_t kind = pairs_id(&t->kinds, links_left, root);

	return pair_table_at(&t->entries, thread, kind, sizeof(struct waker_entry));
}

static void waker_totals_free(struct waker_totals *t)
{
	struct waker_entry *of = t->entries.at;

	for (size_t id = 1; id < t->entries.cap; id++)
		totals_free(&of[id].totals);
	intern_free(&t->keys);
	pairs_free(&t->kinds);
	pair_table_free(&t->entries);
	pair_table_free(&t->grafted);
}

void chains_forget_totals(struct chains *c)
{
	waker_totals_free(&c->totals);
}

/* The label of the node below which all relative chains are: it is no head's and no link's. */
#define RELATIVE UINT32_MAX
/* Totals are built up to here only, so that no chain in them is cut by the bound of hops. */
#define BUILD_HOPS_MAX (OPTIONS_DEPTH_MAX / 10)

/* Totals have pairs of numbers as keys: a node, and the id of the amount's key. */
struct totals_sink {
	struct running_totals *totals;
	struct intern *keys;
	uint64_t piece_ns; /* of what is added next: how long its longest piece is */
};

static void begin_totals_piece(void *arg, const struct chain_piece *p)
{
	((struct totals_sink *)arg)->piece_ns = p->to_ns - p->from_ns;
}

static void add_to_totals(void *arg, uint32_t node, struct amount_key key, uint64_t amount)
{
	const struct totals_sink *s = arg;
	uint32_t id = xintern(s->keys, &key, sizeof(key), NULL);

	totals_add(s->totals, node, id, amount, s->piece_ns);
}

static void build(const struct walk *by, struct running_totals *t, uint32_t root, uint32_t thread,
		  uint32_t links_left)
{
	struct chains *c = by->chains;
	const struct thread *th = timelines_thread(c->timelines, thread);
	const struct chain_member nobody = { THREAD_NONE, NULL };
	const struct chain_member waker = { thread, &nobody };
	struct totals_sink to = { t, &c->totals.keys, 0 };
	struct walk k = { c, c->attribution, by->hops, 1, false, false, 0 };
	uint32_t block = c->intervals_per_block;

	k.attribution.to =
		(struct chain_sink) { .arg = &to,
				      .add = add_to_totals,
				      .piece = by->attribution.to.piece ? begin_totals_piece
									: NULL };
	k.attribution.holders_later = NULL;
	k.attribution.only_quotas = false;
	for (uint32_t i = 0; i < th->n_waits; i++) {
		struct waker_window w = { .node = root,
					  .from_ns = th->waits[i].out_ns,
					  .to_ns = th->waits[i].in_ns };

		take(&k, &w, &th->waits[i], &th->waits[i], links_left, &waker);
		if ((i + 1) % block == 0)
			totals_end_block(t, i / block);
	}
	totals_end_block(t, th->n_waits / block);
}

/* The node of the same links below another node. */
static uint32_t graft(struct chains *c, uint32_t node, uint32_t root, uint32_t relative)
{
	uint32_t parent, grafted, *known;
	struct pair link;

	if (relative == root)
		return node;
	known = pair_table_at(&c->totals.grafted, node, relative, sizeof(*known));
	if (*known)
		return *known;
	link = c->nodes.at[relative];
	parent = graft(c, node, root, link.a);
	grafted = chains_link_node(c, parent, link.b);
	/* The first look-up's place may have moved. */
	known = pair_table_at(&c->totals.grafted, node, relative, sizeof(*known));
	*known = grafted;
	return grafted;
}

/* Tells the sink, if it asks for pieces, of the longest of those whose sum comes next. */
static void begin_sum(const struct walk *k, const struct running_totals *t, uint32_t id,
		      uint32_t from, uint32_t to)
{
	struct chain_piece p = { .thread = THREAD_NONE, .count = k->count };

	if (!k->attribution.to.piece && !k->of_windows)
		return;
	p.to_ns = totals_longest(t, id, from, to);
	if (k->of_windows)
		tell_windows(k, &p, p.to_ns);
	if (k->attribution.to.piece)
		k->attribution.to.piece(k->attribution.to.arg, &p);
}

/* Adds the blocks [from, to) below node. Returns how much time that is. */
static uint64_t add_blocks(struct walk *k, const struct running_totals *t, uint32_t root,
			   uint32_t node, uint32_t from, uint32_t to)
{
	struct chains *c = k->chains;
	uint64_t sum = 0;

	for (uint32_t id = 1; id <= t->table.keys.n; id++) {
		uint64_t amount = totals_between(t, id, from, to);
		struct pair at = t->table.keys.at[id];
		struct amount_key key;
		uint32_t grafted;
		size_t len;

		c->steps++;
		if (!amount)
			continue;
		grafted = graft(c, node, root, at.a);
		memcpy(&key, intern_bytes(&c->totals.keys, at.b, &len), sizeof(key));
		begin_sum(k, t, id, from, to);
		k->attribution.to.add(k->attribution.to.arg, grafted, key,
				      amount * (uint64_t)k->count);
		sum += key.kind == AMOUNT_TIME ? amount : 0;
	}
	return sum;
}

/* The entry, with its totals; NULL: they are not to be used. */
static struct waker_entry *totals_of(const struct walk *k, uint32_t root, uint32_t thread,
				     uint32_t links_left, uint32_t intervals)
{
	struct chains *c = k->chains;
	struct waker_entry *e = entry_of(&c->totals, thread, links_left, root), made;

	if (e->built)
		return e;
	/* Built when walking has cost as much as building will: at worst twice the work. */
	e->walked += intervals;
	if (c->intervals_per_chain && e->walked < timelines_thread(c->timelines, thread)->n_waits)
		return NULL;
	/* Where links repeat, the way may come back to this thread with as many links left. */
	if (e->building || k->hops > BUILD_HOPS_MAX)
		return NULL;
	e->building = true;
	/* Others may be built meanwhile, and the array of entries may move. */
	made = *e;
	build(k, &made.totals, root, thread, links_left);
	made.built = true;
	made.building = false;
	e = entry_of(&c->totals, thread, links_left, root);
	*e = made;
	return e;
}

/*
 * Adds what the intervals [first, end) of thread, all of them whole, give below node, for a chain
 * with links_left more links; except running time. Returns how much that is. Takes the intervals
 * for which this is fast and leaves the rest, at both ends of the range, to the caller:
 * [first, *from) and [*to, end). *from == *to: all of it.
 */
static uint64_t take_totals(struct walk *k, uint32_t node, uint32_t thread, uint32_t links_left,
			    uint32_t first, uint32_t end, uint32_t *from, uint32_t *to)
{
	struct chains *c = k->chains;
	uint32_t block = c->intervals_per_block;
	uint32_t from_block = (first + block - 1) / block, to_block = end / block, root;
	struct waker_entry *e;

	*from = *to = end;
	root = chains_head(c, RELATIVE);
	/* What follows a link may repeat it. */
	if (c->user.identity)
		root = chains_link_node(c, root, c->nodes.at[node].b);
	if (!root)
		return 0;
	e = totals_of(k, root, thread, links_left, end - first);
	if (!e || from_block >= to_block ||
	    (uint64_t)c->intervals_per_chain * e->totals.table.keys.n > end - first)
		return 0;
	*from = from_block * block;
	*to = to_block * block;
	c->summed++;
	return add_blocks(k, &e->totals, root, node, from_block, to_block);
}

void chains_free(struct chains *c)
{
	kernel_stacks_free(c->kernel);
	attribution_free(&c->attribution);
	pairs_free(&c->nodes);
	free(c->links);
	free(c->known);
	free(c->labels);
	event_loops_free(c->loops);
	c->loops = NULL;
	free(c->ran_at);
	waker_totals_free(&c->totals);
}

/* ---- interface ------------------------------------------------------------------------------- */

void chains_explain(struct chains *c, uint32_t head, uint32_t thread, const struct wait *w,
		    uint64_t from_ns, uint64_t to_ns)
{
	struct walk k = { c, c->attribution, 0, 1, false, false, 0 };
	struct chain_member members[OPTIONS_DEPTH_MAX + 1];

	members[0] = (struct chain_member) { thread, NULL };
	if (from_ns >= to_ns || !head)
		return;
	if (timelines_is_client(c->timelines, thread))
		explain_client(&k, head, thread, w, from_ns, to_ns);
	else if (c->options->mode == MODE_CLASSIC)
		explain_classic(&k, head, members, 1, w, c->depth, to_ns - from_ns);
	else
		explain(&k, head, w, waking_of(c, w), from_ns, to_ns, c->depth, members);
}

void chains_follow(struct chains *c, uint32_t node, const struct wait *w, struct waking by,
		   uint64_t from_ns, uint64_t to_ns, uint32_t links, int64_t count, uint64_t origin)
{
	const struct chain_member nobody = { THREAD_NONE, NULL };
	const struct chain_member waker = { w->waker, &nobody };
	uint32_t counted = c->user.identity ? chains_links(c, node) : links;
	struct walk k = { c, c->attribution, links, count, false, c->user.sink.windows, origin };

	follow(&k, node, w, by, from_ns, to_ns, c->depth - counted, &waker);
}

void chains_explain_own(struct chains *c, uint32_t head, uint32_t thread, const struct wait *w,
			uint64_t from_ns, uint64_t to_ns)
{
	enum chain_end end = w->kind == WAIT_PREEMPTED ? CHAIN_PREEMPTED : CHAIN_RUNNABLE;
	struct chain_piece p = { head, end, thread, w, from_ns, to_ns, 0, 1 };

	attribute_piece(&c->attribution, &p);
}
