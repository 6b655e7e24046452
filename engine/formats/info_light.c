// SPDX-License-Identifier: GPL-2.0-or-later
#include "info_light.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/xalloc.h"

/* What was told last of this CPU held up to now. */
static void held(struct info_light *l, const struct trace *t, size_t timers,
		 const struct info_light_cpu *c, uint64_t now_ns)
{
	if (c->ns > trace_info(t)->light_ns && now_ns > c->since_ns)
		l->raised_ns[timers] += now_ns - c->since_ns;
}

void info_light_event(struct info_light *l, const struct trace *t, const struct event *ev)
{
	size_t timers;
	struct info_light_cpu *c;

	if (ev->kind != EVENT_STACKS_FROM)
		return;
	timers = ev->stacks_from.timers != 0;
	XREACH(l->cpus[timers], l->n_cpus[timers], ev->cpu);
	c = &l->cpus[timers][ev->cpu];
	held(l, t, timers, c, ev->time_ns);
	*c = (struct info_light_cpu) { ev->stacks_from.ns, ev->time_ns };
	if (c->ns > l->most_ns[timers])
		l->most_ns[timers] = c->ns;
}

void info_light_write(struct info_light *l, const struct trace *t, FILE *out)
{
	static const char *const of[] = { "", "timer_" };
	const struct trace_info *i = trace_info(t);

	if (i->light_ns)
		fprintf(out, "stacks_from_ns: %" PRIu64 "\n", i->light_ns);
	for (size_t timers = 0; timers < 2; timers++) {
		for (size_t k = 0; k < l->n_cpus[timers]; k++)
			held(l, t, timers, &l->cpus[timers][k], i->end_ns);
		free(l->cpus[timers]);
		if (!i->light_ns || !l->n_cpus[timers])
			continue;
		/* Where more sleeps ended than may cost stacks; in ns of all CPUs. */
		fprintf(out, "%sstacks_from_at_most_ns: %" PRIu64 "\n", of[timers],
			l->most_ns[timers]);
		fprintf(out, "%sstacks_from_raised_ns: %" PRIu64 "\n", of[timers],
			l->raised_ns[timers]);
	}
	*l = (struct info_light) { 0 };
}
