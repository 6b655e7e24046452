/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flight_private.h - what flight.c (keeping and forgetting) and flight_dump.c (writing) know of
 * each other. Nobody else includes it.
 */
#ifndef FLIGHT_PRIVATE_H
#define FLIGHT_PRIVATE_H

#include "flight.h"
#include "flight_stacks.h"
#include "pool.h"
#include "threads.h"
#include "window.h"

struct flight_loss {
	uint64_t n, first_ns, last_ns;
	int cpu;
};

/* The kernel's own numbers of one CPU's events: see wire_record.seq. */
struct flight_account {
	uint64_t last[WIRE_EVENT_KINDS]; /* number of the last event of each kind */
	int64_t unnumbered; /* told as lost, and not yet seen as a gap in the numbers */
};

struct flight {
	struct flight_options o;
	struct symbolizer *sym;
	struct encoder *enc; /* into the window */
	struct window window;
	struct flight_stacks *stacks;
	struct pool strings;
	flight_sample_fn on_sample;
	void *sample_ctx;
	struct trigger *trigger;

	/* Where the window begins: everything before has been forgotten, and left this behind. */
	uint64_t tail_ns;
	struct window_view tail;
	struct threads threads;
	uint64_t forgotten, forgotten_lost;

	struct flight_loss *losses; /* in the order in which they were told */
	uint32_t n_losses, cap_losses;
	struct flight_account *accounts; /* by CPU */
	uint64_t events, lost;
	uint64_t missed;	/* told as lost of a CPU that is not known: they have no number */
	uint64_t now_ns;	/* of the last record */
	uint64_t collected_ns;	/* the window's beginning when definitions were collected last */
	size_t collected_bytes; /* that were left when definitions were collected last */
	uint64_t listing_ns;	/* when the threads were listed again; 0: not since the last loss */
	bool lost_since_listing;
};

/* The text of a string id as a name, cut to what a thread's name can have. */
void flight_name(const struct flight *f, uint32_t string, char name[THREADS_NAME_LEN]);
/*
 * Moves the window's beginning to limit_ns. The blocks that are behind stay, for window_forget().
 */
int flight_move_tail(struct flight *f, uint64_t limit_ns);

#endif /* FLIGHT_PRIVATE_H */
