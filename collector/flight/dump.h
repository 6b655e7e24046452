/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dump.h - encodes threads and events of the flight recorder once more, into a trace of its own:
 * with its own ids, so that it defines exactly what it refers to.
 */
#pragma once

#include "definitions.h"
#include "event_window.h"

struct dump {
	const struct definitions *from;
	struct encoder *out;
	/* The ids in out, by the flight's ids; 0: none yet. */
	uint32_t *stack_ids, *frame_ids, *space_ids, *object_ids;
	uint32_t last_frame; /* the last id in out */
};

/* Everything is borrowed until dump_end(). Returns 0 or -ENOMEM; dump_end() in both cases. */
int dump_begin(struct dump *d, const struct definitions *from, struct encoder *out);
void dump_end(struct dump *d);

/* The threads as they are at from_ns. Returns 0 or the encoder's negative errno. */
int dump_threads(struct dump *d, const struct threads *threads, uint64_t from_ns);
/*
 * All events before end_ns that the view has not read yet. Returns 0, the encoder's or the view's
 * error.
 */
int dump_events(struct dump *d, struct event_view *v, uint64_t end_ns);
