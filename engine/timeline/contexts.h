/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * contexts.h - for which trace, span and route threads work, as their programs publish it
 * (chain-semantics, section 15): what was last read of each thread while the trace is read.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct event;

struct context {
	uint64_t trace[2]; /* the trace id's upper and lower half; both 0: none */
	uint64_t span;	   /* 0: none */
	uint32_t route;	   /* object of the trace; 0: none */
};

struct contexts {
	struct context *at; /* numbers from 1; at[0] is all 0 */
	size_t n, cap;
	struct context_seen *seen; /* by thread */
	size_t n_seen;
	uint64_t lost_until_ns;
};

/* A thread's context was read, perhaps that it has none. In order of time. */
void contexts_event(struct contexts *c, uint32_t thread, const struct event *ev);
/* Contexts are missing up to last_ns: what was read of any thread until then may be outdated. */
void contexts_lost(struct contexts *c, uint64_t last_ns);
/* The thread runs another program from here on. */
void contexts_forget(struct contexts *c, uint32_t thread);
/* The number of the thread's context if it was read at since_ns or later; 0: none that is known. */
uint32_t contexts_last(const struct contexts *c, uint32_t thread, uint64_t since_ns);
void contexts_free(struct contexts *c);
