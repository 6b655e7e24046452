// SPDX-License-Identifier: GPL-2.0-or-later
/* Explains waits one by one: the time that each link and each end of their chains has is added to
 * the causes. */
#include "causes_private.h"

#include "common/xalloc.h"
#include "select/wait_nature.h"
#include "words/place.h"

/* The sum with this key of a node. */
static struct chain_sum *find_sum(struct causes *c, uint32_t node, uint32_t key, uint32_t end,
				  uint32_t disk)
{
	struct chain_sum *s = pair_table_at(&c->sums, node, key, sizeof(*s));

	if (!s->cause) {
		s->node = node;
		s->end = end;
		s->disk = disk;
		s->cause = causes_find(c, node, end, disk);
		causes_classify(c, s);
	}
	return s;
}

/* The place in sum_of[]. */
static uint32_t *sum_slot(struct causes *c, uint32_t node, uint32_t key)
{
	size_t i = (size_t)node * ENDS_OF_NODE + key;

	XREACH(c->sum_of, c->n_sum_of, i);
	return &c->sum_of[i];
}

/* The sum for a chain that ends as a thread was never woken, where it sleeps being known. */
static struct chain_sum *never_woken_sum(struct causes *c, uint32_t node)
{
	const struct wait *w = c->piece_wait;
	struct chain_sum *s = find_sum(c, node, NEVER_WOKEN | w->stack, CHAIN_NOT_WOKEN, 0);

	if (c->at[s->cause - 1].itself)
		causes_keep_never_woken(&c->at[s->cause - 1], w);
	return s;
}

/* The sum for a chain, with its cause. */
static struct chain_sum *sum_at(struct causes *c, uint32_t node, uint32_t end, uint32_t disk)
{
	uint32_t pause, *slot;
	struct chain_sum *s;

	if (disk || end != (uint32_t)causes_end(end) || end == CHAIN_NOT_WOKEN) {
		pause = causes_node_pauses(c, node) ? PAUSE : 0;
		if (disk)
			return find_sum(c, node, (end & THROTTLED) + pause + DISK * disk,
					end | pause, disk);
		if (end == CHAIN_NOT_WOKEN && !pause && c->piece_wait)
			return never_woken_sum(c, node);
		return find_sum(c, node, end | pause, end | pause, 0);
	}
	slot = sum_slot(c, node, end);
	if (*slot)
		return (struct chain_sum *)c->sums.at + *slot;
	pause = causes_node_pauses(c, node) ? PAUSE : 0;
	s = find_sum(c, node, end | pause, end | pause, 0);
	*slot = (uint32_t)(s - (struct chain_sum *)c->sums.at);
	return s;
}

/* Whether the sum has one stage of the sleeps that come next, all of it at once. */
static bool is_stage(const struct causes *c, const struct chain_sum *s)
{
	return c->windows_alike && causes_end(s->end) == CHAIN_NETWORK;
}

/* Adds the windows that the time of a sum is of, once. */
static void add_windows(struct causes *c, struct chain_sum *s, uint64_t ns)
{
	struct window_sum w;

	if (s->serial == c->serial || !c->windows_now.n)
		return;
	s->serial = c->serial;
	/* Nearly always it is not among the longest. */
	if (c->windows_now.longest.ns < s->windows.next.ns) {
		s->windows.n += c->windows_now.n;
		return;
	}
	w = c->windows_now;
	if ((s->end & THROTTLED || is_stage(c, s)) && ns / w.n < w.longest.ns)
		w.longest.ns = ns / w.n;
	w.next.ns = w.next.ns < w.longest.ns ? w.next.ns : w.longest.ns;
	window_sum_add(&s->windows, &w);
}

static void add_time(struct causes *c, uint32_t node, uint32_t end, uint32_t disk, uint64_t ns)
{
	struct chain_sum *s = sum_at(c, node, end, disk);

	if (!ns)
		return;
	if (c->mode != CAUSES_BATCH && c->mode != CAUSES_OWN)
		causes_add_part(c, s, ns);
	if (c->mode == CAUSES_SHOW)
		return;
	s->ns += ns;
	if (s->is_own && c->thread != THREAD_NONE)
		causes_add_own(c, s, c->thread, ns);
	/* What is moved to another sum is less than nothing. */
	if (c->mode != CAUSES_EACH && ns < UINT64_MAX / 2)
		add_windows(c, s, ns);
}

uint32_t causes_key_of_holders(void *arg, uint32_t node, enum chain_end end)
{
	return sum_at(arg, node, end, 0)->cause;
}

void causes_add_holder(void *arg, uint32_t cause, uint32_t who, uint64_t ns)
{
	struct causes *c = arg;

	if (c->mode != CAUSES_SHOW)
		sums_add(&c->had, cause, who, ns);
}

/*
 * Notes who had the CPU in ns of the time that add_time() gets. Time that a quota took is moved to
 * a cause of its own.
 */
static void add_had(struct causes *c, uint32_t node, uint32_t end, uint32_t who, uint64_t ns)
{
	struct chain_sum *s = sum_at(c, node, end, 0);

	if (cpu_holder_throttled(who)) {
		add_time(c, node, end, 0, -ns);
		end |= THROTTLED;
		add_time(c, node, end, 0, ns);
		s = sum_at(c, node, end, 0);
	}
	causes_add_holder(c, s->cause, who, ns);
}

/* Time in which an I/O limit held back what a disk was asked for: not the disk's. */
static void add_held(struct causes *c, uint32_t node, uint32_t disk, uint64_t ns)
{
	uint32_t end = CHAIN_DISK | THROTTLED;
	struct chain_sum *s;

	add_time(c, node, end, disk, ns);
	s = ns && c->mode != CAUSES_SHOW ? sum_at(c, node, end, disk) : NULL;
	if (s)
		sums_add(&c->had, s->cause,
			 disk_limit_holder(timelines_disk_request_kind(c->timelines, disk)), ns);
}

static void add_samples(struct causes *c, uint32_t node, uint32_t end, uint32_t pair, uint64_t n)
{
	struct chain_sum *s = c->mode == CAUSES_SHOW ? NULL : sum_at(c, node, end, 0);

	if (s)
		sums_add(&c->samples, s->cause, pair, n);
}

/*
 * A chain_sink's. The time that a request waits in the queue and the time for which the device has
 * it are one cause. So is the network for all sockets: a cause says what its sleep was mostly for.
 */
void causes_add_amount(void *arg, uint32_t node, struct amount_key key, uint64_t amount)
{
	if (key.end == CHAIN_DISK && key.stage == DISK_HELD)
		add_held(arg, node, key.value, amount);
	else if (key.end == CHAIN_NETWORK && network_stage_name(key.stage))
		add_time(arg, node, CHAIN_NETWORK | TCP_TIMER * (key.stage - NETWORK_TIMER), 0,
			 amount);
	else if (key.kind == AMOUNT_TIME)
		add_time(arg, node, key.end, key.end == CHAIN_DISK ? key.value : 0, amount);
	else if (key.kind == AMOUNT_CPU_HOLDER)
		add_had(arg, node, key.end, key.value, amount);
	else if (key.kind == AMOUNT_SAMPLES)
		add_samples(arg, node, key.end, key.value, amount);
}

/* A chain_sink's. */
void causes_add_window(void *arg, uint32_t node, uint32_t waker, uint64_t from_ns, uint64_t to_ns)
{
	struct causes *c = arg;

	if (c->mode == CAUSES_BATCH) /* it is not of one wait */
		return;
	XAPPEND(c->windows, c->n_windows, c->cap_windows) =
		(struct window) { node, waker, from_ns, to_ns };
}

/* The number of a node's sum that is for no pause; 0: there is none, by whichever worker. */
uint32_t causes_known_sum(const struct causes *c, uint32_t node, uint32_t end)
{
	return pairs_find(&c->sums.keys, node, end);
}

/* Counts whom else the last wakers in the chains of the current wait woke meanwhile. */
static void count_woken(struct causes *c)
{
	for (size_t i = 0; i < c->n_windows; i++) {
		const struct window *w = &c->windows[i];
		uint32_t ran = causes_known_sum(c, w->node, CHAIN_RUNNING);
		uint32_t sum = ran ? ran : causes_known_sum(c, w->node, CHAIN_RUNNABLE);
		uint32_t cause = sum ? ((const struct chain_sum *)c->sums.at)[sum].cause : 0;

		if (!cause || !c->part[cause].ns)
			continue;
		c->at[cause - 1].windows_ns += w->to_ns - w->from_ns;
		woken_meanwhile_add(&c->woken, cause, c->wakings, w->waker, w->from_ns, w->to_ns);
	}
	c->n_windows = 0;
}

/* Where the thread was when it lost its CPU: the last sample of the time that it ran before. */
static void say_where_it_ran(struct causes *c, uint32_t node, const struct chosen_wait *p)
{
	const struct thread *th = timelines_thread(c->timelines, p->thread);
	const struct sample *end, *at = timelines_samples(c->timelines, p->thread, &end), *last;
	uint64_t since_ns = p->wait > th->waits ? p->wait[-1].in_ns : th->begin_ns;

	last = at ? sample_at(at, end, p->wait->out_ns) : NULL;
	if (!last || last == at || last[-1].ns < since_ns)
		return;
	/* Where the kernel took the CPU says nothing. */
	if (!names_shown_stack(c->names, last[-1].pair, UINT32_MAX, true).user.n)
		return;
	for (int throttled = 0; throttled < 2; throttled++) {
		uint32_t sum = pairs_find(&c->sums.keys, node,
					  CHAIN_PREEMPTED | (throttled ? THROTTLED : 0));
		const struct chain_sum *sums = c->sums.at;

		if (sum)
			sums_add(&c->wheres, sums[sum].cause,
				 causes_place(c, last[-1].pair, UINT32_MAX, true, false),
				 chosen_wait_ns(p));
	}
}

/* The time of a wait in which its thread was ready itself. */
void causes_explain_own(struct causes *c, uint32_t head, const struct chosen_wait *p)
{
	const struct shown *s = &p->shown;
	bool preempted = p->wait->kind == WAIT_PREEMPTED;

	if (s->off_to_ns <= s->off_from_ns)
		return;
	chains_explain_own(&c->chains, head, p->thread, p->wait, s->off_from_ns, s->off_to_ns);
	/* A trace that does not say what CPUs ran may still say that there was a quota. */
	if (!c->cpu_holders && wait_throttled(p->wait))
		add_had(c, head, preempted ? CHAIN_PREEMPTED : CHAIN_RUNNABLE, HOLDER_THROTTLED,
			s->off_to_ns - s->off_from_ns);
	if (preempted && c->mode != CAUSES_SHOW)
		say_where_it_ran(c, head, p);
}

/* A chain_sink's: the piece whose time comes next. */
void causes_begin_piece(void *arg, const struct chain_piece *p)
{
	struct causes *c = arg;

	if (c->mode == CAUSES_BATCH) /* it is told of windows */
		return;
	if (c->mode == CAUSES_OWN) {
		c->serial++;
		c->windows_now.longest.ns = p->to_ns - p->from_ns;
	}
	c->piece_ns = p->to_ns - p->from_ns;
	c->piece_wait = p->wait;
	c->thread = p->thread;
}

/* What others did while the thread had no work does not matter. */
void causes_explain_no_work(struct causes *c, uint32_t head, const struct chosen_wait *p)
{
	const struct shown *s = &p->shown;

	causes_begin_piece(c, &(struct chain_piece) { .thread = p->thread,
						      .from_ns = s->blocked_from_ns,
						      .to_ns = s->blocked_to_ns });
	add_time(c, head, CHAIN_ENDS, 0, c->piece_ns);
}

static void explain_blocked(struct causes *c, const struct chosen_wait *p)
{
	const struct shown *s = &p->shown;
	enum wait_nature nature = wait_filter_nature(c->filter, p->thread, p->wait);
	uint32_t head = causes_head_of(c, p, nature != WAIT_FOR_OTHERS);

	if (nature == WAIT_FOR_WORK)
		causes_explain_no_work(c, head, p);
	else
		chains_explain(&c->chains, head, p->thread, p->wait, s->blocked_from_ns,
			       s->blocked_to_ns);
}

void causes_explain_wait(struct causes *c, const struct chosen_wait *p)
{
	uint32_t head = causes_head_of(c, p, false);

	if (p->wait->kind == WAIT_SLEEP)
		explain_blocked(c, p);
	count_woken(c);
	causes_explain_own(c, head, p);
	causes_count_wait(c, p, causes_label(c, c->chains.nodes.at[head].b).who);
}
