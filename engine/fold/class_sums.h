/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * class_sums.h - what waiting was for, by class of object ("tcp", "file"): blocked time of chosen
 * waits. A wait for any of several things is for the one that was ready.
 */
#ifndef ENGINE_CLASS_SUMS_H
#define ENGINE_CLASS_SUMS_H

#include "select/wait_filter.h"
#include "who_sums.h"

/* Whether the trace says what was waited for. */
bool class_sums_known(const struct timelines *tl);
/* The class (string id) of what a wait with this stack was for; 0: it is not known. */
uint32_t class_of_wait(const struct timelines *tl, uint32_t pair);
/* Adds time of a class, which is a who_sums' string; class 0 is WHO_UNKNOWN. */
void class_sums_add(struct who_sums *s, uint32_t class, uint64_t blocked_ns);
/* Adds the chosen waits of a thread. */
void class_sums_add_thread(struct who_sums *s, const struct timelines *tl, struct wait_filter *f,
			   uint32_t thread);

#endif /* ENGINE_CLASS_SUMS_H */
