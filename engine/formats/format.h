/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * format.h - the interface of chainwalk's output formats, one file each (format_*.c). A new format
 * is a new file and one line in the table in format_table.c.
 */
#pragma once

#include <stdio.h>

#include "base/options.h"
#include "base/text.h"
#include "fold/fold.h"
#include "select/top_waits.h"
#include "timeline/timeline.h"
#include "trace/trace.h"

struct folded;
struct joined_host;
struct import_report;

/* The totals of the selected waits, for the summary; from a format that computes them anyway. */
struct format_totals {
	bool known;
	struct chain_summary sums;
	struct sums classes; /* time by wait_class(), as thing 0 */
	/*
	 * If .tells: the names of the threads and processes that the output tells of. Notes on the
	 * stacks of others say nothing about it.
	 */
	struct word_list told;
	bool tells;
};

/* The input of a format. */
struct format_input {
	const struct trace *trace;
	const struct import_report *import; /* of imported text; NULL: a trace of chaincap */
	const struct timelines *timelines;  /* NULL unless format.wants_timelines */
	const struct options *options;
	const char *path; /* the trace's, for commands that are shown; NULL: none is needed */
	/*
	 * SEVERAL_KEYED, and tables as JSON: the first member of each object, by which traces are
	 * told apart; or NULL.
	 */
	const char *key, *label;
	/* Traces of machines that answer each other, in format.joins; n_hosts 0: there are none. */
	const struct joined_host *hosts;
	uint32_t n_hosts;
	struct format_totals *totals; /* filled by a format that has them; NULL: not needed */
};

/* How a format shows several traces. */
enum format_several {
	SEVERAL_REFUSED, /* bad usage */
	SEVERAL_MERGED,	 /* folded lines, which are added up */
	SEVERAL_HEADED,	 /* one after the other, each below its name */
	SEVERAL_ADDED,	 /* rows, which say which trace they are of */
	SEVERAL_KEYED,	 /* JSON objects, each with its trace as a member */
};

struct format {
	const char *name;    /* for --format */
	const char *summary; /* for --help: at most 66 characters */
	bool wants_timelines;
	bool wants_cpus;   /* shows who had the CPU, also without --who-ran */
	bool binary;	   /* not for a terminal */
	bool database;	   /* opens the file of --output itself, and adds to what it has */
	bool one_table;	   /* of these: --table has to say which */
	bool running;	   /* shows running time, too (--state running) */
	bool blocked_only; /* shows blocked time only: --state with other parts is bad usage */
	enum format_several several;
	bool joins;	/* of several traces it shows what one machine did for another one */
	uint64_t takes; /* GIVEN_*, or-ed: all other options are bad usage here */
	/*
	 * Writes the result to out (NULL: database). Returns 0 or a negative errno; -ECANCELED: it
	 * has said why on standard error. Write errors are not returned: the caller checks
	 * ferror(out).
	 */
	int (*write)(const struct format_input *in, FILE *out);
	/*
	 * SEVERAL_MERGED: adds its folded lines to those of other traces, below a frame `root` (a
	 * raw name) unless that is NULL.
	 */
	void (*fold)(const struct format_input *in, const char *root, struct folded *lines);
};

/* Passes the totals of a fold to the caller, if they are needed. */
void format_take_totals(const struct format_input *in, struct fold *f);
/*
 * Calls visit for each wait that the options choose, as top_waits_walk() does. names have the same
 * options.
 */
void format_each_wait(const struct format_input *in, const struct options *o, struct names *names,
		      uint64_t top, bool (*visit)(void *arg, const struct chosen_wait *p),
		      void *arg);

/* Tables have milliseconds unless a unit was asked for. */
bool format_in_ms(const struct options *o);
/* A time in a table: in milliseconds, or exact in the unit that was asked for. Returns text. */
const char *format_time(char text[TEXT_MS_SIZE], const struct options *o, uint64_t ns);
/* The unit of such times, for the table's note. */
const char *format_time_unit(const struct options *o);

/* Each is defined in its own file, format_NAME.c. */
extern const struct format format_folded, format_tree, format_json, format_threads, format_hist,
	format_wakers, format_events, format_info, format_csv, format_pprof, format_perfetto,
	format_causes, format_objects, format_io, format_requests, format_rows, format_rowbinary,
	format_otlp, format_sqlite;
