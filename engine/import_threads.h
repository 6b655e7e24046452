/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_threads.h - who the threads of an imported text are: their names over time, their
 * processes, which of them are the kernel's. The text tells that bit by bit, with nearly every
 * event; the log wants a list of threads and an event for each change.
 */
#ifndef ENGINE_IMPORT_THREADS_H
#define ENGINE_IMPORT_THREADS_H

#include "import_perf.h"
#include "logmaker.h"
#include "memo.h"
#include "pairs.h"

struct import_thread {
	uint32_t first_name, name; /* string ids: the first one, the one it has; 0: not known */
	uint32_t tgid;		   /* 0: not known */
	uint64_t start_ns;	   /* 0: before the trace */
	char text[16];		   /* the name, if it is short and an event told it */
	uint8_t text_len;
	bool guessed; /* the name is what perf took it to be, not an event's */
	bool kthread;
	bool unborn; /* forked, and not heard of since */
};

/* All zero, but for the log, is ready for use. */
struct import_threads {
	struct logmaker *log;
	struct memo names; /* string id */
	struct pairs tids; /* (tid, 0) to the place in threads[] */
	struct import_thread *threads;
	size_t cap;
	bool out_of_memory; /* sticky */
};

/* The thread, which is new if it was not heard of; NULL: out of memory, or tid 0 (the idle loop).
 */
struct import_thread *import_thread(struct import_threads *t, uint32_t tid);
/* An event on cpu at ns tells that it has this name. */
void import_thread_named(struct import_threads *t, uint32_t cpu, uint64_t ns, uint32_t tid,
			 struct import_name name);
/* The column of names says so, which is perf's memory; it counts only where no event tells. */
void import_thread_guess(struct import_threads *t, uint32_t tid, struct import_name name);
/* child is forked; does nothing if that is known already. tgid 0: the process is not known. */
void import_thread_forked(struct import_threads *t, uint32_t cpu, uint64_t ns, uint32_t parent,
			  uint32_t child, uint32_t tgid, struct import_name name);
/* It exits: whoever has the tid next is another thread. */
void import_thread_died(struct import_threads *t, uint32_t tid);
/* Writes the list of threads into the log; end_ns is when the trace ends. */
void import_threads_list(struct import_threads *t, uint64_t end_ns);
/* The id of a string in the log; 0: out of memory, or it is empty. */
uint32_t import_string(struct import_threads *t, struct import_name s);
void import_threads_free(struct import_threads *t);

#endif /* ENGINE_IMPORT_THREADS_H */
