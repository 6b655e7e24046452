/* SPDX-License-Identifier: GPL-2.0-or-later */
/* who_had.h - who had the CPU in the time of each of several things, whatever these are. */
#ifndef ENGINE_WHO_HAD_H
#define ENGINE_WHO_HAD_H

#include "base/pairs.h"
#include "fold/who_sums.h"
#include "words/names.h"

/* All zero is empty. */
struct who_had {
	struct pair_table table; /* struct who_had_ns, by (thing, who) until they are sorted */
};

struct who_had_ns {
	uint32_t thing, who; /* who: see who_ran.h */
	uint64_t ns;
};

/* Forgets all; the memory is kept. who_had_free() releases it. */
void who_had_clear(struct who_had *h);
void who_had_free(struct who_had *h);
/* In ns of the time of thing, who had the CPU. False: out of memory. */
bool who_had_add(struct who_had *h, uint32_t thing, uint32_t who, uint64_t ns);
/* When all have been added, before they are asked for. */
void who_had_sort(struct who_had *h);
/* Adds those of a thing to sums. */
void who_had_of(const struct who_had *h, uint32_t thing, struct who_sums *sums);
/*
 * Sorts them, and sets text[thing] to "61 % gzip, 39 % make" (an id in names), if anybody is known.
 * 0 or -ENOMEM.
 */
int who_had_take(struct who_had *h, struct names *names, uint32_t *text);

#endif /* ENGINE_WHO_HAD_H */
