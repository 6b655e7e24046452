/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf.h - the BPF side as the collector sees it: loading, attaching, ring buffers, the list of
 * threads, counters. It owns the skeleton and knows the kernel's version differences; what records
 * mean is not its business.
 */
#ifndef COLLECTOR_BPF_H
#define COLLECTOR_BPF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "chainwire.h"

struct bpf_session;

struct bpf_options {
	size_t buffer_size; /* of each CPU's ring, bytes; rounded up to a power of two; 0: default
			     */
	bool kernel_stacks, user_stacks;
	bool verify;  /* compare what was known without a walk with a walk */
	bool verbose; /* libbpf's own messages to standard error */
};

struct bpf_counts {
	uint64_t seen;		/* events, kept or not */
	uint64_t lost;		/* of them not kept */
	uint64_t stacks_unsent; /* stacks that found no room */
	uint64_t walked, known; /* kernel stacks walked, and known again without a walk */
	/* Stacks compared with a plain walk, and those that it contradicted. */
	uint64_t verified, mismatches, verified_user, mismatches_user;
	uint64_t missed; /* runs of a program that were skipped: neither seen nor lost */
};

/* Takes one record of len bytes. A negative result ends bpf_session_drain(), which returns it. */
typedef int (*bpf_record_fn)(void *ctx, const struct wire_record *r, size_t len);
/* Takes one thread of the list. A negative result ends the listing. */
typedef int (*bpf_thread_fn)(void *ctx, const struct wire_thread *t);

/*
 * Loads the programs and makes the rings. Returns 0 or a negative errno, with the reason, and what
 * the user can do about it, in why. Close with bpf_session_close().
 */
int bpf_session_open(struct bpf_session **out, const struct bpf_options *o, char *why,
		     size_t why_size);
void bpf_session_close(struct bpf_session *s);

/*
 * Before attaching: tells of code by which interrupts are entered, from start up to end. Stacks of
 * what runs in interrupts end there. As a function of any context, for symbolizer_interrupts().
 */
void bpf_session_interrupt_entry(void *session, uint64_t start, uint64_t end);

/* Events flow from here on. Returns 0 or a negative errno with the reason in why. */
int bpf_session_attach(struct bpf_session *s, char *why, size_t why_size);
/* No more events; what is in the rings stays. */
void bpf_session_detach(struct bpf_session *s);

/* Lists the threads that there are now. Returns 0 or a negative errno. */
int bpf_session_threads(struct bpf_session *s, bpf_thread_fn fn, void *ctx);

/*
 * Takes a sample of a stack (a record, WIRE_SAMPLE), whose first `first` frames are the tracer's
 * own, and teaches the BPF side the stack's layout once it is certain. Returns the layout's number
 * if it is the stack's first one, else 0. The stack's id is
 * WIRE_STACK_LAYOUT | number from then on.
 */
uint32_t bpf_session_learn(struct bpf_session *s, const struct wire_sample *sample, uint32_t first);

/*
 * Makes room on the BPF side for new stacks, when it takes some, as a recording may go on for ever.
 * Stacks without a layout whose id is older than BPF_SESSION_IDS ids are sent again, under a new
 * id, when they are seen again. Takes a few milliseconds every 32 thousand new stacks. Returns 0 or
 * a negative errno.
 */
#define BPF_SESSION_IDS (1u << 16)
int bpf_session_recycle(struct bpf_session *s);

/*
 * Takes what is in the rings, of each no more than it can hold, so that it ends also under load.
 * Returns the number of records or a negative errno.
 */
long bpf_session_drain(struct bpf_session *s, bpf_record_fn fn, void *ctx);

/* Counters as they are now. Returns 0 or a negative errno. */
int bpf_session_counts(struct bpf_session *s, struct bpf_counts *out);

/*
 * After detaching: what was lost and not yet said in a WIRE_LOST record, as such records.
 * Returns 0 or a negative errno.
 */
int bpf_session_pending(struct bpf_session *s, bpf_record_fn fn, void *ctx);

bool bpf_session_learning(const struct bpf_session *s);	     /* the last drain had samples */
uint32_t bpf_session_layouts(const struct bpf_session *s);   /* stack layouts taught */
uint32_t bpf_session_cpus(const struct bpf_session *s);	     /* that can come online */
size_t bpf_session_buffer_size(const struct bpf_session *s); /* of one ring, bytes */

#endif /* COLLECTOR_BPF_H */
