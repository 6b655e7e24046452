/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * connections.h - TCP connections between machines whose traces are given: what was answered at the
 * server's end, and which sleeps at the client's end its bytes ended. Both ends number the bytes
 * alike, so it is known which answer ended which sleep, whatever the clocks say.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "timeline/timeline.h"

/* A request at the server's end. */
struct answer {
	uint32_t key;  /* of its connection's addresses */
	uint32_t host; /* the server: its place among the traces */
	uint64_t connection;
	uint32_t number; /* of the request */
	uint32_t request_seq, answer_seq;
	const struct request *request;
	uint64_t earliest_ns; /* it was not written before */
};

/* A sleep at the client's end. */
struct answered {
	uint32_t key, host;
	uint32_t written, received;
	const struct wait *wait;
	const struct answer *by; /* NULL: not known */
	/* The first request that had not been written when the sleep ended; NULL: not known. */
	const struct answer *next;
};

struct connections {
	struct answer *answers; /* by key, host, connection, answer_seq */
	size_t n_answers, cap_answers;
	struct answered *waits; /* by the two hosts, then time; those that have `by` come first */
	size_t n_waits, cap_waits;
	size_t n_answered;
};

/* Whether any two of n traces, at most 32, have both ends of a connection. */
void connections_shared(const struct trace *const *traces, uint32_t n, bool *is_shared);
/*
 * Finds them in n traces, of which those that are NULL are left out. To be freed with
 * connections_free().
 */
void connections_find(struct connections *c, struct timelines *const *traces, uint32_t n);
void connections_free(struct connections *c);
