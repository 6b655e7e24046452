/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * format.h - the output formats of chainwalk, one file each (format_*.c), behind one small
 * interface. A new format is a new file and one line in the table in format.c.
 */
#ifndef ENGINE_FORMAT_H
#define ENGINE_FORMAT_H

#include <stdio.h>

#include "fold.h"
#include "options.h"
#include "timeline.h"
#include "trace.h"

/* The totals of the waits shown, for the summary: a format that sums up anyway leaves them here. */
struct format_totals {
	bool known;
	struct chain_summary sums;
};

/* What a format gets to work with. */
struct format_input {
	const struct trace *trace;
	const struct timelines *timelines; /* NULL for a format that does not want them */
	const struct options *options;
	struct format_totals *totals; /* NULL: nobody wants to know them */
};

/* What a format makes of several traces. */
enum format_several {
	SEVERAL_REFUSED, /* bad usage */
	SEVERAL_MERGED,	 /* folded lines, which are added up (several.h) */
	SEVERAL_HEADED,	 /* one after the other, each below its name */
	SEVERAL_KEYED,	 /* objects, each of which says its trace */
};

struct format {
	const char *name;    /* as --format takes it */
	const char *summary; /* one line for --help */
	bool wants_timelines;
	bool blocked_only; /* shows blocked time alone: --state for other parts is bad usage */
	enum format_several several;
	unsigned int refuses; /* enum options_given without a meaning here: bad usage */
	/*
	 * Writes the result to out. Returns 0 or a negative errno; -EPIPE and other write errors
	 * are left in ferror(out) for the caller to see.
	 */
	int (*write)(const struct format_input *in, FILE *out);
};

/* Each is defined in its own file, format_NAME.c. */
extern const struct format format_folded, format_tree, format_json, format_threads, format_hist,
	format_wakers, format_events, format_info, format_csv, format_pprof, format_perfetto,
	format_speedscope, format_html;

/* NULL: there is no such format. */
const struct format *format_find(const char *name);
/* Iterates over the table: i from 0, NULL at its end. */
const struct format *format_at(size_t i);

#endif /* ENGINE_FORMAT_H */
