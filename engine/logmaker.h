/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * logmaker.h - writes a trace in the log format (docs/trace-format.md) into memory, from events and
 * definitions given one by one. It is for importers: what they have read becomes an ordinary trace,
 * which the ordinary reader opens, so that everything behind it is told nothing of where the trace
 * came from. It is plain where chaincap's encoder is sparing: no stack is left out because it is
 * the last one's.
 *
 * Errors are sticky: once memory runs out nothing more is kept, and logmaker_finish() says so.
 */
#ifndef ENGINE_LOGMAKER_H
#define ENGINE_LOGMAKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "chainlog.h"

struct logmaker;

/* A thread as the log's list of threads has it; times in ns. */
struct logmaker_thread {
	uint32_t tid, tgid;
	uint64_t start_ns, seen_ns;
	uint32_t flags; /* CHAINLOG_THREAD_* */
	char state;
	uint32_t name; /* string id */
};

/* What the INFO block says; NULL and 0 are left out. */
struct logmaker_info {
	const char *host, *release, *arch, *options, *tool;
	uint32_t cpus;
	uint32_t parts; /* bit 0: kernel stacks were recorded, bit 1: user stacks */
};

/* NULL: out of memory. */
struct logmaker *logmaker_new(void);
void logmaker_free(struct logmaker *l);

/*
 * Definitions. Each call makes a new one and returns its id, counted from 1 by kind; 0 after an
 * error, or when a string is longer than LOGMAKER_STRING_MAX.
 */
#define LOGMAKER_STRING_MAX (1u << 18)
uint32_t logmaker_string(struct logmaker *l, const char *s, size_t len);
uint32_t logmaker_module(struct logmaker *l, uint32_t path);
/* space: 0 the kernel's, else a user address space. symbol: string id, offset: from its start. */
uint32_t logmaker_frame(struct logmaker *l, uint32_t space, uint64_t addr, uint32_t symbol,
			uint32_t module, uint64_t offset);
/* n frame ids, leaf first, at most CHAINLOG_STACK_MAX; cut: the real stack went on at the root. */
uint32_t logmaker_stack(struct logmaker *l, const uint32_t *frames, size_t n, bool cut);
void logmaker_thread(struct logmaker *l, const struct logmaker_thread *t);

/*
 * Events. cpu, tids and states are what the format allows (below 65536, below 2^22, a letter);
 * times are ns below 2^63 and do not decrease on a CPU. Threads are tids, strings and stacks ids.
 */
void logmaker_switch(struct logmaker *l, uint32_t cpu, uint64_t ns, uint32_t prev, char state,
		     uint32_t next, uint32_t kstack, uint32_t ustack);
/* kind: CHAINLOG_WAKING or CHAINLOG_WAKING_NEW. */
void logmaker_waking(struct logmaker *l, enum chainlog_event kind, uint32_t cpu, uint64_t ns,
		     uint32_t waker, uint32_t target, uint32_t kstack, uint32_t ustack);
void logmaker_fork(struct logmaker *l, uint32_t cpu, uint64_t ns, uint32_t parent, uint32_t child,
		   uint32_t tgid, uint32_t name);
void logmaker_exec(struct logmaker *l, uint32_t cpu, uint64_t ns, uint32_t tid, uint32_t old_tid,
		   uint32_t file);
void logmaker_rename(struct logmaker *l, uint32_t cpu, uint64_t ns, uint32_t tid, uint32_t name);
void logmaker_exit(struct logmaker *l, uint32_t cpu, uint64_t ns, uint32_t tid);
/* n events of a CPU (-1: not known which) are missing in [first_ns, last_ns]. */
void logmaker_lost(struct logmaker *l, int cpu, uint64_t n, uint64_t first_ns, uint64_t last_ns);

/* How many events there are so far. */
uint64_t logmaker_events(const struct logmaker *l);

/*
 * Ends the log and hands it over: *buf is to be freed with free(), the trace begins at *buf +
 * *offset and has *len bytes. Returns 0 or -ENOMEM, with nothing handed over. Only
 * logmaker_free() may follow.
 */
int logmaker_finish(struct logmaker *l, const struct logmaker_info *info, uint8_t **buf,
		    size_t *offset, size_t *len);

#endif /* ENGINE_LOGMAKER_H */
