// SPDX-License-Identifier: GPL-2.0-or-later
#include "life.h"

struct life {
	struct chains *chains;
	uint32_t thread;
	uint32_t (*head)(void *arg, uint32_t thread, uint64_t at_ns);
	void *arg;
	/* As long as the thread has one name, it has one head. */
	uint64_t from_ns, until_ns;
	uint32_t node;
	/* By end: its time below node that is added up, and whether a piece went before that. */
	uint64_t pending_ns[CHAIN_ENDS];
	bool begun[CHAIN_ENDS];
};

static void add_pending(struct life *l)
{
	const struct attribution *a = &l->chains->attribution;

	for (int end = 0; end < CHAIN_ENDS; end++) {
		struct chain_piece p = { .node = l->node,
					 .end = (enum chain_end)end,
					 .thread = l->thread,
					 .to_ns = l->pending_ns[end],
					 .count = 1 };

		if (p.to_ns && a->to.piece)
			a->to.piece(a->to.arg, &p);
		if (p.to_ns)
			attribute_time(a, l->node, p.end, p.to_ns);
		l->pending_ns[end] = 0;
		l->begun[end] = false;
	}
}

static uint32_t head_at(struct life *l, uint64_t at_ns)
{
	uint32_t node;

	if (at_ns >= l->from_ns && at_ns < l->until_ns)
		return l->node;
	node = l->head(l->arg, l->thread, at_ns);
	if (node != l->node)
		add_pending(l);
	l->node = node;
	l->from_ns = at_ns;
	l->until_ns = timelines_next_name_ns(l->chains->timelines, l->thread, at_ns);
	return node;
}

/* Whether nothing but the time of all pieces with this end is asked for, and samples. */
static bool is_sum(const struct attribution *a, enum chain_end end)
{
	switch (end) {
	case CHAIN_RUNNING:
		return !a->interrupts;
	case CHAIN_RUNNABLE:
	case CHAIN_PREEMPTED:
		return !a->cpu_holders && !a->to.piece;
	default:
		return false;
	}
}

static void add_piece(struct life *l, const struct wait *w, enum chain_end end, uint64_t from_ns,
		      uint64_t to_ns)
{
	const struct attribution *a = &l->chains->attribution;
	struct chain_piece p = { 0, end, l->thread, w, from_ns, to_ns, 0, 1 };

	p.node = from_ns < to_ns ? head_at(l, from_ns) : 0;
	if (!p.node)
		return;
	if (!is_sum(a, end) || !l->begun[end]) {
		l->begun[end] = true;
		attribute_piece(a, &p);
		return;
	}
	l->pending_ns[end] += to_ns - from_ns;
	if (end == CHAIN_RUNNING)
		attribute_samples(a, &p);
}

/* [from_ns, to_ns) of an interval off the CPU. */
static void add_wait(struct life *l, const struct wait *w, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t wake = clip_ns(w->wake_ns, from_ns, to_ns);
	uint32_t head;

	if (w->kind == WAIT_UNKNOWN) {
		add_piece(l, w, CHAIN_UNKNOWN, from_ns, to_ns);
	} else if (w->kind == WAIT_PREEMPTED) {
		add_piece(l, w, CHAIN_PREEMPTED, from_ns, to_ns);
	} else {
		head = wake > from_ns ? head_at(l, w->out_ns) : 0;
		if (head)
			chains_explain(l->chains, head, l->thread, w, from_ns, wake);
		add_piece(l, w, CHAIN_RUNNABLE, wake, to_ns);
	}
}

void life_explain(struct chains *c, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
		  uint32_t (*head)(void *arg, uint32_t thread, uint64_t at_ns), void *arg)
{
	struct life l = { .chains = c, .thread = thread, .head = head, .arg = arg };
	const struct thread *th = timelines_thread(c->timelines, thread);
	const struct wait *w = thread_interval(th, thread_position(th, from_ns));
	const struct wait *end = thread_interval(th, th->n_waits);

	for (; w < end && w->out_ns < to_ns; w++) {
		uint64_t out = clip_ns(w->out_ns, from_ns, to_ns);
		uint64_t in = clip_ns(w->in_ns, out, to_ns);

		add_piece(&l, NULL, CHAIN_RUNNING, from_ns, out);
		add_wait(&l, w, out, in);
		from_ns = in;
	}
	add_piece(&l, NULL, CHAIN_RUNNING, from_ns, to_ns);
	add_pending(&l);
}
