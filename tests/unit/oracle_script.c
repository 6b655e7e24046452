// SPDX-License-Identifier: GPL-2.0-or-later
#include "oracle_script.h"

#include <stdlib.h>
#include <string.h>

#include "synth_script.h"

struct options oracle_options(struct oracle_asked asked)
{
	struct options o;

	options_init(&o);
	o.depth = asked.depth;
	o.mode = asked.classic ? MODE_CLASSIC : MODE_EXACT;
	o.who_ran = asked.who_ran;
	o.plain_ends = asked.plain_ends;
	o.fold_repeats = asked.fold_repeats;
	o.requests = asked.requests;
	o.no_idle = asked.no_idle;
	o.parts = asked.own ? PART_ALL : PART_BLOCKED | PART_RUNNABLE | PART_PREEMPTED;
	o.unit = UNIT_NS;
	return o;
}

/* Both engines' lines. To be freed. */
static char *agreed(const char *script, struct oracle_asked asked)
{
	struct options o = oracle_options(asked);
	struct synth *m = script_made(script);
	struct trace *t = synth_open(m);
	char *lines = oracle_folded(t, &asked);

	expect_text(trace_folded(t, &o), lines);
	trace_close(t);
	synth_free(m);
	return lines;
}

void both_agree(const char *script, struct oracle_asked asked)
{
	free(agreed(script, asked));
}

void both_fold(const char *script, struct oracle_asked asked, const char *begin,
	       const char *expected)
{
	char *lines = agreed(script, asked), *to = lines;

	for (char *line = lines, *end; (end = strchr(line, '\n')); line = end + 1) {
		size_t len = (size_t)(end + 1 - line);

		if (strncmp(line, begin, strlen(begin)))
			continue;
		memmove(to, line, len);
		to += len;
	}
	*to = '\0';
	expect_text(lines, expected);
}
