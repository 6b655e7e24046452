/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpu_threads.h - drains the ring buffers with several threads, each of which has its own CPUs.
 *
 * Nearly all records are switches and wakings whose stacks have been defined. A thread writes them
 * into the blocks of its CPUs without a lock, with a small table of the stack ids that it met. The
 * rest, from a new stack to a full block, goes through the same single-threaded code as ever
 * (translator, stack map, symbolizer, encoder, writer), under one lock. Between two calls of
 * cpu_threads_drain() the threads sleep, and touch nothing.
 */
#pragma once

#include "events/id_map.h"
#include "kernel/bpf.h"
#include "common/encoder.h"
#include "names/symbolize.h"

struct cpu_threads;

/* All borrowed until cpu_threads_free(). */
struct cpu_threads_shared {
	struct bpf_session *bpf;
	struct encoder *enc;
	struct id_map *ids; /* whose store is the trace that enc writes */
	struct symbolizer *sym;
	bpf_record_fn record; /* takes any record, with ctx; one call at a time */
	void *ctx;
};

/*
 * n: threads, the caller's own included; 0: as many as the machine's CPUs call for. The other
 * threads inherit the caller's capabilities and priority. If not all of them can be made, those
 * that can do the work. Returns 0 or -ENOMEM.
 */
int cpu_threads_new(struct cpu_threads **out, const struct cpu_threads_shared *shared,
		    unsigned int n);
/* Ends the threads. NULL is allowed. */
void cpu_threads_free(struct cpu_threads *l);

/* How many threads drain, the caller's included. */
unsigned int cpu_threads_count(const struct cpu_threads *l);

/*
 * As bpf_session_drain() for all CPUs, each record once: switches and wakings into the encoder, as
 * the translator does, everything else to record(). Returns 0 or the first negative errno.
 */
int cpu_threads_drain(struct cpu_threads *l);
