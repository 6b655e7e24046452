/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frame_list.h - heads and links of chains as lists of frames, in the order of a folded line.
 * Frames and lists are interned: equal ones have one number, counted from 1 without gaps.
 */
#pragma once

#include "names.h"

struct frame_lists;

/* A function, a delimiter, a thread's name or an end. */
struct chain_frame {
	const char *text; /* as in folded lines; valid until a name is made */
	uint32_t module;  /* the trace's module id; 0: none known, or no function */
	const char *file; /* its source; NULL: not known, or not asked for */
	uint32_t line;	  /* in file; 0: not known */
};

/* by_line: places in the source are kept apart. names must outlive it. */
void frame_lists_new(struct frame_lists **out, struct names *names, bool by_line);
void frame_lists_free(struct frame_lists *f);

/* ---- each function returns the number of a list or a frame --------- */

/* "NAME;off-CPU stack": the name (string id) of a thread and where it slept. */
uint32_t frame_list_head(struct frame_lists *f, uint32_t name, uint32_t stack);
/* For a link that occurs several times in a row: its list with "NAME x 6" as the waker's name. */
uint32_t frame_list_times(struct frame_lists *f, uint32_t list, uint32_t times);
/* A list of one or two frames, cleaned texts (above may be NULL). */
uint32_t frame_list_texts(struct frame_lists *f, const char *raw, const char *above);
/* A list of what is put into the sink until it is taken. */
struct frame_sink frame_list_sink(struct frame_lists *f);
uint32_t frame_list_take(struct frame_lists *f);
/* Any text as a frame. */
uint32_t frame_of_text(struct frame_lists *f, const char *raw);

/* What the stack of a head waits for, as in its frame; a text of names; 0: it is not known. */
uint32_t frame_list_object(const struct frame_lists *f, uint32_t list);
/* The class of that, "[tcp]", or of several things of the one that was ready; "[no object]": none.
 */
const char *frame_list_class(const struct frame_lists *f, uint32_t list);

/* ---- reading them ---------------------------------------------------------------------------- */

/* How many frames a list has, and its i-th one, from 0. */
size_t frame_list_len(const struct frame_lists *f, uint32_t list);
uint32_t frame_list_at(const struct frame_lists *f, uint32_t list, size_t i);
struct chain_frame frame_at(const struct frame_lists *f, uint32_t frame);
/* Their order by content, which does not depend on how they are numbered: < 0, 0, > 0. */
int frames_compare(const struct frame_lists *f, uint32_t a, uint32_t b);
int frame_lists_compare(const struct frame_lists *f, uint32_t a, uint32_t b);
/* The order of the folded lines of two lists, root first; 0: they give the same line. */
int frame_lists_compare_lines(const struct frame_lists *f, uint32_t a, uint32_t b);
/* One more than the highest number of a list, of a frame. */
uint32_t frame_lists_end(const struct frame_lists *f);
uint32_t frames_end(const struct frame_lists *f);
