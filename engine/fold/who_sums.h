/* SPDX-License-Identifier: GPL-2.0-or-later */
/* who_sums.h - sums of what who_ran_share() gives, and how tables and trees write them. */
#ifndef ENGINE_WHO_SUMS_H
#define ENGINE_WHO_SUMS_H

#include <stdio.h>

#include "base/pairs.h"
#include "attribute/who_ran.h"
#include "words/names.h"

struct who_sum {
	uint32_t who;
	uint64_t ns;
};

/* All zero is empty. */
struct who_sums {
	struct pair_table table; /* ns by (who, 0) */
	struct who_sum *sorted;
	size_t n, cap; /* of sorted */
	bool out_of_memory;
	const char *unknown; /* what WHO_UNKNOWN is called; NULL: "[unknown]" */
};

/* Forgets all; the memory is kept. who_sums_free() releases it. */
void who_sums_clear(struct who_sums *s);
void who_sums_free(struct who_sums *s);
/* A who_ran_fn, arg being the struct who_sums. */
void who_sums_add(void *arg, uint32_t who, uint64_t ns);
void who_sums_add_all(struct who_sums *to, const struct who_sums *from);
/*
 * The sums in sorted[], the largest first and those of equal size by text, n of them; none if
 * out_of_memory.
 */
void who_sums_sort(struct who_sums *s, struct names *names);
/* How who is called: a name, cleaned, "[idle CPU]", "[throttled]"...; NULL: it is not known. */
const char *who_sums_text(struct names *names, uint32_t who);
/*
 * Sorts them, and writes `before` and "61 % gzip, 20 % [idle CPU], 19 % others": at most `most` of
 * them, each of at least one percent. Writes nothing, and returns false, if nothing is known.
 */
bool who_sums_write(struct who_sums *s, struct names *names, size_t most, const char *before,
		    FILE *out);

#endif /* ENGINE_WHO_SUMS_H */
