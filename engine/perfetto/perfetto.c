// SPDX-License-Identifier: GPL-2.0-or-later
#include "perfetto.h"

#include <stdlib.h>
#include <string.h>

#include "base/pairs.h"
#include "formats/proto.h"
#include "common/xalloc.h"

enum {
	TRACE_PACKET = 1,
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10, /* trusted_packet_sequence_id */
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_DEFAULTS = 59, /* trace_packet_defaults */
	PACKET_TRACK_DESCRIPTOR = 60,
	PACKET_PERF_SAMPLE = 66,
	PACKET_FIRST = 87, /* first_packet_on_sequence */
	DEFAULTS_TIMESTAMP_CLOCK_ID = 58,
	SNAPSHOT_CLOCKS = 1,
	SNAPSHOT_PRIMARY_TRACE_CLOCK = 2,
	CLOCK_CLOCK_ID = 1,
	CLOCK_TIMESTAMP = 2,
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	PROCESS_PID = 1,
	PROCESS_NAME = 6,
	PROCESS_LABELS = 8,
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,
	EVENT_CATEGORY_IIDS = 3,
	EVENT_DEBUG_ANNOTATIONS = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK_UUID = 11,
	EVENT_FLOW_IDS = 47,
	EVENT_TERMINATING_FLOW_IDS = 48,
	ANNOTATION_NAME_IID = 1,
	ANNOTATION_STRING_VALUE_IID = 17,
	SAMPLE_CPU = 1,
	SAMPLE_PID = 2,
	SAMPLE_TID = 3,
	SAMPLE_CALLSTACK_IID = 4,
	INTERNED_EVENT_CATEGORIES = 1,
	INTERNED_EVENT_NAMES = 2,
	INTERNED_ANNOTATION_NAMES = 3,
	INTERNED_FUNCTION_NAMES = 5,
	INTERNED_FRAMES = 6,
	INTERNED_CALLSTACKS = 7,
	INTERNED_MAPPING_PATHS = 17,
	INTERNED_MAPPINGS = 19,
	INTERNED_ANNOTATION_VALUES = 29, /* debug_annotation_string_values */
	/* The same fields in all kinds of interned strings; the first one in all that is interned.
	 */
	INTERNED_IID = 1,
	INTERNED_TEXT = 2,
	CALLSTACK_FRAME_IDS = 2,
	FRAME_FUNCTION_NAME_ID = 2,
	FRAME_MAPPING_ID = 3,
	FRAME_REL_PC = 4,
	MAPPING_PATH_STRING_IDS = 7,
};

/* Where the strings of a set are defined. */
static const uint32_t interned_field[] = {
	[PERFETTO_EVENT_NAMES] = INTERNED_EVENT_NAMES,
	[PERFETTO_ARG_VALUES] = INTERNED_ANNOTATION_VALUES,
	[PERFETTO_FUNCTIONS] = INTERNED_FUNCTION_NAMES,
};

enum sequence_flags {
	SEQUENCE_CLEARED = 1, /* SEQ_INCREMENTAL_STATE_CLEARED: interning begins here */
	SEQUENCE_NEEDS = 2,   /* SEQ_NEEDS_INCREMENTAL_STATE: the packet uses interned strings */
};

enum event_type {
	TYPE_SLICE_BEGIN = 1,
	TYPE_SLICE_END = 2,
	TYPE_INSTANT = 3,
};

/* BuiltinClock of ClockSnapshot; clock_gettime() has other numbers. */
enum clock_id {
	CLOCK_ID_REALTIME = 1,
	CLOCK_ID_MONOTONIC = 3,
};

enum category {
	CATEGORY_STATE = 1,
	CATEGORY_WAKING,
	CATEGORY_REQUEST, /* interned when it is needed first */
};

/* By their interned numbers, from 1. */
static const char *const categories[] = { NULL, "thread_state", "waking" };
static const char *const slice_names[] = { NULL,       "running",   "blocked",
					   "runnable", "preempted", "unknown" };
static const char *const arg_names[] = { NULL,	  "stack",	 "state", "flags",
					 "waker", "waker_stack", "wakee" };

/* Interned when they are needed first, which in most traces they are not. */
static const char *const later_arg_names[] = {
	[PERFETTO_OBJECT] = "object",	      [PERFETTO_END] = "end",
	[PERFETTO_CONNECTION] = "connection", [PERFETTO_READER] = "reader",
	[PERFETTO_WRITER] = "writer",	      [PERFETTO_LABEL] = "label",
	[PERFETTO_ROUTE] = "route",	      [PERFETTO_TRACE_ID] = "trace_id",
	[PERFETTO_SPAN_ID] = "span_id",	      [PERFETTO_MARKS] = "marks",
};

#define COUNT(names) (sizeof(names) / sizeof((names)[0]))

#define BUFFER_BYTES 65536u
#define SEQUENCE_ID 1 /* all packets are of one sequence */

struct perfetto {
	FILE *out;
	struct text_buf b;	  /* packets to be written, the last one incomplete */
	struct text_buf interned; /* InternedData of that packet */
	struct pairs strings[PERFETTO_SETS];
	size_t packet, event;	     /* where they begin in b */
	bool has_arg[PERFETTO_ARGS]; /* of later_arg_names: it is interned */
	bool has_requests;	     /* their category is interned */
};

/* ---- packets -------------------------------------------------------------------------------- */

static void begin_packet(struct perfetto *p, enum sequence_flags flags)
{
	p->packet = proto_begin(&p->b, TRACE_PACKET);
	proto_uint(&p->b, PACKET_SEQUENCE_ID, SEQUENCE_ID);
	proto_uint(&p->b, PACKET_SEQUENCE_FLAGS, flags);
}

static void flush(struct perfetto *p)
{
	fwrite(p->b.p, 1, p->b.len, p->out);
	p->b.len = 0;
}

static void end_packet(struct perfetto *p)
{
	if (p->interned.len)
		proto_bytes(&p->b, PACKET_INTERNED_DATA, p->interned.p, p->interned.len);
	p->interned.len = 0;
	proto_end(&p->b, p->packet);
	if (p->b.len >= BUFFER_BYTES)
		flush(p);
}

static void put_clock(struct text_buf *b, enum clock_id id, uint64_t ns)
{
	size_t clock = proto_begin(b, SNAPSHOT_CLOCKS);

	proto_uint(b, CLOCK_CLOCK_ID, id);
	proto_uint(b, CLOCK_TIMESTAMP, ns);
	proto_end(b, clock);
}

static void intern(struct perfetto *p, uint32_t field, uint64_t iid, const char *s, size_t len)
{
	size_t begin = proto_begin(&p->interned, field);

	proto_uint(&p->interned, INTERNED_IID, iid);
	proto_bytes(&p->interned, INTERNED_TEXT, s, len);
	proto_end(&p->interned, begin);
}

static void intern_all(struct perfetto *p, uint32_t field, const char *const *names, size_t n)
{
	for (size_t i = 1; i < n; i++)
		intern(p, field, i, names[i], strlen(names[i]));
}

/* The first packet: the clock of all times, and the strings known from the start. */
static void put_first_packet(struct perfetto *p, uint64_t start_ns, int64_t wall_ns)
{
	struct text_buf *b = &p->b;
	size_t begin;

	begin_packet(p, SEQUENCE_CLEARED);
	proto_uint(b, PACKET_FIRST, true);
	begin = proto_begin(b, PACKET_DEFAULTS);
	proto_uint(b, DEFAULTS_TIMESTAMP_CLOCK_ID, CLOCK_ID_MONOTONIC);
	proto_end(b, begin);
	begin = proto_begin(b, PACKET_CLOCK_SNAPSHOT);
	put_clock(b, CLOCK_ID_MONOTONIC, start_ns);
	if (wall_ns)
		put_clock(b, CLOCK_ID_REALTIME, start_ns + (uint64_t)wall_ns);
	proto_uint(b, SNAPSHOT_PRIMARY_TRACE_CLOCK, CLOCK_ID_MONOTONIC);
	proto_end(b, begin);
	intern_all(p, INTERNED_EVENT_CATEGORIES, categories, COUNT(categories));
	intern_all(p, INTERNED_EVENT_NAMES, slice_names, COUNT(slice_names));
	intern_all(p, INTERNED_ANNOTATION_NAMES, arg_names, COUNT(arg_names));
	end_packet(p);
}

void perfetto_new(struct perfetto **perfetto, FILE *out, uint64_t start_ns, int64_t wall_ns)
{
	struct perfetto *p = xcalloc(1, sizeof(*p));

	*perfetto = p;
	p->out = out;
	put_first_packet(p, start_ns, wall_ns);
}

void perfetto_finish(struct perfetto *p)
{
	flush(p);
}

void perfetto_free(struct perfetto *p)
{
	if (!p)
		return;
	text_free(&p->b);
	text_free(&p->interned);
	for (int i = 0; i < PERFETTO_SETS; i++)
		pairs_free(&p->strings[i]);
	free(p);
}

/* ---- tracks --------------------------------------------------------------------------------- */

void perfetto_track(struct perfetto *p, uint64_t track, uint32_t pid, uint32_t tid,
		    const char *name, const char *label)
{
	struct text_buf *b = &p->b;
	size_t begin, inner;

	begin_packet(p, SEQUENCE_NEEDS);
	begin = proto_begin(b, PACKET_TRACK_DESCRIPTOR);
	proto_uint(b, TRACK_UUID, track);
	if (!pid) {
		proto_string(b, TRACK_NAME, name);
	} else {
		inner = proto_begin(b, tid ? TRACK_THREAD : TRACK_PROCESS);
		proto_uint(b, tid ? THREAD_PID : PROCESS_PID, pid);
		if (tid)
			proto_uint(b, THREAD_TID, tid);
		proto_string(b, tid ? THREAD_NAME : PROCESS_NAME, name);
		if (label && !tid)
			proto_string(b, PROCESS_LABELS, label);
		proto_end(b, inner);
	}
	proto_end(b, begin);
	end_packet(p);
}

void perfetto_child_track(struct perfetto *p, uint64_t track, uint64_t parent, const char *name)
{
	size_t begin;

	begin_packet(p, SEQUENCE_NEEDS);
	begin = proto_begin(&p->b, PACKET_TRACK_DESCRIPTOR);
	proto_uint(&p->b, TRACK_UUID, track);
	proto_string(&p->b, TRACK_NAME, name);
	if (parent)
		proto_uint(&p->b, TRACK_PARENT, parent);
	proto_end(&p->b, begin);
	end_packet(p);
}

/* ---- events --------------------------------------------------------------------------------- */

static void begin_event(struct perfetto *p, uint64_t track, uint64_t ns, enum event_type type)
{
	begin_packet(p, SEQUENCE_NEEDS);
	proto_uint(&p->b, PACKET_TIMESTAMP, ns);
	p->event = proto_begin(&p->b, PACKET_TRACK_EVENT);
	proto_uint(&p->b, EVENT_TYPE, type);
	proto_uint(&p->b, EVENT_TRACK_UUID, track);
}

void perfetto_end(struct perfetto *p)
{
	proto_end(&p->b, p->event);
	end_packet(p);
}

void perfetto_begin_slice(struct perfetto *p, uint64_t track, uint64_t ns, enum perfetto_name name,
			  uint64_t flow)
{
	begin_event(p, track, ns, TYPE_SLICE_BEGIN);
	proto_uint(&p->b, EVENT_CATEGORY_IIDS, CATEGORY_STATE);
	proto_uint(&p->b, EVENT_NAME_IID, name);
	if (flow)
		proto_fixed64(&p->b, EVENT_TERMINATING_FLOW_IDS, flow);
}

void perfetto_end_slice(struct perfetto *p, uint64_t track, uint64_t ns)
{
	begin_event(p, track, ns, TYPE_SLICE_END);
	perfetto_end(p);
}

void perfetto_begin_instant(struct perfetto *p, uint64_t track, uint64_t ns, uint32_t name,
			    uint64_t flow)
{
	begin_event(p, track, ns, TYPE_INSTANT);
	proto_uint(&p->b, EVENT_CATEGORY_IIDS, CATEGORY_WAKING);
	proto_uint(&p->b, EVENT_NAME_IID, name);
	if (flow)
		proto_fixed64(&p->b, EVENT_FLOW_IDS, flow);
}

static void begin_of_request(struct perfetto *p, uint64_t track, uint64_t ns, enum event_type type,
			     uint32_t name)
{
	static const char category[] = "request";

	begin_event(p, track, ns, type);
	if (!p->has_requests)
		intern(p, INTERNED_EVENT_CATEGORIES, CATEGORY_REQUEST, category,
		       sizeof(category) - 1);
	p->has_requests = true;
	proto_uint(&p->b, EVENT_CATEGORY_IIDS, CATEGORY_REQUEST);
	proto_uint(&p->b, EVENT_NAME_IID, name);
}

void perfetto_begin_request(struct perfetto *p, uint64_t track, uint64_t ns, uint32_t name,
			    uint64_t flow)
{
	begin_of_request(p, track, ns, TYPE_SLICE_BEGIN, name);
	if (flow)
		proto_fixed64(&p->b, EVENT_FLOW_IDS, flow);
}

void perfetto_begin_serving(struct perfetto *p, uint64_t track, uint64_t ns, uint32_t name,
			    uint64_t flow, bool is_last)
{
	begin_of_request(p, track, ns, TYPE_INSTANT, name);
	proto_fixed64(&p->b, is_last ? EVENT_TERMINATING_FLOW_IDS : EVENT_FLOW_IDS, flow);
}

void perfetto_arg(struct perfetto *p, enum perfetto_arg arg, uint32_t value)
{
	size_t begin = proto_begin(&p->b, EVENT_DEBUG_ANNOTATIONS);

	if (later_arg_names[arg] && !p->has_arg[arg]) {
		intern(p, INTERNED_ANNOTATION_NAMES, arg, later_arg_names[arg],
		       strlen(later_arg_names[arg]));
		p->has_arg[arg] = true;
	}
	proto_uint(&p->b, ANNOTATION_NAME_IID, arg);
	proto_uint(&p->b, ANNOTATION_STRING_VALUE_IID, value);
	proto_end(&p->b, begin);
}

uint32_t perfetto_string(struct perfetto *p, enum perfetto_set set, uint32_t a, uint32_t b,
			 bool *is_new)
{
	int added;
	uint32_t id = pairs_id_new(&p->strings[set], a, b, &added);

	*is_new = added;
	/* The numbers below are taken by slice_names. */
	return id + (set == PERFETTO_EVENT_NAMES ? (uint32_t)COUNT(slice_names) : 0);
}

void perfetto_define(struct perfetto *p, enum perfetto_set set, uint32_t string, const char *s,
		     size_t len)
{
	size_t mapping;

	if (set != PERFETTO_PATHS) {
		intern(p, interned_field[set], string, s, len);
		return;
	}
	/*
	 * A frame names a mapping, and that its path: they have the same numbers. Readers put a '/'
	 * before each part of a path.
	 */
	if (len)
		intern(p, INTERNED_MAPPING_PATHS, string, s + (*s == '/'), len - (*s == '/'));
	mapping = proto_begin(&p->interned, INTERNED_MAPPINGS);
	proto_uint(&p->interned, INTERNED_IID, string);
	if (len)
		proto_uint(&p->interned, MAPPING_PATH_STRING_IDS, string);
	proto_end(&p->interned, mapping);
}

/* ---- samples -------------------------------------------------------------------------------- */

void perfetto_begin_sample(struct perfetto *p, uint32_t pid, uint32_t tid, uint32_t cpu,
			   uint64_t ns)
{
	begin_packet(p, SEQUENCE_NEEDS);
	proto_uint(&p->b, PACKET_TIMESTAMP, ns);
	p->event = proto_begin(&p->b, PACKET_PERF_SAMPLE);
	proto_uint(&p->b, SAMPLE_CPU, cpu);
	proto_uint(&p->b, SAMPLE_PID, pid);
	proto_uint(&p->b, SAMPLE_TID, tid);
}

void perfetto_callstack(struct perfetto *p, uint32_t callstack)
{
	proto_uint(&p->b, SAMPLE_CALLSTACK_IID, callstack);
}

uint32_t perfetto_frame(struct perfetto *p, uint32_t function, uint32_t path)
{
	bool is_new;
	uint32_t frame = perfetto_string(p, PERFETTO_FRAMES, function, path, &is_new);
	size_t begin;

	if (!is_new)
		return frame;
	begin = proto_begin(&p->interned, INTERNED_FRAMES);
	proto_uint(&p->interned, INTERNED_IID, frame);
	proto_uint(&p->interned, FRAME_FUNCTION_NAME_ID, function);
	proto_uint(&p->interned, FRAME_MAPPING_ID, path);
	/* Required by the schema; functions have their names already. */
	proto_uint(&p->interned, FRAME_REL_PC, 0);
	proto_end(&p->interned, begin);
	return frame;
}

void perfetto_define_callstack(struct perfetto *p, uint32_t callstack, const uint32_t *frames,
			       size_t n)
{
	size_t begin = proto_begin(&p->interned, INTERNED_CALLSTACKS);

	proto_uint(&p->interned, INTERNED_IID, callstack);
	for (size_t i = 0; i < n; i++)
		proto_uint(&p->interned, CALLSTACK_FRAME_IDS, frames[i]);
	proto_end(&p->interned, begin);
}
