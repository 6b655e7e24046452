/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfetto.h - writes a trace for the Perfetto UI and trace processor: tracks, slices on them, and
 * flows between slices, as TrackEvents in TracePackets; samples of running threads as PerfSamples.
 * It owns the field numbers, taken from
 * https://github.com/google/perfetto/tree/main/protos/perfetto/trace, and the interning of strings;
 * the caller decides what is on the tracks.
 *
 * Packets are written one by one, in any order of time: readers sort them. Only the numbers of
 * interned strings stay in memory. The caller chooses the ids of tracks, from 1, and describes a
 * track before its first event.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct perfetto;

/* The names of slices. */
enum perfetto_name {
	PERFETTO_RUNNING = 1,
	PERFETTO_BLOCKED,
	PERFETTO_RUNNABLE,
	PERFETTO_PREEMPTED,
	PERFETTO_UNKNOWN,
};

/* The names of arguments. */
enum perfetto_arg {
	PERFETTO_STACK = 1,
	PERFETTO_STATE,
	PERFETTO_FLAGS,
	PERFETTO_WAKER,
	PERFETTO_WAKER_STACK,
	PERFETTO_WAKEE,
	PERFETTO_OBJECT, /* what was waited for */
	PERFETTO_END,	 /* what ended it, if that was no thread */
	/* Of requests. */
	PERFETTO_CONNECTION,
	PERFETTO_READER,
	PERFETTO_WRITER,
	PERFETTO_LABEL,
	PERFETTO_ROUTE,
	PERFETTO_TRACE_ID,
	PERFETTO_SPAN_ID,
	PERFETTO_MARKS,
	PERFETTO_ARGS,
};

/* The sets of interned strings; each has its own numbers. */
enum perfetto_set {
	PERFETTO_EVENT_NAMES,
	PERFETTO_ARG_VALUES,
	PERFETTO_PATHS,
	PERFETTO_FUNCTIONS,
	PERFETTO_FRAMES,
	PERFETTO_CALLSTACKS,
	PERFETTO_SETS,
};

/*
 * Times are CLOCK_MONOTONIC ns; wall_ns added to one gives CLOCK_REALTIME, 0: unknown. Write errors
 * are left in ferror(out).
 */
void perfetto_new(struct perfetto **perfetto, FILE *out, uint64_t start_ns, int64_t wall_ns);
/* Writes the remaining packets. */
void perfetto_finish(struct perfetto *p);
void perfetto_free(struct perfetto *p);

/*
 * The track of a thread; tid 0: of a process, which may have a label beside its name (else NULL);
 * pid 0, too: of something else.
 */
void perfetto_track(struct perfetto *p, uint64_t track, uint32_t pid, uint32_t tid,
		    const char *name, const char *label);

/* A track below that of a process; 0: below none. */
void perfetto_child_track(struct perfetto *p, uint64_t track, uint64_t parent, const char *name);

/*
 * An event: its begin, its arguments, perfetto_end(). Slices of one track must come in the order of
 * time, each ended before the next begins; instants may come in any order. flow: the number of the
 * flow that an instant begins and a slice ends; 0: none.
 */
void perfetto_begin_slice(struct perfetto *p, uint64_t track, uint64_t ns, enum perfetto_name name,
			  uint64_t flow);
void perfetto_end_slice(struct perfetto *p, uint64_t track, uint64_t ns);
void perfetto_begin_instant(struct perfetto *p, uint64_t track, uint64_t ns, uint32_t name,
			    uint64_t flow);
/*
 * A request, or a part of one inside it: a slice from which a flow leads, if there is one; and an
 * instant to which it leads, on the track of a thread: the last one, or on to another. name: a
 * string of PERFETTO_EVENT_NAMES.
 */
void perfetto_begin_request(struct perfetto *p, uint64_t track, uint64_t ns, uint32_t name,
			    uint64_t flow);
void perfetto_begin_serving(struct perfetto *p, uint64_t track, uint64_t ns, uint32_t name,
			    uint64_t flow, bool is_last);
void perfetto_arg(struct perfetto *p, enum perfetto_arg arg, uint32_t value);
void perfetto_end(struct perfetto *p);

/*
 * The number of the string that the caller identifies by (a, b). *is_new: the caller must define
 * its text by perfetto_define() before perfetto_end(). When memory runs out perfetto_finish()
 * fails.
 */
uint32_t perfetto_string(struct perfetto *p, enum perfetto_set set, uint32_t a, uint32_t b,
			 bool *is_new);
void perfetto_define(struct perfetto *p, enum perfetto_set set, uint32_t string, const char *s,
		     size_t len);

/*
 * A sample: its begin, its callstack, perfetto_end(). The callstack has a number as a string has;
 * if that is new, it is defined by its frames, root first. A frame is a function (a string of
 * PERFETTO_FUNCTIONS) in a file (one of PERFETTO_PATHS), which are defined before.
 */
void perfetto_begin_sample(struct perfetto *p, uint32_t pid, uint32_t tid, uint32_t cpu,
			   uint64_t ns);
void perfetto_callstack(struct perfetto *p, uint32_t callstack);
uint32_t perfetto_frame(struct perfetto *p, uint32_t function, uint32_t path);
void perfetto_define_callstack(struct perfetto *p, uint32_t callstack, const uint32_t *frames,
			       size_t n);
