/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_threads.h - the threads of an imported text: their names over time, their processes, which
 * of them are kernel threads. Nearly every event of the text repeats a part of that; the trace has
 * a list of threads and an event for each change.
 */
#ifndef ENGINE_IMPORT_THREADS_H
#define ENGINE_IMPORT_THREADS_H

#include "base/pairs.h"
#include "import_perf.h"
#include "common/encoder.h"

struct import_thread {
	uint32_t first_name, name; /* string ids: the first one, the one it has; 0: not known */
	uint32_t tgid;		   /* 0: not known */
	uint64_t start_ns;	   /* 0: before the trace */
	char text[16];		   /* the name, if it is short and comes from an event */
	uint8_t text_len;
	bool guessed; /* the name comes from the name column, not from an event */
	bool kthread;
	bool unborn; /* forked, and not yet named by another event */
};

/* All zero, but for the encoder, is ready for use. */
struct import_threads {
	struct encoder *enc;
	struct pairs tids; /* (tid, 0) to the place in threads[] */
	struct import_thread *threads;
	size_t cap;
	bool out_of_memory; /* sticky */
};

/* The thread, added if it is new; NULL: out of memory, or tid 0 (the idle loop). */
struct import_thread *import_thread(struct import_threads *t, uint32_t tid);
/* An event on cpu at ns names it so. */
void import_thread_named(struct import_threads *t, uint32_t cpu, uint64_t ns, uint32_t tid,
			 struct import_name name);
/* The name column, which is perf's memory, names it so: used until an event names it. */
void import_thread_guess(struct import_threads *t, uint32_t tid, struct import_name name);
/* child is forked; does nothing if a fork is noted already. tgid 0: the process is not known. */
void import_thread_forked(struct import_threads *t, uint32_t cpu, uint64_t ns, uint32_t parent,
			  uint32_t child, uint32_t tgid, struct import_name name);
/* The thread exits: the next thread with this tid is another one. */
void import_thread_died(struct import_threads *t, uint32_t tid);
/* Writes the list of threads into the trace; end_ns is when the trace ends. */
void import_threads_list(struct import_threads *t, uint64_t end_ns);
void import_threads_free(struct import_threads *t);

#endif /* ENGINE_IMPORT_THREADS_H */
