/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chain_table.h - the chosen waits summed up as folded lines are (fold.h), but thread by thread,
 * and kept as frames rather than as text: for formats that have a place for what a line of text has
 * not, whose waits they are, how many, and which file a function is in.
 *
 * The frames of a row, joined by ';', are its folded line, and rows of one line sum up to its time.
 */
#ifndef ENGINE_CHAIN_TABLE_H
#define ENGINE_CHAIN_TABLE_H

#include "fold.h"
#include "frame_list.h"

/* A chain that has no end: see chain_row.waits. */
#define CHAIN_NO_END CHAIN_ENDS

struct chain_row {
	uint64_t ns;
	/*
	 * Each wait is counted once, in the row of whoever woke it, not in those of the chain
	 * beyond: where the waker is a thread that is a row without an end and without time, so
	 * that counts, too, add up along the stacks.
	 */
	uint64_t waits;
	uint32_t group; /* whose waits: see chain_table_group() */
	uint32_t node;	/* its own: where in the tree of chains */
	uint32_t links; /* how many wakers there are in the chain */
	uint32_t end;	/* enum chain_end, or CHAIN_NO_END */
};

/* Threads of one process, while they had one name. */
struct chain_group {
	uint32_t name;	  /* string id: the threads' */
	uint32_t pid;	  /* 0: not known */
	uint32_t process; /* string id: the process's name; 0: not known */
};

struct chain_table;

/*
 * Sums up what the options choose, only the --top N rows of most time if that was asked for. 0 or
 * -ENOMEM. To be freed with chain_table_free(). tl and o must outlive it.
 */
int chain_table_new(struct chain_table **out, const struct timelines *tl, const struct options *o);
void chain_table_free(struct chain_table *t);

/* Group by group; *n: how many. */
const struct chain_row *chain_table_rows(const struct chain_table *t, size_t *n);
struct chain_group chain_table_group(const struct chain_table *t, uint32_t group);
/* All that was chosen, also what --top left out. */
const struct chain_summary *chain_table_summary(const struct chain_table *t);
/* The names that it uses; they are its own. */
struct names *chain_table_names(struct chain_table *t);
/*
 * The frames of a row by their numbers, leaf first; *n: how many, 0 when out of memory. They stand
 * until the next call.
 */
const uint32_t *chain_table_chain(struct chain_table *t, const struct chain_row *row, size_t *n);
/* Frames are numbered from 1 without gaps: two that differ in text or module differ in number. */
uint32_t chain_table_frames_end(const struct chain_table *t);
struct chain_frame chain_table_frame(const struct chain_table *t, uint32_t frame);

#endif /* ENGINE_CHAIN_TABLE_H */
