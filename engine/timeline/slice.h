/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slice.h - the timelines of a slice of the trace's time, built without those of the time before,
 * and put behind these afterwards.
 *
 * A slice takes each thread and CPU to be, at its beginning, in the one state in which the first
 * event about it is a regular one: who is switched out has been running there, who is woken has
 * been asleep, who is switched in has been ready. What began before the slice has placeholders.
 * slice_join() compares this with the timelines up to the slice, and fills in what is missing. If
 * anything was otherwise, or an event was not a regular one, the slice is odd: it is left out, and
 * its events are taken one by one, as all are where there is one CPU. So the result is the same.
 */
#pragma once

#include "timeline_private.h"

struct slice;

/* whole: the builder of all timelines, after table_snapshot(). */
void slice_new(struct slice **out, const struct builder *whole, size_t most_events);
/* Takes the events from from_ns up to to_ns, without it. Anything of before is forgotten. */
void slice_build(struct slice *s, uint64_t from_ns, uint64_t to_ns);
/*
 * Adds the slice to the timelines, which are complete up to its beginning. False: it is odd, and
 * nothing was added.
 */
bool slice_join(struct slice *s, struct builder *b);
/* Whether events are missing: what follows is better taken one by one, too. */
bool slice_is_lossy(const struct slice *s);
void slice_free(struct slice *s);
