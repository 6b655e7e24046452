/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_stream.h - the events of a cursor, decoded and merged ahead of whoever takes them, on a
 * thread of its own where there is a CPU for it. The events and their order are the cursor's.
 */
#ifndef ENGINE_EVENT_STREAM_H
#define ENGINE_EVENT_STREAM_H

#include "trace.h"

struct event_stream;

struct event_stream *event_stream_new(const struct trace *t); /* NULL: out of memory */
/* The next event, which stays where it is until the next call; NULL at the end. */
const struct event *event_stream_next(struct event_stream *s);
/* Why it ended: 0, the trace's end; -ENOMEM. */
int event_stream_error(const struct event_stream *s);
/* Also before the end. NULL is fine. */
void event_stream_free(struct event_stream *s);

#endif /* ENGINE_EVENT_STREAM_H */
