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
	enum chain_end end;  /* CHAIN_ENDS: it waited for work */
	uint32_t disk;	     /* CHAIN_DISK: 1 + the number of the device */
	uint32_t tcp_timer;  /* CHAIN_NETWORK: enum chainlog_tcp_timer; 0: none put it off */
	uint32_t operations; /* what it did: "disk vda write", "58 % disk vda write, 42 % ..." */
	uint32_t who;	     /* the last thread of the chain, by name */
	/*
	 * These say what most of its time has, and how much, unless that is all: "read < ask (52
	 * %), write < tell (40 %)". For a sleep: its place; for a waker that ran: what it did when
	 * it woke ("woke the waiter in unlock"); for a preempted thread: where it ran, by the
	 * samples.
	 */
	uint32_t where;
	uint32_t what; /* for a sleep: what it was for */
	uint32_t by;   /* the handler of the interrupt that ended its sleep */
	/*
	 * If it had no CPU, who had it: "61 % gzip, 39 % make"; if it was throttled, which quota
	 * was used up.
	 */
	uint32_t had;
	bool throttled; /* it had no CPU because the quota of its control group was used up */
	/*
	 * For a preempted thread: in how many of the waits a quota was used up, it is not known
	 * until when.
	 */
	uint64_t quota_waits;
	uint32_t id; /* of causes_cells() */
	/* CHAIN_NOT_WOKEN, CHAIN_UNKNOWN: it is known where the thread slept. */
	bool itself;
	const struct wait *never_woken; /* CHAIN_NOT_WOKEN: the wait, or one of them; or NULL */
	/*
	 * A pause by choice: the thread's own timer ended its sleep, or it only waited for work,
	 * and nobody is known to have waited for it meanwhile: it worked for no request, and none
	 * in the chain waited for a lock.
	 */
	bool pause;
	/*
	 * Not 0: the lock, a text, for which others waited while `who` held it, or had not released
	 * it yet; the cause is of CHAIN_RUNNING, whatever the thread did.
	 */
	uint32_t lock;
	uint32_t held;	    /* what it did meanwhile: "60 % ran, 40 % had no CPU" */
	double held_ran;    /* how much of the time it ran */
	uint64_t no_cpu_ns; /* in which it, or one for whom it waited, had no CPU; no quota's */
	uint64_t ns;
	uint64_t windows_ns; /* length of the windows of its threads\' time that are explained */
	uint64_t waits;	     /* in which it has a part */
	uint64_t slowest_ns; /* its time in the slowest one percent of waits, pauses left out */
	/*
	 * The largest part that a wait has of it: of a sleep at the end of chains the longest one,
	 * not many; 0: it is not known. And the longest piece of its time.
	 */
	uint64_t longest_ns, piece_ns;
	/*
	 * The wait with the largest part among those of the threads by whose name the usual way
	 * begins (.head), or else of all; one that is no other cause's example, if there is any.
	 * One for the end of a process or thread, or that is nearly all of its thread's life, may
	 * have a part in every cause: it is taken only if no other one has a piece of half of
	 * piece_ns.
	 */
	struct chosen_wait example;
	/* How most of it came to those who waited: "client <- worker x 6 <- janitor". */
	uint32_t path;
	uint32_t head;	     /* the first of these; 0: it is not shown */
	uint32_t wakee_what; /* what the one whom the last thread woke had waited for */
	uint32_t victims;    /* whom it made wait, and for how long: "sh wait 477.000 ms, make x
				3 1.000 ms" */
	uint32_t thread;     /* the thread with most of it: "order-3/4711"; 0: not known */
	size_t threads;	     /* how many there are */
	/*
	 * By samples what it ran: the function up to which nearly all go, callers behind it
	 * ("deflate < compress"), how many have that, and where they go from there: "52 %
	 * spin_cheap, 46 % spin_dear", or on which lines of interpreted code; "": all are at its
	 * end.
	 */
	uint32_t ran;
	double ran_part;
	uint32_t ran_ways;
	uint32_t function;  /* the first of .ran, or of .ran_ways; 0: there are no samples */
	double kernel_part; /* how many are in the kernel */
	uint32_t kernel;    /* in which calls, mostly: "40 % execve, 12 % page faults" */
};

struct causes;

/*
 * The options for causes: where wakers slept is known, chains are followed to their ends, and
 * preempted time counts unless --state says what does.
 */
struct options causes_options(const struct options *given);
/* The same for steps (answer/chain_steps.h), which go further, of requests unless that is changed.
 */
struct options causes_request_options(const struct options *given);

struct cpu_holders;
/*
 * Sums up the waits that f chooses. o is of causes_options(); f and names have the same options.
 * cpu_holders: who had the CPUs, with what interrupts took; NULL: it is not known. All of these
 * outlive it. To be freed with causes_free().
 */
void causes_new(struct causes **out, const struct timelines *tl, const struct options *o,
		struct names *names, struct wait_filter *f, const struct cpu_holders *cpu_holders);
/* The cell of a wait, a number of the user's, from 1 on: asked by several threads at once. */
struct causes_cells {
	const void *arg;
	uint32_t (*of)(const void *arg, const struct chosen_wait *p);
	bool one_by_one; /* each wait is explained by itself, as those of requests are */
};
/*
 * What the waits of a cell have of a cause: time, how many of them, the longest part of one. They
 * add up to those of the cause (chain-semantics, "Figures of causes").
 */
struct cause_cell {
	uint64_t ns, waits, longest_ns;
};
/* causes_new(), and what waits have of causes is kept apart by cell, too. */
void causes_new_in_cells(struct causes **out, const struct timelines *tl, const struct options *o,
			 struct names *names, struct wait_filter *f,
			 const struct cpu_holders *cpu_holders, struct causes_cells cells);
/* struct cause_cell by (.id of a cause, cell), in no order; they belong to c. */
const struct pair_table *causes_cells(const struct causes *c);
void causes_free(struct causes *c);

/* How many causes are shown, the others being summed up. */
uint64_t causes_shown(const struct options *o);
/*
 * The causes, most time first, but of those that are shown the unknown ones, of which events are
 * missing, last; then the pauses, most time first. They belong to c.
 */
const struct cause *causes_list(const struct causes *c, size_t *n);
/* How many of them are no pauses. */
size_t causes_without_pauses(const struct causes *c);

/*
 * Writes for whom else the thread of a cause worked while others waited for it, if it was much:
 * ", 88 % for audit, 5 % for mail".
 */
void causes_put_served(const struct causes *c, const struct cause *of, FILE *out);
/* The example among the waits of threads of this name (a text); NULL: there is none. Not of
 * requests. */
const struct chosen_wait *causes_example_of(const struct causes *c, const struct cause *of,
					    uint32_t name);
/* Whom a cause made wait, by name, most time first: count is the number of threads. */
const struct sum *causes_victims(const struct causes *c, const struct cause *of, size_t *n);
