// SPDX-License-Identifier: GPL-2.0-or-later
#include "on_cpu.h"

/* Reports [from_ns, to_ns) under the name that the thread had at its beginning, as for a wait. */
static void add_stretch(const struct timelines *tl, uint32_t thread, uint64_t from_ns,
			uint64_t to_ns, enum chain_end end, struct on_cpu_user user)
{
	const struct sample *last, *s = timelines_samples(tl, thread, &last);
	uint32_t name;

	if (from_ns >= to_ns)
		return;
	name = timelines_name(tl, thread, from_ns);
	user.add(user.arg, thread, name, end, to_ns - from_ns);
	if (end != CHAIN_ON_CPU || s == last)
		return;
	for (s = sample_at(s, last, from_ns); s < last && s->ns < to_ns; s++)
		user.ran(user.arg, thread, name, s->pair);
}

void on_cpu_walk(const struct timelines *tl, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
		 struct on_cpu_user user)
{
	const struct thread *th = timelines_thread(tl, thread);
	uint64_t begin = clip_ns(th->begin_ns, from_ns, to_ns);
	uint64_t end = clip_ns(th->end_ns, from_ns, to_ns), at = begin;
	/* Unknown intervals that follow each other are reported as one: [unknown, at). */
	uint64_t unknown = begin;

	for (uint32_t i = thread_position(th, begin); i < th->n_waits; i++) {
		const struct wait *w = &th->waits[i];
		uint64_t out = clip_ns(w->out_ns, begin, end), in = clip_ns(w->in_ns, begin, end);

		if (w->out_ns >= end)
			break;
		if (w->kind != WAIT_UNKNOWN || out > at) {
			add_stretch(tl, thread, unknown, at, CHAIN_UNKNOWN, user);
			unknown = out;
		}
		add_stretch(tl, thread, at, out, CHAIN_ON_CPU, user);
		at = in;
		if (w->kind != WAIT_UNKNOWN)
			unknown = in;
	}
	add_stretch(tl, thread, unknown, at, CHAIN_UNKNOWN, user);
	add_stretch(tl, thread, at, end, CHAIN_ON_CPU, user);
}
