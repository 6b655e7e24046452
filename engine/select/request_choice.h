/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * request_choice.h - which requests are shown: of endpoints that were named, not too short, and of
 * each endpoint the slowest.
 */
#pragma once

#include "base/options.h"
#include "timeline/timeline.h"

struct request_choice;

/*
 * Of requests that overlap [from_ns, to_ns). 0 or -ENOMEM. What is given must outlive it.
 */
int request_choice_new(struct request_choice **out, const struct timelines *tl,
		       const struct options *o, uint64_t from_ns, uint64_t to_ns);
void request_choice_free(struct request_choice *c);
/* Whether the request that a client waits for in w is shown. */
bool request_choice_has(const struct request_choice *c, const struct wait *w);
