/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_facts.h - what is known of the chains of one wait beside their time: who had the CPU, what
 * wakers ran, whom else they served. It is kept by place: a node, or what the user has instead.
 */
#ifndef ENGINE_WAIT_FACTS_H
#define ENGINE_WAIT_FACTS_H

#include "attribute/chain.h"
#include "attribute/served.h"

/* A chain_user's wants. */
#define WAIT_FACTS_WANTED \
	(1u << AMOUNT_CPU_HOLDER | 1u << AMOUNT_SAMPLES | 1u << AMOUNT_INTERRUPTED)

struct wait_facts {
	struct who_ran *who_ran; /* NULL: not known */
	struct served *all_served;
	/* By place: who had the CPU (see who_ran.h), samples by stack pair, whom it woke. */
	struct sums had, ran, served;
	struct pair_table interrupted; /* ns of [running] by (place, 0) */
	bool out_of_memory;	       /* sticky */
};

/* tl must outlive it. 0 or -ENOMEM. To be freed with wait_facts_free(), also after an error. */
int wait_facts_init(struct wait_facts *f, const struct timelines *tl, struct names *names);
void wait_facts_free(struct wait_facts *f);
/* Forgets those of the wait before. */
void wait_facts_clear(struct wait_facts *f);
/* For a chain_sink's add(), of amounts other than AMOUNT_TIME, and for its window(). */
void wait_facts_add(struct wait_facts *f, uint32_t place, struct amount_key key, uint64_t amount);
void wait_facts_window(struct wait_facts *f, uint32_t place, uint32_t waker, uint64_t from_ns,
		       uint64_t to_ns);
/* When a wait has been explained, before they are asked for. 0 or -ENOMEM. */
int wait_facts_sort(struct wait_facts *f, struct names *names);
/* The ns of what the wakers at a place ran that went to interrupts; 0 also if not known. */
uint64_t wait_facts_interrupted(const struct wait_facts *f, uint32_t place);

#endif /* ENGINE_WAIT_FACTS_H */
