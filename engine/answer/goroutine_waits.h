/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * goroutine_waits.h - which requests to a Go program waited for another goroutine: at a lock or a
 * channel no thread sleeps for that. Known from what the threads ran that led to the answer, by the
 * functions in which goroutines begin, and from what the program had asked others for before
 * (chain-semantics, section 19).
 */
#pragma once

#include "timeline/timeline.h"

struct goroutine_wait {
	uint64_t to_ns; /* it waited from when it was taken until then; 0: it did not */
	bool is_shared; /* as others did: at a lock or a channel */
	uint32_t sleep; /* stack pair of the sleep in which an answer came that the other one
			 * waited for; 0: it ran */
	uint32_t asked; /* stack pair with which it had asked for that; 0: not known */
};

/* Of a request of the trace. *searches becomes one more if all threads of the trace are looked at.
 */
struct goroutine_wait goroutine_waits_of(const struct timelines *tl, const struct request *q,
					 uint32_t *searches);
