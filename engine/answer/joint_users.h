/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * joint_users.h - who else uses what requests wait for: how many wait at once, and for which
 * requests those work that have it (chain-semantics, section 19).
 */
#pragma once

#include "attribute/sums.h"
#include "timeline/timeline.h"

/*
 * Of the sleeps of who answered q, until then, that another thread ended as it worked for a
 * request: adds their length by (stack pair, route of that request, a text).
 */
void joint_users_add_routes(struct sums *to, const struct timelines *tl, struct names *names,
			    const struct request *q);
/* How many requests were in the queue of its reader as q was read, with it. */
uint32_t joint_users_queued(const struct timelines *tl, const struct request *q);
/*
 * of[user stack], 0 or a number below n: what a thread that sleeps with that waits for; its name
 * (string) has to be one for which is_meant. Sets waiting[number] to how many slept so at once, at
 * most.
 */
void joint_users_count(const struct timelines *tl, const uint32_t *of, uint32_t *waiting,
		       bool (*is_meant)(void *arg, uint32_t number, uint32_t name), void *arg);
