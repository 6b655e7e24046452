/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names.h - how threads, frames, stacks and links are written in a folded line (chain-semantics,
 * section 5): cleaned, in the right order, with the delimiters and annotations that the options ask
 * for. Each text is made once and has an id from then on; equal texts have equal ids.
 */
#pragma once

#include "base/options.h"
#include "base/pairs.h"
#include "base/text.h"
#include "link.h"

struct names;
struct object_names;

/* 0 or -ENOMEM, with *out NULL. What is given must outlive it. */
void names_new(struct names **out, const struct timelines *tl, const struct options *o);
void names_free(struct names *n);
/* What is known of the kernel stacks and objects of the same trace; owned by n. */
struct kernel_stacks *names_kernel_stacks(const struct names *n);
struct object_names *names_objects(const struct names *n);

/* A text by its id; it stays where it is until names_free(). */
const char *names_text(const struct names *n, uint32_t text);

/* ---- names: each function returns the id of a text ------------------ */

/* A text as it stands. */
uint32_t names_adopt(struct names *n, const char *text);
/*
 * A raw name, cleaned: ';' becomes ':', control characters and what is not UTF-8 '?', an empty
 * one "[unknown]"; "-" and "--", which are delimiters, "[-]" and "[--]". names_put() appends it to
 * a text_buf.
 */
void names_put(struct text_buf *b, const char *raw);
uint32_t names_clean(struct names *n, const char *raw);
/* A string of the trace, cleaned. */
uint32_t names_string(struct names *n, uint32_t string);
/* The name (a text) of a waker that occurs several times in a row: "NAME x 6". */
uint32_t names_times(struct names *n, uint32_t name, uint32_t times);
/* The name of a thread at a time. */
uint32_t names_thread(struct names *n, uint32_t thread, uint64_t at_ns);
/* What the control group of a path (string id) is called (base/group_name.h): "[unknown]" if not
 * known. */
uint32_t names_group_path(struct names *n, uint32_t path);
/*
 * A frame: its symbol; without one "[module]"; else "[unknown]". One of interpreted code has its
 * place in the source as well: "mirror (feed.py:31)", without a line "mirror (feed.py)", without a
 * name "[interpreted code]".
 */
uint32_t names_frame(struct names *n, uint32_t frame);
/* The same without the line in it: "mirror (feed.py)"; and without the place. */
uint32_t names_frame_without_line(struct names *n, uint32_t frame);
uint32_t names_function(struct names *n, uint32_t frame);
/* The same as it was recorded: text is raw, "" if nothing is known, and goes into brackets. */
struct raw_frame {
	const char *text;
	bool brackets;
};
struct raw_frame names_raw_frame(const struct trace *t, uint32_t frame);
/*
 * Appends the place of a frame in the source, " (FILE:LINE)", raw, if the line is known; of
 * interpreted code also " (FILE)".
 */
void names_put_source(const struct trace *t, uint32_t frame, bool with_line, struct text_buf *b);
/*
 * What a thread waits for (an object of the trace), as "[tcp]" or with in_full as
 * "[tcp 10.0.0.5:5432]". "": it is not known.
 */
uint32_t names_object(struct names *n, uint32_t object, bool in_full);
/* An off-CPU stack, root first: "user;[object];-;kernel". */
uint32_t names_off_cpu(struct names *n, uint32_t pair);
/* A waker's stack, leaf first: "kernel;-;user". */
uint32_t names_waker_stack(struct names *n, uint32_t pair, struct waker_context context);
/* As names_put_link(). */
uint32_t names_link(struct names *n, const struct link *l);

/* ---- the frames of a line, one by one -------------------------------------------------------- */

/* Takes a frame: a text (0: out of memory) and, for functions, the trace's frame, else NULL. */
struct frame_sink {
	void (*put)(void *arg, uint32_t text, const struct trace_frame *frame);
	void *arg;
	bool functions; /* texts of interpreted code are without the place, which frame has */
};

/* Where a thread slept, or was while it ran, root first. Nothing if -K or -U hide all frames. */
void names_put_own_stack(struct names *n, uint32_t pair, struct frame_sink to);
/* "NAME": of a thread (string id). */
void names_put_name(struct names *n, uint32_t name, struct frame_sink to);
/*
 * "--;waker's stack;WAKER", for an interrupt "--;stack"; before it "-;blocked" if that is shown. Of
 * a label (LINK_LABEL) its text alone.
 */
void names_put_link(struct names *n, const struct link *l, struct frame_sink to);
/*
 * "WAKER;waker's stack;WAKEE", root first, for --view=wakeup; without a link "end;WAKEE", end being
 * why there is none. wakee is a string id.
 */
void names_put_wakeup(struct names *n, const struct link *l, const char *end, uint32_t wakee,
		      struct frame_sink to);

/*
 * What was waited for that is shown with a wait's stack, ids of the trace: the object, and of
 * several the one that was ready; 0: none. There is none that is ready without an object.
 */
struct shown_objects {
	uint32_t object, ready;
};
struct shown_objects names_shown_objects(const struct names *n, uint32_t pair);
/* Whether stacks show objects in full. */
bool names_full_objects(const struct names *n);
/* What is shown of a stack: cut to the frames that count, and to what -K and -U leave. */
struct shown_stack {
	struct trace_stack kernel, user;
	bool cut;      /* the user's part shown has callers that were not found */
	bool unknown;  /* nothing was recorded, or nothing of it counts */
	bool is_short; /* see struct stack_pair */
};

/* kernel_frames: how many of the kernel's count, from the leaf; with_user: the user's count. */
struct shown_stack names_shown_stack(const struct names *n, uint32_t pair, uint32_t kernel_frames,
				     bool with_user);

/* ---- for reading ----------------------------------------------------------------------------- */

/*
 * A stack on one line, leaf first: "futex_wait < do_futex < ... | lock < work < main". Without
 * --verbose it leaves out the scheduler's and the entry code's functions, which are the same in
 * every stack. "< ?" at its end: there are callers that were not found.
 */
uint32_t names_stack(struct names *n, uint32_t pair, uint32_t kernel_frames, bool with_user);
