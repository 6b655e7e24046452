/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * queued_windows.h - the time in which requests were queued, of many requests at once. Those of one
 * chain and reader that are queued at the same time are counted, and the time is cut where the
 * reader begins or ends to work for another request: the cost is that of sorting, however long
 * queues are.
 */
#pragma once

#include "timeline/timeline.h"

/* [from_ns, to_ns) of the time in which a request was queued. */
struct queued_window {
	uint32_t node;	 /* of the chain down to "[queued]" */
	uint32_t reader; /* a thread */
	uint32_t name;	 /* string id: the reader's at at_ns, when it read the request */
	uint32_t pair;	 /* of the client's wait */
	uint64_t from_ns, to_ns, at_ns;
};

/* All zero is empty. */
struct queued_windows {
	struct queued_window *at;
	size_t n, cap;
};

void queued_windows_add(struct queued_windows *q, const struct queued_window *w);
/*
 * Calls put for each stretch in which so many windows like `of` were open; for_it: the other
 * request for which the reader worked then, NULL: none, or not just one. Empties q.
 */
void queued_windows_sweep(struct queued_windows *q, const struct timelines *tl,
			  void (*put)(void *arg, const struct queued_window *of,
				      const struct request *for_it, uint64_t from_ns,
				      uint64_t to_ns, uint32_t count),
			  void *arg);
void queued_windows_free(struct queued_windows *q);

/*
 * The span of time in which the reader worked for just one request that contains from_ns, or the
 * next one; *end: one past the reader's last.
 */
const struct request_span *served_span_at(const struct timelines *tl, uint32_t reader,
					  uint64_t from_ns, const struct request_span **end);
