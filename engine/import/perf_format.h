/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_format.h - where the scheduler's tracepoints keep their fields. A recording has the kernel's
 * own description of each tracepoint (the files "format" in tracefs); of these texts only the
 * offsets of a few fields are needed, so that no library is: libtraceevent parses all of them, with
 * the expressions of their print formats, and knows nothing of what stands around them here.
 *
 * Sources: Documentation/trace/events.rst (the text), tools/perf/util/trace-event-read.c (the
 * section of a perf data file; trace.dat(5) describes the same).
 */
#pragma once

#include "import_perf.h"
#include "perf_bytes.h"

/* Fields that are used; what they mean depends on the tracepoint. */
enum perf_field_name {
	PERF_FIELD_TID,	  /* pid, prev_pid, parent_pid */
	PERF_FIELD_COMM,  /* comm, prev_comm, parent_comm, newcomm; of an exec the file */
	PERF_FIELD_STATE, /* prev_state */
	PERF_FIELD_TID_B, /* next_pid, child_pid, old_pid */
	PERF_FIELD_COMM_B,
	PERF_FIELD_CPU,	    /* dest_cpu */
	PERF_FIELD_SUCCESS, /* of wakeups, before Linux 4.3 or so: whether there was anything to do
			     */
	PERF_FIELDS,
};

struct perf_field {
	uint32_t offset, size; /* size 0: there is no such field */
	bool is_elsewhere;     /* the field says where its bytes are: "__data_loc" */
};

struct perf_tracepoint {
	uint64_t id; /* attr.config of its events */
	enum import_kind kind;
	struct perf_field field[PERF_FIELDS];
};

#define PERF_TRACEPOINTS 9u

/* All zero is empty. */
struct perf_formats {
	struct perf_tracepoint at[PERF_TRACEPOINTS];
	size_t n;
};

/*
 * Reads the descriptions in a section TRACING_DATA. False: it is cut off or malformed; what was
 * read before is there.
 */
bool perf_formats_read(struct perf_formats *f, struct perf_bytes section);

/* The description of the tracepoint with the id; NULL: it is none of those that are used. */
const struct perf_tracepoint *perf_formats_find(const struct perf_formats *f, uint64_t id);

/*
 * Reads the fields of an event from its raw bytes into ev, whose kind, tid and tgid are set. Names
 * point into the bytes. False: a field that is needed does not fit.
 */
bool perf_tracepoint_read(const struct perf_tracepoint *t, struct perf_bytes raw,
			  struct import_event *ev);
