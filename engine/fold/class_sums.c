// SPDX-License-Identifier: GPL-2.0-or-later
#include "class_sums.h"

bool class_sums_known(const struct timelines *tl)
{
	return trace_objects_end(timelines_trace(tl)) > 1;
}

uint32_t class_of_wait(const struct timelines *tl, uint32_t pair)
{
	struct stack_pair p = timelines_pair(tl, pair);
	const struct trace_object *o =
		trace_object(timelines_trace(tl), p.ready ? p.ready : p.object);

	return o ? o->class : 0;
}

void class_sums_add(struct who_sums *s, uint32_t class, uint64_t blocked_ns)
{
	who_sums_add(s, class ? class : WHO_UNKNOWN, blocked_ns);
}

void class_sums_add_thread(struct who_sums *s, const struct timelines *tl, struct wait_filter *f,
			   uint32_t thread)
{
	const struct thread *th = timelines_thread(tl, thread);

	for (uint32_t i = 0; i < th->n_waits; i++) {
		const struct wait *w = &th->waits[i];
		struct shown shown;

		if (w->kind == WAIT_SLEEP && wait_filter_wait(f, thread, w, &shown))
			class_sums_add(s, class_of_wait(tl, w->stack),
				       shown.blocked_to_ns - shown.blocked_from_ns);
	}
}
