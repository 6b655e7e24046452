/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * server.h - a made-up server under load, for traces of any size: clients whose requests go
 * through one router to workers, which ask a database, which asks a store, which writes a journal
 * to a disk. Pools of threads that take jobs, mutexes, interrupts of a disk, a network card and a
 * timer, time slices. Whatever it does could have happened on a real machine: each thread is in one
 * place at a time, and sleeps until it is woken.
 *
 * It owns the schedule; what its threads' stacks look like is up to the caller, who is asked for
 * them once for each place.
 */
#pragma once

#include <stdint.h>

#include "common/encoder.h"

enum server_role {
	ROLE_CLIENT,
	ROLE_ROUTER,
	ROLE_WORKER,
	ROLE_QUERY,
	ROLE_STORE,
	ROLE_JOURNAL,
	ROLE_KWORKER, /* a kernel thread, woken by a timer */
	ROLE_IDLE,    /* waits from the trace's start to its end */
	ROLES,
};

/* Where in its code a thread goes to sleep or wakes another. */
enum server_place {
	PLACE_WAIT_REQUEST, /* for the network */
	PLACE_WAIT_JOB,
	PLACE_GIVE_JOB, /* wakes a thread of a pool */
	PLACE_WAIT_REPLY,
	PLACE_REPLY, /* wakes whoever asked */
	PLACE_LOCK,
	PLACE_UNLOCK,
	PLACE_WAIT_DISK,
	PLACE_IRQ_NETWORK, /* wake out of an interrupt */
	PLACE_IRQ_DISK,
	PLACE_IRQ_TIMER,
	PLACES,
};

/* What a request is about: frequent ones first. */
#define SERVER_KINDS 160

struct server_stack {
	uint32_t kernel, user; /* ids of the trace, 0: none */
};

struct server_options {
	uint64_t events; /* it stops when so many were made */
	uint64_t seed;
	uint64_t start_ns;
	uint32_t cpus;
	uint32_t idle; /* threads that wait for the whole trace */
	/* The stack of a thread of a role that works on a kind of request at a place. */
	struct server_stack (*stack)(void *arg, enum server_role role, unsigned int kind,
				     enum server_place place);
	void *arg;
};

/* Names of the roles' threads, as prctl(PR_SET_NAME) would have them. */
const char *server_role_name(enum server_role role);

/*
 * Tells the encoder the threads and then the events. *end_ns is when it ended. Returns 0 or a
 * negative errno.
 */
int server_run(struct encoder *e, const struct server_options *o, uint64_t *end_ns);
