/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_text.h - text of perf script in the making, for tests: events stated one by one, printed as
 * perf prints them. Names are the kernel's (at most 15 bytes), times microseconds.
 */
#pragma once

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "import/import.h"
#include "synth_script.h"
#include "trace/trace.h"

struct perf_text {
	char p[256 << 10];
	size_t len;
};

/* A thread by its name: A is 101, B 102...; - is the idle loop. */
static inline uint32_t text_tid(const char *name)
{
	return *name == '-' ? 0 : 101 + (uint32_t)(*name - 'A');
}

static inline const char *text_name(const char *name)
{
	return *name == '-' ? "swapper/0" : name;
}

__attribute__((format(printf, 2, 3))) static inline void text_line(struct perf_text *t,
								   const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	t->len += (size_t)vsnprintf(t->p + t->len, sizeof(t->p) - t->len, fmt, args);
	va_end(args);
	assert(t->len < sizeof(t->p));
}

/* Frames leaf first, joined by ';'; behind a '|' those of the user part; then an empty line. */
static inline void text_stack(struct perf_text *t, const char *frames)
{
	int user = 0;

	for (const char *p = frames; *p;) {
		int len = (int)strcspn(p, ";|");

		if (len && user)
			text_line(t, "\t    55d0c0de1000 %.*s+0x10 (/usr/bin/prog)\n", len, p);
		else if (len)
			text_line(t, "\tffffffff81399969 %.*s+0x29 ([kernel.kallsyms])\n", len, p);
		p += len;
		user |= *p == '|';
		p += *p != 0;
	}
	text_line(t, "\n");
}

static inline void text_head(struct perf_text *t, int cpu, int us, const char *who)
{
	text_line(t, "%s %5u [%03d] %5d.%06d000: ", text_name(who), text_tid(who), cpu,
		  us / 1000000, us % 1000000);
}

static inline void text_switch(struct perf_text *t, int cpu, int us, const char *prev,
			       const char *state, const char *next, const char *frames)
{
	text_head(t, cpu, us, prev);
	text_line(t,
		  "sched:sched_switch: prev_comm=%s prev_pid=%u prev_prio=120 prev_state=%s ==> "
		  "next_comm=%s next_pid=%u next_prio=120\n",
		  text_name(prev), text_tid(prev), state, text_name(next), text_tid(next));
	text_stack(t, frames);
}

/* event: sched_waking, sched_wakeup, sched_wakeup_new */
static inline void text_wakeup(struct perf_text *t, int cpu, int us, const char *waker,
			       const char *event, const char *target, const char *frames)
{
	text_head(t, cpu, us, waker);
	text_line(t, "sched:%s: comm=%s pid=%u prio=120 target_cpu=001\n", event, text_name(target),
		  text_tid(target));
	text_stack(t, frames);
}

static inline void text_migrate(struct perf_text *t, int cpu, int us, const char *who,
				const char *target, int from, int to)
{
	text_head(t, cpu, us, who);
	text_line(t,
		  "sched:sched_migrate_task: comm=%s pid=%u prio=120 orig_cpu=%d dest_cpu=%d\n\n",
		  text_name(target), text_tid(target), from, to);
}

/* A log that was made of the text, and the trace that the reader makes of it. */
struct text_trace {
	struct trace *trace;
	struct trace_bytes log;
	struct import_report report;
};

/* Imports len bytes at p. Returns what the importer does. */
static inline int text_import(struct text_trace *tt, const void *p, size_t len, int64_t written_ns,
			      int (*import)(const struct import_input *s, struct trace_bytes *out,
					    struct import_report *report))
{
	/* Of just this size, so that a read beyond it is caught. */
	uint8_t *copy = malloc(len + !len);
	const struct import_input source = { copy, len, -1, NULL, written_ns };
	int err;

	assert(copy);
	memcpy(copy, p, len);
	err = import(&source, &tt->log, &tt->report);
	free(copy);
	if (err)
		return err;
	err = trace_open_memory(&tt->trace, tt->log.base, tt->log.len);
	assert(!err && !trace_damage(tt->trace)->what);
	return 0;
}

static inline int text_open(struct text_trace *tt, const char *p, size_t len)
{
	return text_import(tt, p, len, 0, import_stream);
}

static inline void text_close(struct text_trace *tt)
{
	trace_close(tt->trace);
	trace_bytes_free(&tt->log);
}

/* Waits of one thread only, or of all ("-"), with their preempted parts. */
static inline char *text_folded(const struct trace *t, const char *thread)
{
	uint32_t tid = text_tid(thread);
	struct options o;

	options_init(&o);
	o.parts |= PART_PREEMPTED;
	if (tid)
		o.tids = (struct id_list) { &tid, 1 };
	return trace_folded(t, &o);
}
