// SPDX-License-Identifier: GPL-2.0-or-later
#include "format.h"

#include <inttypes.h>

void format_take_totals(const struct format_input *in, struct fold *f)
{
	if (in->totals)
		*in->totals = (struct format_totals) {
			.known = true,
			.sums = *fold_summary(f),
			.classes = fold_take_classes(f),
		};
}

void format_each_wait(const struct format_input *in, const struct options *o, struct names *names,
		      uint64_t top, bool (*visit)(void *arg, const struct chosen_wait *p),
		      void *arg)
{
	struct wait_filter *f;

	wait_filter_new(&f, in->timelines, o, names);
	top_waits_walk(in->timelines, f, top, visit, arg);
	wait_filter_free(f);
}

bool format_in_ms(const struct options *o)
{
	return o->unit != UNIT_NS && !(o->given & GIVEN_UNIT);
}

const char *format_time(char text[TEXT_MS_SIZE], const struct options *o, uint64_t ns)
{
	if (format_in_ms(o))
		return text_ms(text, ns);
	if (o->unit == UNIT_NS)
		snprintf(text, TEXT_MS_SIZE, "%" PRIu64, ns);
	else
		snprintf(text, TEXT_MS_SIZE, "%" PRIu64 ".%03" PRIu64, ns / 1000, ns % 1000);
	return text;
}

const char *format_time_unit(const struct options *o)
{
	return format_in_ms(o) ? "ms" : o->unit == UNIT_NS ? "ns" : "us";
}
