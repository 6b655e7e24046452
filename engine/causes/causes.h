/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * causes.h - the chosen waits summed up by root cause: the last thread of each chain and what it
 * did there. Each instant of a wait belongs to exactly one cause, so the times add up to those of
 * the chain graph.
 */
#pragma once

#include "attribute/chain.h"
#include "select/endpoint_requests.h"
#include "select/top_waits.h"
#include "words/names.h"

/* Links that are followed unless --depth says how many: repeated ones are shown as one. */
#define CAUSES_DEPTH 64
/* Of requests, whose chains show repeated ones. */
#define CAUSES_REQUEST_DEPTH 256

/* A root cause. who, where, what and by are ids of texts in names; 0: there is none. */
struct cause {
	enum chain_end end;
	uint32_t disk; /* CHAIN_DISK: what it did (see timelines_disk_request_kind()) */
	uint32_t who;  /* the last thread of the chain, by name */
	/*
	 * For a sleep: its place; for a waker that ran: the place where it woke most often; for a
	 * preempted thread: where it ran, by the samples.
	 */
	uint32_t where;
	uint32_t what;	/* for a sleep: what it was mostly for */
	uint32_t by;	/* the handler of the interrupt that ended its sleep */
	uint32_t had;	/* if it had no CPU, who had it: "61 % gzip, 39 % make" */
	bool throttled; /* it had no CPU because the quota of its control group was used up */
	/* For a preempted thread: in how many of the waits a quota was used up as well. */
	uint64_t quota_waits;
	uint32_t id; /* of causes_put_woken() */
	bool itself; /* there is no waker in the chain: who is the thread whose wait it is */
	uint64_t ns;
	uint64_t waits;	     /* in which it has a part */
	uint64_t longest_ns; /* the largest part of one wait */
	/*
	 * The wait with the largest part among those that are not nearly all of their thread's
	 * life, if there are any: main() that waits for its threads has a part in every cause.
	 */
	struct chosen_wait example;
	uint64_t example_ns; /* its part */
	/* How most of it came to those who waited: "client <- worker x 6 <- janitor". */
	uint32_t path;
	uint32_t wakee_what; /* what the one whom the last thread woke had waited for, mostly */

	/* Only of requests, see causes_new_of_requests(). */
	bool answers;	      /* the thread is the one that read or answered */
	uint64_t no_cpu_ns;   /* of CHAIN_RUNNING: the part in which it had no CPU */
	uint32_t process;     /* the process with most of it: "java/4700" */
	size_t processes;     /* how many there are */
	uint32_t thread;      /* the thread with most of it: "order-3/4711" */
	size_t threads;	      /* how many there are */
	uint32_t ran;	      /* by samples what it ran, callers behind it: "deflate < compress" */
	uint32_t function;    /* the first of these; 0: there are no samples */
	uint32_t wakee_slept; /* where the one whom the last thread woke had slept, mostly */
};

struct causes;

/*
 * The options for causes: where wakers slept is known, chains are followed to their ends, and
 * preempted time counts unless --state says what does.
 */
struct options causes_options(const struct options *given);
/*
 * Sums up the waits that f chooses. o is of causes_options(); f and names have the same options. tl
 * should have what CPUs ran. 0 or -ENOMEM. To be freed with causes_free().
 */
int causes_new(struct causes **out, const struct timelines *tl, const struct options *o,
	       struct names *names, struct wait_filter *f);
/*
 * The same of chosen requests, with more detail: a cause is the part of a process, by its name, in
 * them, whatever its threads are called and wherever they slept; what the threads that answer did
 * is a cause of its own. That a thread ran and that it had no CPU meanwhile are one, of
 * CHAIN_RUNNING. The example is a request with a typical part. o is of
 * causes_request_options(); its names may be those of several.
 */
struct options causes_request_options(const struct options *given);
int causes_new_of_requests(struct causes **out, const struct timelines *tl, const struct options *o,
			   struct names *names, struct requests_taken of);
/* Whether they are the same cause, of different requests with the same names. */
bool causes_equal(const struct cause *a, const struct cause *b);
/*
 * Which part of the samples of a cause have a function, a text; below 0: it has no samples with
 * stacks.
 */
double causes_part_with(const struct causes *c, const struct cause *of, uint32_t function);
void causes_free(struct causes *c);

/* The causes, most time first; they belong to c. */
const struct cause *causes_list(const struct causes *c, size_t *n);

/*
 * Writes `before` and whom else the thread of a cause woke in its time, if it was much: "audit 6
 * times (20.100 ms)".
 */
void causes_put_woken(const struct causes *c, const struct cause *of, const char *before,
		      FILE *out);
