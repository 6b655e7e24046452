/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * woken_meanwhile.h - whom else a waker woke: those in a window of its time at whose end
 * it woke the thread that is explained (chain-semantics, section 13).
 */
#pragma once

#include "sums.h"
#include "timeline/timeline.h"
#include "words/kernel_stacks.h"

struct woken_meanwhile;

/* To be freed with woken_meanwhile_free(). tl must outlive it. */
void woken_meanwhile_new(struct woken_meanwhile **out, const struct timelines *tl,
			 struct kernel_stacks *kernel);
/* One for another thread; `of` must outlive it. To be freed likewise. */
void woken_meanwhile_share(struct woken_meanwhile **out, const struct woken_meanwhile *of);
void woken_meanwhile_free(struct woken_meanwhile *s);

/*
 * Adds whom the waker woke in [from_ns, to_ns): the keys are names (string ids), the amounts ns, of
 * which each waking has those since the one before it or since from_ns, and the counts wakings.
 * Fast if consecutive calls for a waker are near each other in time.
 */
void woken_meanwhile_add(struct sums *to, uint32_t thing, struct woken_meanwhile *s, uint32_t waker,
			 uint64_t from_ns, uint64_t to_ns);
/*
 * Writes `before` and "audit 6 times (20.100 ms), mail once (1.000 ms)" of a thing, most time
 * first; nothing if they have less than a twentieth of of_ns in all.
 */
void woken_meanwhile_write(const struct sums *s, const struct names *names, uint32_t thing,
			   uint64_t of_ns, const char *before, FILE *out);
