/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * go_trace.h - Go's execution traces (runtime/trace, net/http/pprof's /debug/pprof/trace) as events
 * of goroutines in the order in which they happened. It owns both layouts: the one up to Go 1.21
 * ("go 1.7 trace" to "go 1.19 trace"), of batches of a P, and the one since 1.22, of batches of a
 * thread. The bytes are untrusted; memory is bounded by their number.
 *
 * Sources: Go's src/runtime/trace.go and src/internal/trace/{parser,order}.go up to 1.21; since
 * then src/internal/trace/tracev2/events.go and src/internal/trace/{batch,order}.go.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pairs.h"

enum go_kind {
	GO_IGNORED,
	GO_EXISTS,     /* other is there when the trace begins */
	GO_IS_WAITING, /* other is there, and waits */
	GO_IS_RUNNING, /* other is there, and runs */
	GO_STATUS,     /* other is counted anew, as seq says */
	GO_CREATE,     /* g (0: the runtime) starts other */
	GO_START,      /* g gets the CPU */
	GO_END,
	GO_YIELD,    /* g loses the CPU and is runnable */
	GO_BLOCK,    /* g waits, for reason */
	GO_UNBLOCK,  /* g (0: the runtime) ends the wait of other */
	GO_SYSCALL,  /* g begins a system call, on its CPU */
	GO_SYSBLOCK, /* g loses its CPU, because its system call takes long */
	GO_SYSEXIT,  /* such a system call of other is over: it is runnable */
	GO_SAMPLE,   /* g ran */
};

enum go_reason {
	GO_REASON_OTHER,
	GO_REASON_SEND,
	GO_REASON_RECEIVE,
	GO_REASON_SELECT,
	GO_REASON_SYNC, /* a mutex, a wait group */
	GO_REASON_COND,
	GO_REASON_NETWORK,
	GO_REASON_SLEEP,
	GO_REASON_GC,
	GO_REASON_SYSCALL,
	GO_REASONS,
};

/* Of goroutines, stacks: ids in struct go_trace, from 1; 0: none. */
struct go_event {
	uint64_t time; /* ticks, then ns */
	/*
	 * Of the goroutine's state, as the trace counts: that it has to have, GO_NO_SEQ if any; of
	 * GO_EXISTS, GO_CREATE and GO_STATUS, that it has from then on.
	 */
	uint64_t seq;
	uint64_t exit; /* GO_SYSEXIT: ticks when the call was over; 0: not said */
	uint32_t g, other;
	uint32_t stack;	     /* of g */
	uint32_t start;	     /* GO_EXISTS, GO_CREATE: its first frame is where other begins */
	uint32_t cpu;	     /* the number of its P */
	uint32_t lane;	     /* see go_order() */
	uint32_t generation; /* of a part of the trace, that comes before the next one */
	uint8_t kind, reason;
};

#define GO_NO_SEQ UINT64_MAX
#define GO_NO_CPU UINT32_MAX /* for the two readers: there is no P */

struct go_text {
	const uint8_t *p; /* in the input; NULL: not defined */
	size_t len;
};

struct go_frame {
	uint32_t function, file; /* ids of strings; 0: none */
	uint32_t line;
};

struct go_stack {
	size_t first; /* in frames[], the leaf */
	uint32_t n;   /* 0: not defined */
};

/* All zero is empty. */
struct go_trace {
	unsigned int minor; /* the version of the layout: 19 is of Go 1.19 to 1.21 */
	struct pairs goroutines;
	struct pairs strings, stacks; /* of the trace's ids */
	struct go_text *text;	      /* by id of a string */
	size_t cap_text;
	struct go_stack *stack; /* by id of a stack */
	size_t cap_stack;
	struct go_frame *frames;
	size_t n_frames, cap_frames;
	struct go_event *events;
	size_t n_events, cap_events;
	uint64_t frequency; /* ticks a second */
	uint32_t n_cpus;
	uint64_t damage_offset; /* of what could not be read; 0: nothing */
};

/* What begins with these bytes is a trace of Go, of any version. */
#define GO_HEADER_BYTES 16u
bool go_is_trace(const void *p, size_t len);

/*
 * Reads a trace, whose bytes must live as long as t, and puts its events in order. Returns 0;
 * -ENOMEM; -EFBIG; or a negative enum import_error. go_trace_free() in all cases.
 */
int go_trace_read(struct go_trace *t, const uint8_t *p, size_t len);
void go_trace_free(struct go_trace *t);

/* The number of a goroutine, as Go has it. */
uint64_t go_number(const struct go_trace *t, uint32_t goroutine);

/* ---- for the two readers -------------------------------------------------------------------- */

struct go_bytes {
	const uint8_t *p, *end;
};

bool go_take(struct go_bytes *b, uint64_t *v); /* a number; false: there is none */

/* The id of a goroutine, a string, a stack of a generation by the trace's number; 0: no memory. */
uint32_t go_goroutine(struct go_trace *t, uint64_t number);
uint32_t go_string(struct go_trace *t, uint64_t number, uint32_t generation);
uint32_t go_stack(struct go_trace *t, uint64_t number, uint32_t generation);

/* Defines a string: its number, length and bytes follow. 0, -ENOMEM, -EBADMSG. */
int go_take_string(struct go_trace *t, struct go_bytes *b, uint32_t generation);
/* Defines a stack, likewise: number, frames; each program counter, function, file, line. */
int go_take_stack(struct go_trace *t, struct go_bytes *b, uint32_t generation);
/* What src/runtime/traceruntime.go calls so since Go 1.22. */
enum go_reason go_reason_of(const struct go_text *s);
/* Adds an event of a lane; NULL: no memory. */
struct go_event *go_add(struct go_trace *t, uint32_t lane);

/* Counts CPUs, at least n_cpus as it is; what belongs to none of them is on one more. */
void go_number_cpus(struct go_trace *t);

/* Layouts from this version on are the second one. */
#define GO_THREADS_MINOR 22u

/*
 * Puts events in order, one generation after another: those of a lane (from 0, below n_lanes),
 * which are in order, are merged by time, each after what it depends on: the states of
 * goroutines. Returns 0, -ENOMEM, -EFBIG (4 billion events), -IMPORT_E_GO_ORDER.
 */
int go_order(struct go_trace *t, uint32_t n_lanes);

/* The readers: up to Go 1.21, and since 1.22. */
int go_read_ps(struct go_trace *t, const uint8_t *p, size_t len);
int go_read_threads(struct go_trace *t, const uint8_t *p, size_t len);
