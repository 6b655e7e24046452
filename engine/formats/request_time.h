/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * request_time.h - where the time of requests went, seen from the thread that answered: how long
 * they were queued, what the thread ran, what it waited for, who had the CPU when it had none.
 * Rows of the same kinds of time for several groups of requests, which so can be compared.
 */
#pragma once

#include "attribute/chain.h"
#include "select/endpoint_requests.h"
#include "words/names.h"

enum request_time_kind {
	REQUEST_QUEUED, /* text: for which endpoint the reader worked meanwhile; 0: none is known */
	REQUEST_RAN,	/* what, by samples; 0: not known */
	REQUEST_BLOCKED, /* where; 0: not known */
	REQUEST_NO_CPU,	 /* who had it; 0: not known */
	REQUEST_LOST,	 /* the trace does not say what the thread did */
};

#define REQUEST_GROUPS_MAX 40

struct request_time {
	enum request_time_kind kind;
	uint32_t text; /* in names; 0: none */
	/* REQUEST_BLOCKED: what for, mostly (0: not known), and for how many other things. */
	uint32_t what;
	size_t others;
	uint64_t ns[REQUEST_GROUPS_MAX];
};

struct request_times;

/*
 * One is enough for all endpoints, however many there are. o is the format's options, of which the
 * names are; cpu_holders, taken (see cpu_holders_new()), are to outlive it. To be freed.
 */
void request_times_new(struct request_times **out, const struct timelines *tl,
		       const struct options *o, struct names *names,
		       const struct cpu_holders *cpu_holders);
/*
 * Explains n groups, in place of those before. The rows of a group add up to what is shown of its
 * requests.
 */
void request_times_explain(struct request_times *t, const struct requests_taken *groups, size_t n);
void request_times_free(struct request_times *t);
/* The one first that has most time in the last group. Valid until others are explained. */
const struct request_time *request_times_list(const struct request_times *t, size_t *n);
/* "blocked in recv < work for tcp 10.0.0.5:5432 +2" */
void request_time_put(struct text_buf *b, const struct names *names, const struct request_time *r);
