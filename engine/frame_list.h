/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frame_list.h - the parts of a chain, its head and its links, as lists of frames in the order of
 * folded lines. What names.h writes as text is kept apart here, each function with the file that it
 * is in. Frames and lists are interned: equal ones have one number, counted from 1 without gaps.
 */
#ifndef ENGINE_FRAME_LIST_H
#define ENGINE_FRAME_LIST_H

#include "names.h"

struct frame_lists;

/* A function, a delimiter, a thread's name or an end. */
struct chain_frame {
	const char *text; /* as in folded lines; it stands until a name is made */
	uint32_t module;  /* the trace's module id; 0: none known, or no function */
};

/* NULL: out of memory. What is given must outlive it. */
struct frame_lists *frame_lists_new(const struct timelines *tl, const struct options *o,
				    struct names *names);
void frame_lists_free(struct frame_lists *f);

/*
 * The functions below return the number of a list or a frame, or 0 when out of memory.
 */

/* The name (string id) of a thread, and its off-CPU stack (pair): as names_head(). */
uint32_t frame_list_head(struct frame_lists *f, uint32_t name, uint32_t stack);
/* A link: as names_link(). */
uint32_t frame_list_link(struct frame_lists *f, const struct wait *w, struct context context,
			 bool first);
/* Any text as a frame. */
uint32_t frame_of_text(struct frame_lists *f, const char *raw);

/* Goes through a list from its last frame: returns all but the last one, 0 if that is none. */
uint32_t frame_list_last(const struct frame_lists *f, uint32_t list, uint32_t *frame);
struct chain_frame frame_at(const struct frame_lists *f, uint32_t frame);
uint32_t frames_end(const struct frame_lists *f); /* one more than the highest frame number */

#endif /* ENGINE_FRAME_LIST_H */
