/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * folded.h - folded lines: the rows of one fold or of several, each as one line of text, "FRAME;
 * FRAME;... WEIGHT", lines of equal text added up.
 */
#pragma once

#include <stdio.h>

#include "base/text.h"
#include "fold.h"

/*
 * A line is a row of parts: its head, its links, its end. Many lines share a part. Samples are a
 * line that has one part more than the chain whose time they share, and no time of its own until
 * the lines are written.
 */
struct folded_line {
	uint64_t ns;
	uint64_t samples; /* 0: it is no such line */
	uint32_t n;	  /* parts */
	bool ran;	  /* its end is [running] or [on-CPU]: it may have samples */
	uint32_t owner;	  /* part + 1: the process of the thread at its head; 0: not known */
	size_t first;	  /* in folded.parts */
};

/* The text of a part, which begins with ';'. */
struct folded_part {
	size_t at; /* in folded.texts */
	size_t len;
};

/*
 * A line whose time was that of another machine (CHAIN_ROW_REMOTE), as far as it is known here:
 * what follows is that machine's.
 */
struct folded_remote {
	struct fold_remote part;
	size_t first; /* as in a line */
	uint32_t n;
	uint32_t host; /* the other machine: see remote_answers.h */
	uint32_t hops; /* how many machines it has gone through */
};

/* A chain goes on at this many other machines at most; it then ends with the network. */
#define FOLDED_HOPS_MAX 8u

/* All zero is empty, ready for use. */
struct folded {
	struct text_buf texts;
	struct folded_part *of; /* by part; several parts may have the same text */
	size_t n_of, cap_of;
	uint32_t *parts; /* of the lines */
	size_t n_parts, cap_parts;
	struct folded_line *lines;
	size_t n, cap;
	struct folded_remote *remote;
	size_t n_remote, cap_remote;
	bool sampled; /* there are lines of samples */
	bool owned;   /* of some lines the owner is known */
	struct text_buf notes;
};

/*
 * Adds rows, below a frame `label` (a raw name) unless that is NULL; root: below the class of what
 * was waited for, or the control group or process of who waits. ROOT_NONE: what a fold with
 * ROOT_BESIDE knows of processes is written below the lines, see process_lines.h.
 */
void folded_add(struct folded *l, struct chain_rows *rows, const char *label,
		enum options_root root);
/*
 * Adds the lines of all that is in l->remote, and removes it from there: hosts are the machines,
 * by remote.host, with names as they are shown.
 */
void folded_add_remote(struct folded *l, const struct joined_host *hosts, uint32_t n_hosts,
		       const struct options *o);
/*
 * Adds a note on the trace, unless it is there already. It is written below all others as a line
 * without time, "[note] TEXT 0", which renderers of folded lines do not draw; ours shows the text.
 */
void folded_note(struct folded *l, const char *text);
/*
 * Writes the lines sorted by their bytes, in the options' unit; with --top only the N widest, and
 * CHAIN_OTHER for the rest. The time of a chain that ends running is split over its samples in
 * proportion, in whole ns (by largest remainder, among equals by the lines' order); without samples
 * it is one line. In microseconds each weight is rounded down or up such that the weights
 * add up to the rounded sum of all lines (the largest remainders are rounded up); lines with weight
 * 0 are left out. Write errors are left in ferror(out).
 */
void folded_write(struct folded *l, const struct options *o, FILE *out);
void folded_free(struct folded *l);

/* Adds to a text the lines of one fold; of one of its spans, see fold_new_in_spans(). */
void fold_put(struct text_buf *to, struct fold *f, const struct options *o);
void fold_put_span(struct text_buf *to, struct fold *f, size_t span, const struct options *o);
