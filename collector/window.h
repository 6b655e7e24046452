/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * window.h - the events of the last while, as the encoder's EVENTS blocks in memory, and views that
 * read them in the order of time. It owns the blocks; when they are old enough to go is for its
 * user to say.
 */
#ifndef WINDOW_H
#define WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode.h"

struct window_block {
	struct window_block *next; /* of the same CPU, later */
	uint64_t number;	   /* of this CPU's blocks, from 1 */
	size_t len;
	uint8_t payload[];
};

struct window_cpu {
	struct window_block *first, *last;
	uint64_t made; /* blocks */
};

/* A zeroed struct is an empty window. */
struct window {
	struct window_cpu *cpus;
	uint32_t n_cpus;
	size_t bytes; /* of memory that the blocks take */
};

void window_free(struct window *w);

/* Keeps a block of the trace if it is one of events (an encoder_sink; ctx is the window). */
int window_put(void *ctx, const void *block, size_t len);

/*
 * A place in the window, from which its events are read. One that is zeroed begins at the oldest
 * event; the window has to keep what the view has not yet read.
 */
struct window_view_cpu {
	const struct window_block *block; /* being read, or the last that was; NULL: none yet */
	struct decoder decoder;
	struct decoded_event ev; /* the next one, if there is one */
	bool has_event;
};

struct window_view {
	struct window_view_cpu *cpus;
	uint32_t *heap; /* CPUs that have an event, the earliest one first */
	uint32_t n_cpus, n_heap;
	struct decoded_event given; /* the last one */
	int error;
};

void window_view_free(struct window_view *v);
/* To be called before reading goes on after blocks were put. Returns 0 or -ENOMEM. */
int window_view_refresh(struct window_view *v, const struct window *w);
/*
 * The next event before until_ns, as the blocks have them now. NULL: there is none, or v->error is
 * a negative errno. Valid until the next call.
 */
const struct decoded_event *window_view_next(struct window_view *v, uint64_t until_ns);

/* Drops the blocks that the view has left behind. */
void window_forget(struct window *w, struct window_view *v);

#endif /* WINDOW_H */
