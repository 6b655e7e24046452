/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * subjects.h - what the first screen is about: the command that was recorded, or the process or
 * thread that the user named; the thread that waited longest for others; the endpoints whose
 * requests had most time, who asks before whom it asks; each with the chain of its waits.
 */
#pragma once

#include "answer/chain_steps.h"
#include "answer/path_processes.h"
#include "format.h"
#include "select/service.h"

enum subject_kind {
	SUBJECT_COMMAND,
	SUBJECT_NAMED, /* a process or thread */
	SUBJECT_WAITER,
	SUBJECT_ENDPOINT,
};

struct subject {
	enum subject_kind kind;
	uint32_t name; /* a text: "make", "alpha/26050", "tcp :80 nginx/900" */
	/*
	 * How long the command took, from its program's start to its end, or what was named, or
	 * as much of that as is shown; the thread waited for others, of of_ns; all requests took.
	 */
	uint64_t took_ns, of_ns;
	/* Of a command, and of what was named: */
	uint32_t thread;    /* whose path it is */
	uint64_t from_ns;   /* when that begins */
	double cpus_busy;   /* by all of its threads meanwhile, on average */
	double others_cpus; /* likewise, by others */
	uint64_t no_cpu_ns; /* of its path, in which the one whose turn it was had no CPU */
	bool began, ended;  /* with it, not before or with --from; not later or with --to */
	struct path_processes processes;
	const struct endpoint_requests *requests; /* of an endpoint; at least one; else NULL */
	struct service *service; /* whose requests these are, if it has several routes; else NULL */
	struct requests_taken slowest; /* of these */
	/*
	 * The path of the command, or of what was named, the thread's waits for others, the slowest
	 * requests; NULL: all requests took hardly any time, or steps were not asked
	 * for.
	 */
	struct chain_steps *steps;
};

/* Endpoints of a screen; of whatever else is made of them. */
#define SUBJECTS_ENDPOINTS 3
#define SUBJECTS_ENDPOINTS_MOST 100
/* Routes of a service on a screen. */
#define SERVICE_ROUTES_SHOWN 6
#define SUBJECTS_MOST (2 + SUBJECTS_ENDPOINTS_MOST)

/* Stays where it is: what is in it refers to its options. */
struct subjects {
	const struct trace *trace;
	struct options of_threads, of_requests;
	bool all; /* subjects_find_all() */
	struct names *names;
	const struct wait_filter *like; /* shares what is known of waits; NULL: none does */
	struct chain_known *known;
	bool wants_endpoints;		/* the options choose no other waits */
	struct wait_filter *filter;	/* of requests; NULL: there are none */
	struct request_table *requests; /* likewise */
	size_t n_endpoints;		/* all there are; each with all its routes */
	struct subject at[SUBJECTS_MOST];
	size_t n;
};

/*
 * Finds them: those that the options do not exclude, as they ask for other waits. like: a filter
 * that shares what it found out of waits; cpu_holders: with what interrupts took. Both outlive it.
 * To be freed with subjects_free().
 */
void subjects_find(struct subjects *s, const struct format_input *in,
		   const struct wait_filter *like, const struct cpu_holders *cpu_holders);
/*
 * The same of the command and all endpoints, up to SUBJECTS_ENDPOINTS_MOST, without steps;
 * --request may choose endpoints.
 */
void subjects_find_all(struct subjects *s, const struct format_input *in,
		       const struct cpu_holders *cpu_holders);
void subjects_free(struct subjects *s);
/* Whether only some threads are shown: those of a command, or whom the user chose. */
bool subjects_chosen(const struct options *o);
