/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_builder.h - builds a trace in memory in the trace format (docs/trace-format.md), from
 * events and definitions given one by one. It is for importers: the ordinary reader opens what they
 * built, and nothing downstream knows where the trace came from.
 *
 * Errors are sticky: once memory runs out nothing more is kept, and trace_builder_finish() says so.
 */
#ifndef ENGINE_TRACE_BUILDER_H
#define ENGINE_TRACE_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/chainlog_block.h"

struct trace_builder;

/* NULL: out of memory. */
struct trace_builder *trace_builder_new(void);
void trace_builder_free(struct trace_builder *b);
/* True once memory has run out. */
bool trace_builder_failed(const struct trace_builder *b);

/*
 * Definitions. Each returns an id, counted from 1 by kind; 0 after an error. Equal strings, modules
 * and stacks get one id; each call of trace_builder_frame() defines a new frame.
 */
/* len is at most TRACE_BUILDER_STRING_MAX, else 0 is returned; 0 also for the empty string. */
#define TRACE_BUILDER_STRING_MAX (1u << 18)
uint32_t trace_builder_string(struct trace_builder *b, const char *s, size_t len);
uint32_t trace_builder_module(struct trace_builder *b, const char *path, size_t len);
/* space: 0 the kernel's, else a user address space. symbol: string id, offset: from its start. */
uint32_t trace_builder_frame(struct trace_builder *b, uint32_t space, uint64_t addr,
			     uint32_t symbol, uint32_t module, uint64_t offset);
/* n frame ids, leaf first, at most CHAINLOG_STACK_MAX; cut: the real stack went on at the root. */
uint32_t trace_builder_stack(struct trace_builder *b, const uint32_t *frames, size_t n, bool cut);
/* A thread that the list of threads names. */
void trace_builder_thread(struct trace_builder *b, const struct chainlog_thread_item *t);

/*
 * Events. cpu, tids and states are what the format allows (below CHAINLOG_CPU_LIMIT, below
 * CHAINLOG_TID_LIMIT, a letter); times are ns below 2^63. Threads are tids, strings and stacks ids.
 */
void trace_builder_switch(struct trace_builder *b, uint32_t cpu, uint64_t ns, uint32_t prev,
			  char state, uint32_t next, uint32_t kstack, uint32_t ustack);
/* kind: as chainlog_write_waking() */
void trace_builder_waking(struct trace_builder *b, unsigned int kind, uint32_t cpu, uint64_t ns,
			  uint32_t waker, uint32_t wakee, uint32_t kstack, uint32_t ustack);
void trace_builder_fork(struct trace_builder *b, uint32_t cpu, uint64_t ns, uint32_t parent,
			uint32_t child, uint32_t tgid, uint32_t name);
void trace_builder_exec(struct trace_builder *b, uint32_t cpu, uint64_t ns, uint32_t tid,
			uint32_t old_tid, uint32_t file);
void trace_builder_rename(struct trace_builder *b, uint32_t cpu, uint64_t ns, uint32_t tid,
			  uint32_t name);
void trace_builder_exit(struct trace_builder *b, uint32_t cpu, uint64_t ns, uint32_t tid);
/* The thread was running, and where. */
void trace_builder_sample(struct trace_builder *b, uint32_t cpu, uint64_t ns, uint32_t tid,
			  uint32_t kstack, uint32_t ustack);
/* The thread was just preempted because the CPU quota of its control group is used up. */
void trace_builder_throttled(struct trace_builder *b, uint32_t cpu, uint64_t ns, uint32_t tid);
/* n events of a CPU (-1: not known which) are missing in [first_ns, last_ns]. */
void trace_builder_lost(struct trace_builder *b, int cpu, uint64_t n, uint64_t first_ns,
			uint64_t last_ns);

/* The thread is put on the run queue of CPU `queue`. woken: the preceding waking did that. */
void trace_builder_queue(struct trace_builder *b, uint32_t cpu, uint64_t ns, uint32_t tid,
			 uint32_t queue, bool woken);
/* n or more such events may be missing in [first_ns, last_ns]. */
void trace_builder_lost_queues(struct trace_builder *b, uint64_t n, uint64_t first_ns,
			       uint64_t last_ns);

/* How many events there are so far. */
uint64_t trace_builder_events(const struct trace_builder *b);

/*
 * Ends the trace and hands it over: *buf is to be freed with free(), the trace begins at *buf +
 * *offset and has *len bytes. Returns 0 or -ENOMEM, with nothing handed over. Only
 * trace_builder_free() may follow. info->start_ns is ignored: it is the time of the first event.
 */
int trace_builder_finish(struct trace_builder *b, const struct chainlog_info *info, uint8_t **buf,
			 size_t *offset, size_t *len);

#endif /* ENGINE_TRACE_BUILDER_H */
