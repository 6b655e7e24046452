/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sleeping_threads.h - reads the stack of a thread that has slept since its registers were
 * recorded, where it is larger than a copy; and a queue of the threads that were asleep when the
 * recording began. Each of these becomes a record to be unwound (struct wire_copy). Its stack is
 * read in its turn, while events are already being recorded.
 *
 * A process that holds its memory lock, or is in the middle of an exec, makes a reader wait without
 * end. So another process makes these calls, which is given up if they hang
 * (helper/call_timeout.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "chainwire.h"
#include "sleeping_code.h"
#include "sleeping_memory.h"

/*
 * Reads up to len bytes, at most SLEEPING_READ_MAX, from addr on of the memory of a thread that
 * sleeps there, before and after. Stops before the first page that is not anonymous memory: a page
 * of a file system that a user serves could block the read for ever. Returns the number of bytes
 * read; 0: none, or it does not sleep there, or its process does not answer in time.
 */
size_t sleeping_thread_read(const struct sleeping_thread *a, uint64_t addr, void *buf, size_t len);

struct sleeping_threads;

/* Returns 0 or -ENOMEM. */
int sleeping_threads_new(struct sleeping_threads **out);
void sleeping_threads_free(struct sleeping_threads *s);

/* Adds a thread that has a user stack. False: the queue is full, or out of memory. */
bool sleeping_threads_add(struct sleeping_threads *s, const struct wire_thread *t);
/*
 * Notes how the program of a thread, asleep or not, calls it: in its own PID namespace. Forgotten
 * when the queue is empty.
 */
void sleeping_threads_note(struct sleeping_threads *s, const struct wire_thread *t);
/* Threads that sleeping_threads_next() has not returned yet. */
uint32_t sleeping_threads_left(const struct sleeping_threads *s);

/*
 * Takes the next thread. The record has its registers and, if read, the beginning of its stack, as
 * far as it is readable. Valid until the next call. NULL: there is none; or its process did not
 * answer in time, as on a busy machine, and it is queued again.
 */
const struct wire_copy *sleeping_threads_next(struct sleeping_threads *s, bool read);
/*
 * Adds to the record that sleeping_threads_next() returned last the frames of interpreted code that
 * the thread has, if it can be read; its process has that interpreter. Returns as
 * sleeping_code_find().
 */
int sleeping_threads_code(struct sleeping_threads *s, const struct wire_interpreter *in,
			  sleeping_code_fn fn, void *ctx);
/*
 * The thread (tid) that has the lock at which the one sleeps that sleeping_threads_next() returned
 * last, as the lock itself says. 0: it is at no such lock, or that is not known.
 */
uint32_t sleeping_threads_holder(struct sleeping_threads *s);
/*
 * Queues the thread again that sleeping_threads_next() returned last. False: the queue is full, or
 * out of memory.
 */
bool sleeping_threads_put_back(struct sleeping_threads *s);
