/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stalls.h - when no CPU had an event although samples were due (chain-semantics, section 9): the
 * machine stood still, as a virtual machine does that its host does not run. Times are
 * CLOCK_MONOTONIC ns.
 */
#ifndef ENGINE_STALLS_H
#define ENGINE_STALLS_H

#include <stddef.h>
#include <stdint.h>

#define STALL_MIN_NS 100000000u
#define STALL_MIN_SAMPLES 20u

struct stall {
	uint64_t from_ns, to_ns;
};

/* All zero is empty. */
struct stalls {
	struct stall *at; /* in the order of time */
	size_t n, cap;
	uint64_t seen_ns; /* the trace has events, or losses, up to here; 0: none so far */
};

/*
 * The next event, of any kind: at ns; of a loss, up to last_ns, else last_ns is ns. Returns 0 or
 * -ENOMEM.
 */
int stalls_event(struct stalls *s, uint64_t ns, uint64_t last_ns);
/* Threads ran for ran_ns in all, and were sampled so often: keeps what is long enough for that. */
void stalls_finish(struct stalls *s, uint64_t ran_ns, size_t samples);
void stalls_free(struct stalls *s);

#endif /* ENGINE_STALLS_H */
