/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * joint_users.h - who else uses what requests wait for: how many wait at once, and for which
 * requests those work that have it (chain-semantics, section 19).
 */
#pragma once

#include "attribute/sums.h"
#include "timeline/timeline.h"

/* Whether two sleeps with these stack pairs are at one joint, which somebody has. */
struct joint_alike {
	bool (*is)(void *arg, uint32_t pair, uint32_t other);
	void *arg;
};

/*
 * Of the sleeps at joints of who answered q, until then, that another thread ended: adds their
 * length by (stack pair, route of the request for which that one worked, a text; empty: for none).
 * Where that one had itself slept at that joint meanwhile it is who ended that.
 */
void joint_users_add_routes(struct sums *to, const struct timelines *tl, struct names *names,
			    const struct request *q, const struct joint_alike *alike);
/* How many requests were in the queue of its reader as q was read, with it. */
uint32_t joint_users_queued(const struct timelines *tl, const struct request *q);
/*
 * of[user stack], 0 or a number below n: what a thread that sleeps with that waits for; its name
 * (string) has to be one for which is_meant. Sets waiting[number] to how many slept so at once, at
 * most.
 */
void joint_users_count(const struct timelines *tl, const uint32_t *of, uint32_t *waiting,
		       bool (*is_meant)(void *arg, uint32_t number, uint32_t name), void *arg);
