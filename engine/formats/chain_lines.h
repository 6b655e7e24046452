/* SPDX-License-Identifier: GPL-2.0-or-later */
/* chain_lines.h - the chain of several waits for reading, a line for each link (chain_steps.h). */
#pragma once

#include <stdio.h>

#include "answer/chain_steps.h"

/* More lines are never made. */
#define CHAIN_LINES_MOST 16

/* Texts are of names, but for words. */
struct chain_line {
	uint32_t step;
	const struct chain_step *end; /* that it tells of; NULL: of none */
	const char *who, *at;
	char *words;	  /* for what it waited, or what it did */
	uint32_t waiting; /* so many at once, at most; 0: one, or not known */
	size_t indent;
	unsigned int share; /* of all that time, in percent */
};

struct chain_lines {
	const struct chain_steps *steps;
	const struct chain_step *at;
	const struct names *names;
	uint64_t total_ns;
	size_t most, n;
	struct chain_line line[CHAIN_LINES_MOST];
};

/* At most so many of them. To be freed. */
void chain_lines_make(struct chain_lines *l, const struct chain_steps *s, const struct names *names,
		      size_t most);
void chain_lines_free(struct chain_lines *l);
/* What the step e, an end, says: "ran", "waits for the disk". at: of chain_steps_list(). */
void chain_end_put(FILE *out, const struct chain_step *at, const struct names *names,
		   const struct chain_step *e);
/*
 * Writes at most `most` lines, none wider than o's screen, with its colours: who, where in its own
 * code, the part of all that time, and for what it waited or what it did. The branch with most time
 * is followed, and others that have a quarter of all.
 */
void chain_lines_put(FILE *out, const struct chain_steps *s, const struct names *names,
		     const struct options *o, size_t most);
