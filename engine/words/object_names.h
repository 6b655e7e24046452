/* SPDX-License-Identifier: GPL-2.0-or-later */
/* object_names.h - what threads wait for, as it is written: "[tcp]", or "[tcp 10.0.0.5:5432]". */
#ifndef ENGINE_OBJECT_NAMES_H
#define ENGINE_OBJECT_NAMES_H

#include "base/text.h"
#include "timeline/timeline.h"

struct object_names;

/* NULL: out of memory. tl must outlive it. */
struct object_names *object_names_new(const struct timelines *tl);
void object_names_free(struct object_names *o);

/*
 * Appends an object (an id of the trace) as it was recorded, without brackets and not cleaned: its
 * class; with in_full its name, too, and the process at its other end. Nothing: it is not known.
 */
void object_names_put(struct object_names *o, uint32_t object, bool in_full, struct text_buf *b);

#endif /* ENGINE_OBJECT_NAMES_H */
