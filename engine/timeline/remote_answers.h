/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * remote_answers.h - sleeps that an answer from another machine ended, of which there is a trace,
 * too (chain-semantics, section 16). The room hosts/ finds them.
 */
#pragma once

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "common/intern.h"

struct timelines;
struct wait;

/* A trace that is joined with others, and a name by which its machine is known among them, raw. */
struct joined_host {
	const struct timelines *timelines;
	const char *name;
};

struct remote_answer {
	const struct wait *wait; /* a sleep of this trace */
	/* When the other machine had the request, in this trace's clock: a part of the sleep. */
	uint64_t from_ns, to_ns;
	int64_t ahead_ns; /* the other clock's time, less this one's */
	uint32_t host;	  /* the other trace, its place among those that are joined */
	uint32_t request; /* number there */
};

/* A part of such a time, [from_ns, to_ns) in the other trace's clock; has no padding. */
struct remote_part {
	uint64_t from_ns, to_ns;
	uint32_t answer; /* its place in remote_answers.at */
	uint32_t socket; /* of this trace: for which packets came, an object; 0: not shown */
};

struct remote_answers {
	struct remote_answer *at; /* by address of the wait */
	size_t n, cap;
	pthread_mutex_t lock; /* protects what follows */
	struct intern parts;  /* struct remote_part */
};

struct remote_answers *remote_answers_new(void);
void remote_answers_free(struct remote_answers *r);
/* When all are there, remote_answers_sort() is to be called. */
void remote_answers_add(struct remote_answers *r, const struct remote_answer *a);
void remote_answers_sort(struct remote_answers *r);
/* The answer that ended w; NULL: none is known. r may be NULL. */
const struct remote_answer *remote_answer_of(const struct remote_answers *r, const struct wait *w);
/*
 * The number, from 1 on, of the part [from_ns, to_ns), in this trace's clock, of an answer's time.
 * From any thread.
 */
uint32_t remote_answers_part(struct remote_answers *r, const struct remote_answer *a,
			     uint64_t from_ns, uint64_t to_ns, uint32_t socket);
/* When no more are made. */
struct remote_part remote_answers_part_at(const struct remote_answers *r, uint32_t number);
