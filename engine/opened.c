// SPDX-License-Identifier: GPL-2.0-or-later
#include "opened.h"

#include <errno.h>

#include "attribute/sleep_ends.h"

int opened_open(struct opened *t, const char *path, const struct format *format,
		const struct options *o)
{
	/* Building timelines finds malformed events: no separate check then. */
	int err = recording_open(&t->rec, o->open_as ? o->open_as : path, !format->wants_timelines,
				 o->sample_event);

	t->is_open = !err;
	return err;
}

/* Builds the timelines. Malformed events are found on the way: then again, without their blocks. */
static int link_waits(struct opened *t, bool with_cpus, bool native)
{
	int (*make)(struct timelines **, const struct trace *) =
		with_cpus ? timelines_new_with_cpus : timelines_new;
	struct trace *trace = t->rec.trace;
	int err = make(&t->timelines, trace);

	if (err == -EBADMSG) {
		err = trace_check(trace);
		if (err)
			return err;
		trace_choose_frames(trace, native);
		err = make(&t->timelines, trace);
	}
	if (!err)
		sleep_ends_settle(t->timelines);
	return err;
}

/* Names what has no name, if that is asked for, or if the recording has no names of functions. */
static int name_functions(struct opened *t, const struct options *o, struct symbols **symbols)
{
	const struct recording *rec = &t->rec;
	bool has_none = rec->import && rec->import->source == IMPORT_FROM_PERF_DATA;

	if (!symbols_wanted(o) && !has_none)
		return 0;
	if (!*symbols)
		symbols_new(symbols, o);
	return symbols_apply(*symbols, rec->trace);
}

int opened_link(struct opened *t, const struct options *o, const struct format *format,
		struct symbols **symbols)
{
	int err;

	if (t->timelines)
		return 0;
	trace_choose_frames(t->rec.trace, o->native);
	err = name_functions(t, o, symbols);
	if (!err && format->wants_timelines)
		err = link_waits(t, format->wants_cpus || o->who_ran, o->native);
	return err;
}

void opened_close(struct opened *t)
{
	timelines_free(t->timelines);
	if (t->is_open)
		recording_close(&t->rec);
	*t = (struct opened) { .is_open = false };
}
