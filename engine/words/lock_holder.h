/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lock_holder.h - who had the lock at which a thread slept (chain-semantics, section 10), and which
 * words in memory are one lock.
 */
#pragma once

#include "names.h"
#include "object_names.h"

/*
 * The thread that had the lock for which w, a sleep of thread, began; THREAD_NONE: it is not known,
 * or w is not at a lock. What a lock's word said counts only if the thread slept in a function of
 * the GNU C library that takes a lock with such a word, or at the lock of a Python interpreter;
 * what the kernel said of a lock of a file (class file_lock) always does.
 */
uint32_t lock_holder(struct object_names *o, uint32_t thread, const struct wait *w);

/*
 * The same, as the lock's own word said it: not of a lock of which only the kernel knows the
 * holder.
 */
uint32_t lock_word_holder(const struct timelines *tl, uint32_t thread, const struct wait *w);

/* Whether the object (an id of the trace) is the lock of a Python interpreter. */
bool lock_is_gil(const struct trace *t, uint32_t object);
/* The same, a lock of a file for which threads poll. */
bool lock_is_of_file(const struct trace *t, uint32_t object);

/*
 * As waited_for_words(), with that: "futex 7:app+0x10 held by janitor/77"; of a wait in
 * pthread_join() "thread worker/77".
 */
uint32_t words_of_wait(struct names *n, uint32_t thread, const struct wait *w);

/*
 * The name of a lock, "17:lib.so+0x40c4", becomes that of the even one of the two words in its 8
 * bytes: a condition variable of the GNU C library has two, by turns for those who wait.
 */
void lock_name_of_both_words(char *name);
/*
 * Whether two sleeps of one thread, one after the other, with these user stacks, were in one call
 * that waits for a condition: the first at the condition variable, the second at its mutex.
 */
bool lock_same_condition(const struct trace *t, uint32_t first, uint32_t second);
