/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_stream.h - the events of a cursor, decoded and merged ahead of their user, on a thread of
 * its own if there is a CPU for it. The events and their order are the cursor's.
 */
#pragma once

#include "trace.h"

struct event_stream;

/* The cursor of t must outlive the stream; until its end nothing else takes events from it. */
void event_stream_new(struct event_stream **out, const struct trace *t,
		      struct trace_cursor *cursor);
/* The next event, valid until the next call; NULL at the end. */
const struct event *event_stream_next(struct event_stream *s);
/* May be called before the last event. NULL is allowed. */
void event_stream_free(struct event_stream *s);
