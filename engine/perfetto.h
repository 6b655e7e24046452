/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfetto.h - writes a trace for the Perfetto UI and trace processor: tracks, slices on them, and
 * flows between slices, as TrackEvents in TracePackets. It owns field numbers and the interning
 * of strings; what is on the tracks is up to its user. Field numbers are those of
 * https://github.com/google/perfetto/tree/main/protos/perfetto/trace
 *
 * Packets go out one by one, in any order of time: readers sort them. What stays in memory are the
 * numbers of strings that have been told.
 *
 * Tracks have ids from 1 on, chosen by the user; a track is told before its first event.
 */
#ifndef ENGINE_PERFETTO_H
#define ENGINE_PERFETTO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct perfetto;

/* Names of slices that are known from the start. */
enum perfetto_name {
	PERFETTO_RUNNING = 1,
	PERFETTO_BLOCKED,
	PERFETTO_RUNNABLE,
	PERFETTO_PREEMPTED,
	PERFETTO_UNKNOWN,
};

/* Names of arguments. */
enum perfetto_arg {
	PERFETTO_STACK = 1,
	PERFETTO_STATE,
	PERFETTO_FLAGS,
	PERFETTO_WAKER,
	PERFETTO_WAKER_STACK,
	PERFETTO_WAKEE,
};

/* Sets of strings, each with keys of its own. */
enum perfetto_set {
	PERFETTO_EVENT_NAMES,
	PERFETTO_ARG_VALUES,
	PERFETTO_SETS,
};

/*
 * Times are CLOCK_MONOTONIC, wall_ns what to add for CLOCK_REALTIME; 0: not known. NULL: out of
 * memory. Write errors are left in ferror(out).
 */
struct perfetto *perfetto_new(FILE *out, uint64_t start_ns, int64_t wall_ns);
/* Writes what is left. 0 or -ENOMEM: then the output is not complete. */
int perfetto_finish(struct perfetto *p);
void perfetto_free(struct perfetto *p);

void perfetto_track(struct perfetto *p, uint64_t track, const char *name);
void perfetto_process_track(struct perfetto *p, uint64_t track, uint32_t pid, const char *name);
void perfetto_thread_track(struct perfetto *p, uint64_t track, uint32_t pid, uint32_t tid,
			   const char *name);

/*
 * An event, then its arguments, then perfetto_end(). Those on one track must come in the order of
 * their times, a slice's end before the next one's begin; instants in any order. flow: 0, or
 * the number of the flow that the instant begins and the slice ends.
 */
void perfetto_begin_slice(struct perfetto *p, uint64_t track, uint64_t ns, enum perfetto_name name,
			  uint64_t flow);
void perfetto_end_slice(struct perfetto *p, uint64_t track, uint64_t ns);
void perfetto_begin_instant(struct perfetto *p, uint64_t track, uint64_t ns, uint32_t name,
			    uint64_t flow);
void perfetto_arg(struct perfetto *p, enum perfetto_arg arg, uint32_t value);
void perfetto_end(struct perfetto *p);

/*
 * The number of a string by whatever pair of numbers it is known by; 0, when out of memory, is
 * not to be used. is_new: it is to be told by perfetto_tell() before perfetto_end().
 */
uint32_t perfetto_string(struct perfetto *p, enum perfetto_set set, uint32_t a, uint32_t b,
			 bool *is_new);
void perfetto_tell(struct perfetto *p, enum perfetto_set set, uint32_t string, const char *s,
		   size_t len);

#endif /* ENGINE_PERFETTO_H */
