/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_window.h - the latest events, as the encoder's EVENTS and AUX_EVENTS blocks in memory, and
 * views that read them in the order of time. It owns the blocks; its user decides when to drop
 * them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/event_read.h"

struct event_block {
	struct event_block *next; /* of the same queue, later */
	uint64_t number;	  /* among this queue's blocks, from 1 */
	size_t len;
	uint8_t payload[];
};

/* Blocks of one type and CPU. */
struct event_queue {
	struct event_block *first, *last;
	uint64_t made; /* blocks */
};

/* A zeroed struct is an empty window. */
struct event_window {
	struct event_queue *queues; /* two for each CPU: EVENTS, AUX_EVENTS */
	uint32_t n_queues;
	size_t bytes; /* of memory that the blocks take */
};

void event_window_free(struct event_window *w);

/* Keeps a block if it is one of events (an encoder_sink; ctx is the window). */
int event_window_put(void *ctx, const void *block, size_t len);

/*
 * A reading position in the window. A zeroed view begins at the oldest event; the window must keep
 * what the view has not read yet.
 */
struct event_cursor {
	const struct event_block *block; /* being read, or read last; NULL: none yet */
	struct chainlog_reader reader;
	struct event ev; /* the next one, if has_event */
	bool has_event;
};

struct event_view {
	struct event_cursor *cursors;
	uint32_t *heap; /* cursors that have an event; the earliest event first */
	uint32_t n_cursors, n_heap;
	struct event given; /* the last event returned */
	int error;
};

void event_view_free(struct event_view *v);
/* Call it before reading on after blocks were put. Returns 0 or -ENOMEM. */
int event_view_refresh(struct event_view *v, const struct event_window *w);
/*
 * The next event before until_ns. NULL: there is none, or v->error is a negative errno. Valid until
 * the next call.
 */
const struct event *event_view_next(struct event_view *v, uint64_t until_ns);

/* Drops the blocks that the view has read. */
void event_window_forget(struct event_window *w, struct event_view *v);
