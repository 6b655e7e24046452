/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names.h - how threads, frames and stacks are written in a folded line (chain-semantics,
 * section 5): cleaned, in the right order, with delimiters and annotations as the options want
 * them. Each text is made once and known by an id from then on; equal texts have equal ids.
 */
#ifndef ENGINE_NAMES_H
#define ENGINE_NAMES_H

#include "context.h"
#include "options.h"
#include "texts.h"
#include "timeline.h"

struct names;

/* NULL: out of memory. What is given must outlive it. */
struct names *names_new(const struct timelines *tl, const struct options *o);
void names_free(struct names *n);

/* A text by its id; it stays where it is until the next call that makes one. */
const char *names_text(const struct names *n, uint32_t text);
/* One more than the highest id so far. */
uint32_t names_end(const struct names *n);

/*
 * The functions below return the id of a text, or 0 when out of memory.
 */
/* A text that other names have made. */
uint32_t names_adopt(struct names *n, const char *text);

/*
 * A raw name, cleaned: ';' becomes ':', control characters and what is not UTF-8 '?', an empty
 * one "[unknown]"; "-" and "--", which are delimiters, "[-]" and "[--]". names_put() adds it to a
 * text in the making.
 */
void names_put(struct text_buf *b, const char *raw);
uint32_t names_clean(struct names *n, const char *raw);
/* The name of a thread at a time. */
uint32_t names_thread(struct names *n, uint32_t thread, uint64_t at_ns);
/* A frame: its symbol; without one "[module]"; else "[unknown]". */
uint32_t names_frame(struct names *n, uint32_t frame);
/* "NAME;off-CPU stack" of w, a wait of thread. */
uint32_t names_head(struct names *n, uint32_t thread, const struct wait *w);
/*
 * "--;waker's stack;WAKER", of the link that ended w; for an interrupt "--;stack". With
 * --blocked-stacks, and unless first, w's own off-CPU stack stands before it.
 */
uint32_t names_link(struct names *n, const struct wait *w, struct context context, bool first);

#endif /* ENGINE_NAMES_H */
