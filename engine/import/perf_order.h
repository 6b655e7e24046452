/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_order.h - puts the records of perf's data file in the order of time. perf writes those of
 * each CPU in turn, round after round: at the end of a round, all that is not later than the end of
 * the round before is there. Records with the same time keep the file's order.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_queued {
	uint64_t time_ns;
	const uint8_t *record;
	uint32_t chunk; /* for the caller: where the record's bytes are */
};

/* All zero is empty. */
struct perf_order {
	struct perf_queued *queued, *sorted;
	size_t n, cap;
	size_t next; /* of those that are due: the next one; then what is not yet due */
	size_t n_due;
	uint64_t last_ns;  /* of all so far */
	uint64_t round_ns; /* the last one before the current round */
};

void perf_order_put(struct perf_order *o, const struct perf_queued *record);
/* A round has ended, or with all set the recording: then perf_order_next() returns what is due. */
void perf_order_round(struct perf_order *o, bool all);
/* The next one that is due; NULL: none is, and more may be put. */
const struct perf_queued *perf_order_next(struct perf_order *o);
void perf_order_free(struct perf_order *o);
