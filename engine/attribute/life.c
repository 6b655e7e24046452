// SPDX-License-Identifier: GPL-2.0-or-later
#include "life.h"

struct life {
	struct chains *chains;
	uint32_t thread;
	uint32_t (*head)(void *arg, uint32_t thread, uint64_t at_ns);
	void *arg;
};

static void add_piece(const struct life *l, const struct wait *w, enum chain_end end,
		      uint64_t from_ns, uint64_t to_ns)
{
	uint32_t head = from_ns < to_ns ? l->head(l->arg, l->thread, from_ns) : 0;

	if (head)
		attribute_piece(&l->chains->attribution,
				&(struct chain_piece) { head, end, l->thread, w, from_ns, to_ns, 0,
							1 });
}

/* [from_ns, to_ns) of an interval off the CPU. */
static void add_wait(const struct life *l, const struct wait *w, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t wake = clip_ns(w->wake_ns, from_ns, to_ns);
	uint32_t head;

	if (w->kind == WAIT_UNKNOWN) {
		add_piece(l, w, CHAIN_UNKNOWN, from_ns, to_ns);
	} else if (w->kind == WAIT_PREEMPTED) {
		add_piece(l, w, CHAIN_PREEMPTED, from_ns, to_ns);
	} else {
		head = wake > from_ns ? l->head(l->arg, l->thread, w->out_ns) : 0;
		if (head)
			chains_explain(l->chains, head, l->thread, w, from_ns, wake);
		add_piece(l, w, CHAIN_RUNNABLE, wake, to_ns);
	}
}

void life_explain(struct chains *c, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
		  uint32_t (*head)(void *arg, uint32_t thread, uint64_t at_ns), void *arg)
{
	const struct life l = { c, thread, head, arg };
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
}
