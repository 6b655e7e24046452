/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_facts.h - what is known of the chains of one wait beside their time: who had the CPU, what
 * wakers ran, whom else they served. It is kept by node, or by what the user has in place of nodes.
 */
#ifndef ENGINE_WAIT_FACTS_H
#define ENGINE_WAIT_FACTS_H

#include "attribute/chain.h"
#include "attribute/served.h"

#define FACTS_NOWHERE UINT32_MAX

struct wait_facts {
	struct who_ran *who_ran; /* NULL: not known */
	struct served *all_served;
	/* By place: who had the CPU (see who_ran.h), samples by stack pair. */
	struct sums had, ran;
	struct pair_table interrupted; /* ns of [running] by (place, 0) */
	struct sums served;	       /* by place: see served_add() */
	uint32_t (*place_of)(void *arg, uint32_t node);
	void *arg;
	bool out_of_memory; /* sticky */
};

/*
 * From now on f gets what is known of the waits that c explains; both must outlive the other's use.
 * place_of: where the facts of a node belong, FACTS_NOWHERE if it is out of memory; NULL: to the
 * node. 0 or -ENOMEM. To be freed with wait_facts_free(), also after an error.
 */
int wait_facts_init(struct wait_facts *f, struct chains *c,
		    uint32_t (*place_of)(void *arg, uint32_t node), void *arg);
void wait_facts_free(struct wait_facts *f);
/* The ns of what the wakers at a place ran that went to interrupts; 0 also if not known. */
uint64_t wait_facts_interrupted(const struct wait_facts *f, uint32_t place);
/* Forgets those of the wait before. */
void wait_facts_clear(struct wait_facts *f);
/* When a wait has been explained, before they are asked for. 0 or -ENOMEM. */
int wait_facts_sort(struct wait_facts *f, struct names *names);

#endif /* ENGINE_WAIT_FACTS_H */
