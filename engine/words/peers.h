/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * peers.h - the processes at the other end of what threads wait for, as far as the trace has it:
 * the recorder says it of unix sockets; the other end of a connection between two processes of this
 * machine is an object itself, with its process; and who wrote to a pipe or read from it has woken
 * who waited there.
 */
#ifndef ENGINE_PEERS_H
#define ENGINE_PEERS_H

#include "kernel_stacks.h"
#include "timeline/timeline.h"

struct peers;

/* NULL: out of memory. What is given must outlive it. */
struct peers *peers_new(const struct timelines *tl, struct kernel_stacks *k);
void peers_free(struct peers *p);

/* Processes; a pipe may have several. */
#define PEERS_NAMED 2
struct peer_list {
	uint32_t pids[PEERS_NAMED];
	uint32_t n; /* all of them, also those that are not in pids */
};

/* Those at the other end of an object (an id of the trace); none if they are not known. */
struct peer_list peers_of(struct peers *p, uint32_t object);

/* The thread that held an object that is a lock; 0: it is none, or the thread is not known. */
uint32_t peers_holder(const struct peers *p, uint32_t object);

#endif /* ENGINE_PEERS_H */
