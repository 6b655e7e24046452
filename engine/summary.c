// SPDX-License-Identifier: GPL-2.0-or-later
#include "summary.h"

#include <inttypes.h>

#include "print.h"

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

static void print_trace(const struct trace *t, const char *name, FILE *out)
{
	const struct trace_info *i = trace_info(t);

	print_clean(out, name);
	fprintf(out, ": %.3f s on %" PRIu32 " CPUs, %" PRIu64 " events, %" PRIu64 " lost",
		seconds(i->end_ns - i->start_ns), i->cpus, i->events, i->lost);
	fputs(trace_damage(t)->what ? ", and what the damage took\n" : "\n", out);
}

/* The shares of the ends in the blocked time, the largest first. */
static void print_ends(const struct chain_summary *s, FILE *out)
{
	bool done[CHAIN_ENDS] = { false };
	const char *before = "chains end in ";

	for (;;) {
		int largest = -1;

		for (int end = 0; end < CHAIN_ENDS; end++)
			if (!done[end] && s->ends_ns[end] &&
			    (largest < 0 || s->ends_ns[end] > s->ends_ns[largest]))
				largest = end;
		if (largest < 0)
			break;
		done[largest] = true;
		fprintf(out, "%s%s %.1f %%", before, chain_end_name((enum chain_end)largest),
			100 * (double)s->ends_ns[largest] / (double)s->blocked_ns);
		before = ", ";
	}
	if (*before == ',')
		putc('\n', out);
}

int summary_print(const struct format_input *in, const char *name, FILE *out)
{
	struct chain_summary s;
	int err;

	print_trace(in->trace, name, out);
	if (!in->timelines)
		return 0;
	if (in->totals && in->totals->known) {
		s = in->totals->sums;
	} else {
		err = chain_summarize(in->timelines, in->options, &s);
		if (err)
			return err;
	}
	fprintf(out, "%" PRIu64 " waits: blocked %.3f s, runnable %.3f s", s.waits,
		seconds(s.blocked_ns), seconds(s.runnable_ns));
	if (s.preempted_ns)
		fprintf(out, ", preempted %.3f s", seconds(s.preempted_ns));
	if (in->options->no_idle)
		fprintf(out, "; left out as idle: %" PRIu64 " waits, %.3f s", s.idle_waits,
			seconds(s.idle_ns));
	putc('\n', out);
	print_ends(&s, out);
	if (s.ends_ns[CHAIN_NOT_WOKEN] > s.blocked_ns / 2 && !(in->options->given & GIVEN_WHO))
		fputs("most of it is threads that slept to the end: -p, -t, -c, --no-idle and "
		      "--max-wait leave them out\n",
		      out);
	return 0;
}
