// SPDX-License-Identifier: GPL-2.0-or-later
#include "quota_users.h"

#include <string.h>

static bool is_within(const char *path, const char *group)
{
	size_t len = strlen(group);

	return !strncmp(path, group, len) &&
	       (!path[len] || path[len] == '/' || group[len - 1] == '/');
}

/*
 * Whether a thread was in the group then; or its quota held the thread up at any time, where the
 * trace has the groups of another hierarchy.
 */
static bool is_member(const struct timelines *tl, uint32_t thread, uint64_t at_ns, uint32_t path)
{
	const struct trace *t = timelines_trace(tl);
	const struct thread *th = timelines_thread(tl, thread);
	const struct wait all = { .wake_ns = 0, .in_ns = UINT64_MAX };
	uint32_t group = timelines_group(tl, thread, at_ns < th->end_ns ? at_ns : th->end_ns - 1);
	size_t n;
	const struct throttle *at = timelines_throttles(tl, thread, &all, &n);

	for (size_t i = 0; i < n; i++)
		if (at[i].group == path)
			return true;
	return group && is_within(trace_string(t, group), trace_string(t, path));
}

/* How long a thread ran in [from_ns, to_ns). */
static uint64_t ran_ns(const struct thread *th, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t begin = clip_ns(th->begin_ns, from_ns, to_ns);
	uint64_t end = clip_ns(th->end_ns, from_ns, to_ns), ns = end - begin;

	for (uint32_t i = thread_position(th, begin); i < th->n_waits; i++) {
		const struct wait *w = &th->waits[i];

		if (w->out_ns >= end)
			break;
		ns -= clip_ns(w->in_ns, begin, end) - clip_ns(w->out_ns, begin, end);
	}
	return ns;
}

void quota_users(const struct timelines *tl, uint32_t path, uint64_t at_ns,
		 void (*fn)(void *arg, uint32_t thread, uint64_t ns), void *arg)
{
	uint64_t from_ns = at_ns > QUOTA_PERIOD_NS ? at_ns - QUOTA_PERIOD_NS : 0;

	for (uint32_t i = 0; i < timelines_threads(tl); i++) {
		const struct thread *th = timelines_thread(tl, i);
		uint64_t ns;

		if (th->begin_ns >= at_ns || th->end_ns <= from_ns)
			continue;
		ns = ran_ns(th, from_ns, at_ns);
		if (ns && is_member(tl, i, at_ns, path))
			fn(arg, i, ns);
	}
}
