/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * engine.h - what the engine's fuzz targets have in common: what trace.h promises of any input, and
 * all output formats over it.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "attribute/sleep_ends.h"
#include "fold/folded.h"
#include "format_table.h"
#include "import/import_report.h"
#include "replay.h"

static inline void must(int ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "broken promise: %s\n", what);
		abort();
	}
}

/* What trace.h promises of any input. */
static inline void check_promises(const struct trace *t)
{
	struct trace_cursor *c;
	const struct trace_info *info = trace_info(t);
	uint64_t last_ns = info->start_ns, n = 0, more = 0;
	struct event ev;

	must(!trace_cursor_new(&c, t), "memory for a cursor");
	must(info->tids_end <= TRACE_TID_LIMIT, "tids are bounded");
	while (trace_cursor_next(c, &ev)) {
		must(ev.time_ns >= last_ns, "times do not decrease");
		must(ev.time_ns <= info->end_ns, "no event after the end");
		must(ev.tid < info->tids_end, "tids are bounded");
		must(ev.kind == EVENT_WAITS_FOR /* a pair */ || ev.other < info->tids_end,
		     "tids of others are bounded");
		must(ev.kstack < trace_stacks_end(t), "stack ids are in range");
		must(ev.ustack < trace_stacks_end(t), "stack ids are in range");
		must(ev.string < trace_strings_end(t), "string ids are in range");
		for (const struct event_field *f = event_fields(ev.kind); f->type; f++)
			must(f->type != FIELD_OBJECT || event_value(&ev, f) < trace_objects_end(t),
			     "object ids are in range");
		must((ev.kind != EVENT_LOST && ev.kind != EVENT_AUX_LOST) ||
			     ev.lost.last_ns >= ev.time_ns,
		     "losses have a length");
		last_ns = ev.time_ns;
		n += ev.kind < EVENT_LOST;
		more += ev.kind >= EVENT_AUX;
	}
	must(trace_cursor_error(c) == 0, "the cursor meets no malformed block");
	must(n == info->events, "as many events as counted");
	must(more <= info->aux_events, "no more of the other kinds than counted");
	trace_cursor_free(c);
}

static inline void write_as(const struct format *f, struct format_input in, struct options o,
			    bool requests)
{
	FILE *out = fopen("/dev/null", "w");

	must(out != NULL, "/dev/null");
	o.requests = requests;
	if (f->blocked_only)
		o.parts = PART_BLOCKED;
	in.options = &o;
	(void)f->write(&in, out);
	fclose(out);
}

/* The first screen as JSON, and that of what is called as the first thread and the first endpoint
 * are. */
static inline void write_screen(const struct format *f, struct format_input in, struct options o)
{
	const struct timelines *tl = in.timelines;
	const struct request_endpoint *e;
	const char *name = "";
	struct options own;
	char why[128];
	uint32_t n;

	o.json = o.screen_json = true;
	write_as(f, in, o, false);
	if (timelines_threads(tl))
		name = trace_string(in.trace, timelines_thread(tl, 0)->name);
	if (*name) {
		o.processes.names = (struct path_list) { &name, 1 };
		write_as(f, in, o, false);
		o.processes.names = (struct path_list) { NULL, 0 };
	}
	e = timelines_endpoints(tl, &n);
	name = n ? trace_string(in.trace, e->name) : "";
	/* As an expression it would be the C library that is tried. */
	if (!*name || strpbrk(name, "\{}()[]*+?|^$"))
		return;
	options_init(&own);
	must(!regex_list_add(&own.endpoints, name, why, sizeof(why)), "an expression");
	o.endpoints = own.endpoints;
	write_as(f, in, o, true);
	options_free(&own);
}

/* All formats, of the waits of threads and of requests. */
static inline void write_all(const struct trace *t, const struct options *o)
{
	struct format_input in = { .trace = t };
	struct timelines *timelines = NULL;
	const struct format *f;

	if (!timelines_new_with_cpus(&timelines, t))
		sleep_ends_settle(timelines);
	for (size_t i = 0; timelines && (f = format_at(i)); i++) {
		in.timelines = f->wants_timelines ? timelines : NULL;
		write_as(f, in, *o, false);
		if (f->takes & GIVEN_REQUESTS)
			write_as(f, in, *o, true);
		if (!strcmp(f->name, "causes"))
			write_screen(f, in, *o);
	}
	timelines_free(timelines);
}

/* What an import made must be a sound trace, which every format writes. Frees log. */
static inline void check_imported(const struct trace_bytes *log, const struct import_report *report)
{
	struct options o;
	struct trace *t;

	must(trace_open_memory(&t, log->base, log->len) == 0, "a trace is made");
	must(!trace_damage(t)->what, "the trace is sound");
	must(trace_info(t)->complete, "the trace is complete");
	/* Sums of off-CPU time become switches, too. */
	must(trace_info(t)->events_of[EVENT_SWITCH] >= report->switches, "no switch is lost");
	check_promises(t);
	options_init(&o);
	o.parts = PART_BLOCKED | PART_RUNNABLE | PART_PREEMPTED;
	write_all(t, &o);
	options_free(&o);
	trace_close(t);
	trace_bytes_free(log);
}
