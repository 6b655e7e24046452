/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_stream.h - the events of a cursor, decoded and merged ahead of their user, on a thread of
 * its own if there is a CPU for it. The events and their order are the cursor's.
 */
#ifndef ENGINE_EVENT_STREAM_H
#define ENGINE_EVENT_STREAM_H

#include "base/pairs.h"
#include "trace.h"

struct event_stream;

struct event_stream *event_stream_new(const struct trace *t); /* NULL: out of memory */
/* The next event, valid until the next call; NULL at the end. */
const struct event *event_stream_next(struct event_stream *s);
/* Why it ended: as trace_cursor_error(). */
int event_stream_error(const struct event_stream *s);
/* As trace_cursor_thread_pair(). */
uint32_t event_stream_thread_pair(const struct event_stream *s, size_t i);
/* Hands over all pairs of stacks, by the events' pair ids. Call after the last event. */
struct pairs event_stream_take_pairs(struct event_stream *s);
/* May be called before the last event. NULL is allowed. */
void event_stream_free(struct event_stream *s);

#endif /* ENGINE_EVENT_STREAM_H */
