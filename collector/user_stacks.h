/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * user_stacks.h - stands between the BPF side and the sink of its records. Completes the user
 * stacks that the BPF side could not unwind, unwinds threads that were asleep before the recording,
 * and for --verify compares user stacks with another unwinder's.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/bpf.h"
#include "helper/helper.h"
#include "interpreters/interpreters.h"
#include "names/symbolize.h"

struct user_stacks;

/*
 * bpf, sym and helpers are borrowed; helpers as for unwinder_new(). With verify the stacks are
 * compared, and with verbose each one that differs is printed on standard error. Returns 0 or a
 * negative errno.
 */
int user_stacks_open(struct user_stacks **out, struct bpf_session *bpf, struct symbolizer *sym,
		     struct helpers *helpers, bool verify, bool verbose);
void user_stacks_close(struct user_stacks *u);

/* Takes who has the lock at which a listed thread sleeps (tids). 0 or a negative errno. */
typedef int (*user_stacks_holder_fn)(void *ctx, uint32_t tid, uint32_t holder);

/*
 * Where processes have interpreters, by which stacks of sleeping threads get frames of its code,
 * and those of Java. Returns 0 or -ENOMEM.
 */
int user_stacks_interpreters(struct user_stacks *u, const struct interpreters *i);
/* Sets the sink: each function gets ctx, and record the records, thread the threads. */
void user_stacks_to(struct user_stacks *u, bpf_record_fn record, bpf_thread_fn thread,
		    user_stacks_holder_fn holder, void *ctx);
/* Takes one record of len bytes (a bpf_record_fn; user_stacks is a struct user_stacks). */
int user_stacks_record(void *user_stacks, const struct wire_record *r, size_t len);

/* Takes one thread of the list at the start, and queues it if it is asleep (a bpf_thread_fn). */
int user_stacks_thread(void *user_stacks, const struct wire_thread *t);
/*
 * Unwinds queued threads for about slice_ns, and passes their stacks on as records. A thread that
 * has run since it was listed, or whose turn comes too late, gets its leaf only. Returns 0 or the
 * negative errno of record().
 */
int user_stacks_complete(struct user_stacks *u, uint64_t slice_ns);
/* Whether threads are queued. */
bool user_stacks_left(const struct user_stacks *u);
/* As user_stacks_complete(), at the end of the recording, for all that are queued. */
int user_stacks_complete_rest(struct user_stacks *u);

/* Drops what was not used for a minute. Call it now and then. */
void user_stacks_forget_idle(struct user_stacks *u);

/* Adds the stacks completed here, and those compared, to what the BPF side counted. */
void user_stacks_count(const struct user_stacks *u, struct bpf_counts *counts);
/* Stacks that were cut, as rules, or threads that were asleep, were not read in time. NULL: 0. */
uint64_t user_stacks_cut(const struct user_stacks *u);
/* Two lines of figures on standard error; nothing if no stack is unwound. */
void user_stacks_report(const struct user_stacks *u, const struct bpf_counts *counts);
