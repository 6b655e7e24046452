/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flight.h - the flight recorder: keeps the last window of time in memory, with everything needed
 * to write it as a trace at any moment: the events, the state of each thread when the window
 * begins, the stacks and strings that events refer to, and the accounts of what was seen and lost.
 *
 * Memory is bounded by max_bytes and by what lives on the machine (threads, processes, the files
 * they map), not by how long it runs: what only dropped events referred to is dropped as well. If
 * max_bytes cannot hold the whole window, the window becomes shorter.
 *
 *     f = flight_new(), a symbolizer on flight_encoder(f), flight_begin()
 *     bpf_session_threads(.., flight_thread, f)
 *     each turn: bpf_session_drain(.., flight_record, f); now and then flight_flush(),
 *     flight_forget(); to write a trace: flight_dump(), best in a forked process
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "chainwire.h"
#include "events/translate.h"
#include "trigger.h"

struct flight;

struct flight_options {
	uint64_t window_ns;
	uint32_t cpus; /* number of possible CPUs */
	size_t max_bytes;
};

/* Events kept, reported as lost, and counted in the kernel. */
struct flight_sums {
	uint64_t events, lost, kernel;
};

struct flight_counts {
	/* Of EVENTS, of AUX_EVENTS blocks: of the window (up to the last event), and of all time.
	 */
	struct flight_sums window[2], total[2];
	uint64_t stacks_once;	 /* since the start: WIRE_STACK_ONCE records */
	uint64_t unknown_code;	 /* likewise: see id_map_unknown_code() */
	uint64_t unknown_routes; /* likewise */
	size_t bytes;		 /* of memory, for events, definitions and losses */
};

/* All functions that return int return 0 or a negative errno: -ENOMEM, -EBADMSG. */

int flight_new(struct flight **out, const struct flight_options *o);
void flight_free(struct flight *f);
/* The encoder that the symbolizer is to define names with; free the symbolizer first. */
struct encoder *flight_encoder(struct flight *f);
/*
 * Begins the recording: no window begins before start_ns. sym and trigger (may be NULL) are
 * borrowed. Samples of stacks go to fn(ctx, ...).
 */
int flight_begin(struct flight *f, uint64_t start_ns, struct symbolizer *sym,
		 struct trigger *trigger, translator_sample_fn fn, void *ctx);

/* Takes one record of len bytes (a bpf_record_fn; ctx is the flight). */
int flight_record(void *ctx, const struct wire_record *r, size_t len);
/* Takes one thread of the list (a bpf_thread_fn). */
int flight_thread(void *ctx, const struct wire_thread *w);
/* Takes who has the lock at which a thread of the first list sleeps (a user_stacks_holder_fn). */
int flight_holder(void *ctx, uint32_t tid, uint32_t holder);
/* n events of cpu (-1: unknown) between first_ns and last_ns could not be kept. */
int flight_lost(struct flight *f, int cpu, uint64_t n, uint64_t first_ns, uint64_t last_ns);

/*
 * Finishes all blocks, and shows the trigger the events before horizon_ns: a time up to which all
 * CPUs have been drained.
 */
int flight_flush(struct flight *f, uint64_t horizon_ns);
/* Drops what is older than window_ns before horizon_ns. Call it after flight_flush(). */
int flight_forget(struct flight *f, uint64_t horizon_ns);

/* Drops what is older than limit_ns, whatever window_ns is. Call it after flight_flush(). */
int flight_cut(struct flight *f, uint64_t limit_ns);
/*
 * After a time without recording: drops everything, and begins again at start_ns. The list of
 * threads follows, as after flight_begin(). Call it after flight_flush().
 */
int flight_restart(struct flight *f, uint64_t start_ns);

/*
 * Forks and exits may be among lost events. True if the threads should be listed again because of
 * that; call flight_listing() before that listing begins, at now_ns.
 */
bool flight_wants_listing(const struct flight *f);
void flight_listing(struct flight *f, uint64_t now_ns);

/* Where a trace written at now_ns would begin. */
uint64_t flight_from(const struct flight *f, uint64_t now_ns);
void flight_counts(const struct flight *f, struct flight_counts *out);

/*
 * Writes the window from from_ns (see flight_from()) to out, whose INFO block is written already,
 * and ends the trace at end_ns: what is kept from later on is not in it. This consumes the flight
 * and its symbolizer: nothing but freeing them is allowed afterwards. *stats is the symbolizer's.
 * Returns 0 or a negative errno.
 */
int flight_dump(struct flight *f, struct encoder *out, uint64_t from_ns, uint64_t end_ns,
		struct symbolizer_stats *stats);
