/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * owners.h - who takes part in what there is not enough of for all: room, or the recorder's time.
 * Somebody can have any number of files and processes. So room is given to owners by what is left,
 * and owners take turns: next is who has had the least time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* So many are told apart at a time; others share the last place. */
#define OWNERS_MAX 1024u

struct owner {
	uint64_t key;
	uint64_t held;	   /* what it has, in the caller's unit: files, processes, bytes */
	uint64_t spent_ns; /* on what it has, or when it came as much as others had had then */
};

/* Zeroed: nobody has anything. */
struct owners {
	uint64_t held;	  /* by all together */
	uint64_t turn_ns; /* spent_ns of the one whose turn it was last, when it began */
	uint32_t n;
	struct owner list[OWNERS_MAX];
};

/* The index of the owner with this key. It stays that one's as long as it holds something. */
uint32_t owners_find(struct owners *o, uint64_t key);

/* Owner i has n more from now on; owners_give(): n less. */
void owners_add(struct owners *o, uint32_t i, uint64_t n);
void owners_give(struct owners *o, uint32_t i, uint64_t n);
/*
 * Like owners_add(), of max that there is for all; false: the owner has no room. It may have as
 * much as is left for others: a half if it is alone, so that there is room for whoever comes later.
 */
bool owners_take(struct owners *o, uint32_t i, uint64_t n, uint64_t max);

/* Whose turn it is among those who hold something; false: nobody does. */
bool owners_next(const struct owners *o, uint32_t *i);
/* Owner i has had the turn for that long. */
void owners_spend(struct owners *o, uint32_t i, uint64_t ns);
