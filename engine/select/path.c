// SPDX-License-Identifier: GPL-2.0-or-later
#include "path.h"

#include <stdlib.h>

#include "common/xalloc.h"
#include "scope.h"

/*
 * When the recorder's child became the command: it has another name from then on, if that is not
 * the recorder's own.
 */
static uint64_t began_ns(const struct timelines *tl, uint32_t thread)
{
	const struct thread *th = timelines_thread(tl, thread);
	uint32_t recorder = trace_info(timelines_trace(tl))->recorder_name;

	if (!th->renames || !recorder || th->name != recorder)
		return th->begin_ns;
	return timelines_next_name_ns(tl, thread, th->begin_ns);
}

/* What of it --from and --to leave. */
static void cut_to_range(struct path *p, const struct timelines *tl, const struct options *o)
{
	uint64_t start = timelines_start_ns(tl), all = timelines_end_ns(tl) - start;

	p->from_ns = clip_ns(start + clip_ns(o->from_ns, 0, all), p->from_ns, p->to_ns);
	p->to_ns = clip_ns(start + clip_ns(o->to_ns, 0, all), p->from_ns, p->to_ns);
}

static void find_command(struct path *p, const struct timelines *tl, const struct options *o)
{
	for (uint32_t i = 0; i < timelines_threads(tl); i++) {
		if (timelines_thread(tl, i)->tid != o->command)
			continue;
		*p = (struct path) { i, began_ns(tl, i), timelines_thread(tl, i)->end_ns, true };
		cut_to_range(p, tl, o);
		return;
	}
}

/*
 * Which threads the command that was recorded started, to be freed. A thread is numbered after the
 * one that started it.
 */
static bool *find_commands(const struct timelines *tl)
{
	uint32_t command = trace_info(timelines_trace(tl))->command_tgid, n = timelines_threads(tl);
	bool *is_its = xcalloc((size_t)n + 1, sizeof(*is_its));

	for (uint32_t i = 0; i < n && command; i++) {
		const struct thread *th = timelines_thread(tl, i);

		is_its[i] = th->tgid == command || (th->parent < n && is_its[th->parent]);
	}
	return is_its;
}

static bool is_better(const bool *is_commands, const struct path *p, const struct path *than)
{
	if (than->from_ns < than->to_ns && is_commands[p->thread] != is_commands[than->thread])
		return is_commands[p->thread];
	return p->to_ns - p->from_ns > than->to_ns - than->from_ns;
}

static void find_named(struct path *p, const struct timelines *tl, const struct options *o)
{
	uint32_t n = timelines_threads(tl);
	bool *is_in, *is_commands = find_commands(tl), answers = false;

	scope_find(&is_in, tl, o);
	for (uint32_t i = 0; i < n; i++) {
		const struct thread *th = timelines_thread(tl, i);
		struct path this = { i, th->begin_ns, th->end_ns, false };

		cut_to_range(&this, tl, o);
		if (is_in[i] && (o->tids.n || th->tid == th->tgid) && this.from_ns < this.to_ns &&
		    is_better(is_commands, &this, p))
			*p = this;
	}
	for (uint32_t i = n; i < timelines_clients_end(tl); i++)
		answers |= is_in[i];
	if (answers)
		*p = (struct path) { .thread = 0 };
	free(is_commands);
	free(is_in);
}

void path_find(struct path *p, const struct timelines *tl, const struct options *o)
{
	*p = (struct path) { .thread = 0 };
	if (o->command)
		find_command(p, tl, o);
	else if (o->processes.ids.n || o->processes.names.n ||
		 (o->tids.n && (o->from_ns || o->to_ns != UINT64_MAX))) {
		find_named(p, tl, o);
		return;
	}
}

static uint64_t overlap_ns(const struct path *p, uint64_t from_ns, uint64_t to_ns)
{
	return clip_ns(to_ns, p->from_ns, p->to_ns) - clip_ns(from_ns, p->from_ns, p->to_ns);
}

void path_ran_ns(uint64_t *own_ns, uint64_t *others_ns, const struct path *p,
		 const struct timelines *tl, const struct options *o)
{
	bool *is_in;

	scope_find(&is_in, tl, o);
	*own_ns = *others_ns = 0;
	for (uint32_t i = 0; i < timelines_threads(tl); i++) {
		const struct thread *th = timelines_thread(tl, i);
		uint64_t *ns = is_in[i] ? own_ns : others_ns;

		*ns += overlap_ns(p, th->begin_ns, th->end_ns);
		for (uint32_t w = 0; w < th->n_waits; w++)
			*ns -= overlap_ns(p, th->waits[w].out_ns, th->waits[w].in_ns);
	}
	free(is_in);
}
