/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * work_events.h - what the trace says of the work items that workers executed when they woke
 * somebody, or queued an item (chain-semantics, section 18).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum work_what {
	WORK_NONE,    /* from then on it executes no item that is known of */
	WORK_QUEUED,  /* it is known who queued it */
	WORK_UNKNOWN, /* not known: since_ns is when its execution began */
	WORK_LOST,    /* of any worker: events are missing in [at_ns, since_ns] */
};

struct work_event {
	uint64_t at_ns, since_ns;
	uint32_t worker;
	uint32_t queuer; /* thread, THREAD_IDLE or THREAD_NONE */
	uint32_t pair;	 /* the queuer's stacks */
	enum work_what what;
};

/* Events may be missing from first_ns on. */
struct work_loss {
	uint64_t first_ns;
	uint64_t until_ns; /* when this and all before it are over */
};

/* All zero is empty. */
struct work_events {
	struct work_event *at; /* in order of time */
	size_t n, cap;
	struct work_loss *losses; /* by first_ns; set by work_items_find() */
	size_t n_losses;
};

/* To be called in order of time. */
void work_events_add(struct work_events *w, const struct work_event *ev);
void work_events_free(struct work_events *w);
