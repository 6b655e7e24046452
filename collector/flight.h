/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flight.h - the flight recorder: keeps the events of the last while in memory, with all that is
 * needed to write them as a trace at any moment: what the threads were doing when that while began,
 * the stacks and strings that its events name, and the accounts of what was seen and lost in it.
 *
 * Memory is bounded by max_bytes and by what lives on the machine (threads, processes and the files
 * they map), not by how long it runs: what only forgotten events named is forgotten as well. Where
 * max_bytes do not hold the whole window, it is shorter.
 *
 *     f = flight_new(), a symbolizer on flight_encoder(f), flight_begin()
 *     bpf_session_threads(.., flight_thread, f)
 *     each turn: bpf_session_drain(.., flight_record, f); now and then flight_flush(),
 * flight_forget() to write: flight_dump.h
 */
#ifndef FLIGHT_H
#define FLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "chainwire.h"
#include "encode.h"
#include "symbolize.h"
#include "trigger.h"

struct flight;

struct flight_options {
	uint64_t window_ns;
	uint32_t cpus;
	size_t max_bytes;
};

/* Takes a sample, as in translate.h; returns the number of the stack's layout if there is one now.
 */
typedef uint32_t (*flight_sample_fn)(void *ctx, const struct wire_sample *s, uint32_t first);

/* Of what is kept now: events after the window's beginning and before. */
struct flight_counts {
	uint64_t events, lost;
	uint64_t kernel; /* events counted in the kernel, up to the last that is kept */
	uint64_t total;	 /* events since the start, forgotten ones too */
	uint64_t total_kernel;
	size_t bytes; /* of memory */
};

/* All functions that return int give 0 or a negative errno: -ENOMEM, -EBADMSG. */

/* NULL when out of memory. */
struct flight *flight_new(const struct flight_options *o);
void flight_free(struct flight *f);
/* For the symbolizer, which has to be freed before the flight. */
struct encoder *flight_encoder(struct flight *f);
/*
 * Nothing is known of before start_ns. sym is borrowed, as is trigger, which may be NULL; samples
 * are handed to fn(ctx, ...).
 */
int flight_begin(struct flight *f, uint64_t start_ns, struct symbolizer *sym,
		 struct trigger *trigger, flight_sample_fn fn, void *ctx);

/* Takes one record of len bytes (a bpf_record_fn; ctx is the flight). */
int flight_record(void *ctx, const struct wire_record *r, size_t len);
/* Takes one thread of the list (a bpf_thread_fn). */
int flight_thread(void *ctx, const struct wire_thread *w);
/* n events of cpu (-1: not known which) between first_ns and last_ns could not be kept. */
int flight_lost(struct flight *f, int cpu, uint64_t n, uint64_t first_ns, uint64_t last_ns);

/*
 * Finishes all blocks, and lets the trigger see the events before horizon_ns: a moment up to which
 * all CPUs have been drained.
 */
int flight_flush(struct flight *f, uint64_t horizon_ns);
/* After a flush: forgets what is older than the window, counted back from horizon_ns. */
int flight_forget(struct flight *f, uint64_t horizon_ns);

/*
 * Where events were lost, forks and exits may be among them. True if the threads should be listed
 * again because of that; flight_listing() is called before that is done, at now_ns.
 */
bool flight_wants_listing(const struct flight *f);
void flight_listing(struct flight *f, uint64_t now_ns);

/* From when on a trace of the window would be, if written at now_ns. */
uint64_t flight_from(const struct flight *f, uint64_t now_ns);
void flight_counts(const struct flight *f, struct flight_counts *out);

#endif /* FLIGHT_H */
