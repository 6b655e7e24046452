/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * served.h - whom else a waker served: whom it woke in a window of its time at whose end it woke
 * the thread that is explained (chain-semantics, section 13).
 */
#ifndef ENGINE_SERVED_H
#define ENGINE_SERVED_H

#include "base/pairs.h"
#include "timeline/timeline.h"
#include "words/kernel_stacks.h"
#include "words/names.h"

struct served;

/* 0 or -ENOMEM. To be freed with served_free(). tl must outlive it. */
int served_new(struct served **out, const struct timelines *tl, struct kernel_stacks *kernel);
void served_free(struct served *s);

/* Sums by thing, whatever that is, and who was woken. All zero is empty. */
struct served_sums {
	struct pair_table table; /* struct served_sum, by (thing, name) until they are sorted */
};

struct served_sum {
	uint32_t thing;
	uint32_t name; /* string id */
	uint64_t wakings;
	uint64_t ns; /* each waking has the time since the one before it, or since the window began
		      */
};

void served_sums_clear(struct served_sums *s);
void served_sums_free(struct served_sums *s);
/*
 * Adds whom the waker woke in [from_ns, to_ns). Fast if consecutive calls for a waker are near each
 * other in time. False: out of memory.
 */
bool served_sums_add(struct served_sums *to, uint32_t thing, struct served *s, uint32_t waker,
		     uint64_t from_ns, uint64_t to_ns);
/* When all have been added, before they are asked for. */
void served_sums_sort(struct served_sums *s, struct names *names);
/* The sums of a thing, most time first; *n: how many. Valid until s changes. */
const struct served_sum *served_sums_of(const struct served_sums *s, uint32_t thing, size_t *n);
/*
 * Writes `before` and "audit 6 times (20.100 ms), mail once (1.000 ms)" of a thing, most time
 * first; nothing if they have less than a twentieth of of_ns in all.
 */
void served_sums_write(const struct served_sums *s, struct names *names, uint32_t thing,
		       uint64_t of_ns, const char *before, FILE *out);

#endif /* ENGINE_SERVED_H */
