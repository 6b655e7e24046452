/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cursor_private.h - the inside of a cursor: cursor.c merges events, cursor_parts.c has parts of
 * it. */
#pragma once

#include "base/pairs.h"
#include "trace_private.h"

struct source;

/* Blocks order[begin..end) of one CPU and type. */
struct run {
	size_t begin, end;
	uint64_t first_ns;
};

/* What was last on a CPU, to which later events may add something. */
struct last_acts {
	uint64_t switch_ns, waking_ns;
	uint32_t tid, pair; /* of the thread that was switched out; 0: none */
	uint32_t woken;	    /* tid of the wakee; 0: none */
	uint32_t request;   /* number of the EVENT_DISK_DONE, from 1; 0: none; or REQUEST_BEFORE */
	uint64_t lossy_end_ns; /* such events are missing before */
};

/* Of a part: the last EVENT_DISK_DONE of the CPU, if there was one, was before the part. */
#define REQUEST_BEFORE UINT32_MAX

struct trace_cursor {
	const struct trace *t;
	bool is_part;			      /* order and runs are the whole one's */
	uint64_t from_ns, to_ns;	      /* its events */
	const struct event_block_ref **order; /* blocks by CPU, then time */
	struct run *runs;		      /* by first_ns */
	size_t n_runs, next_run;
	struct source **heap;
	size_t n_heap;
	bool taken; /* the event of heap[0] has been returned */
	struct source *free;
	struct pairs pairs;	/* see trace_cursor_pairs() */
	uint32_t *thread_pairs; /* by thread in the trace's list: the pair with which it slept */
	struct event given;	/* an event that was changed by joining it to another */
	struct last_acts *acts; /* by CPU; only if the trace has objects */
	uint32_t n_acts;
	uint32_t n_done;     /* EVENT_DISK_DONE so far */
	uint8_t *stack_says; /* by kernel stack: enum stack_says, or-ed */
	int err;	     /* a negative errno ends the stream */
};

void cursor_make_heap(struct trace_cursor *c);
/* What was last on the CPU. */
struct last_acts *cursor_acts(struct trace_cursor *c, uint32_t cpu);
/* Ends the stream early; err: a negative errno, why; 0: for no reason. */
void cursor_stop(struct trace_cursor *c, int err);
