/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_json.h - the writing of a report's data from within: what report_json.c (tables) and
 * report_wait.c (a wait with its chain in time) share. Nobody else includes it.
 */
#ifndef ENGINE_REPORT_JSON_H
#define ENGINE_REPORT_JSON_H

#include "report.h"
#include "report_chain.h"

/* Numbers from 0 in order of mention; (id, 0) is number + 1 in ids. */
struct report_numbers {
	struct pairs ids;
};

struct report_writer {
	struct report *r;
	FILE *out;
	struct report_numbers strings, threads; /* of text ids; of threads */
	size_t string_bytes;			/* what the strings take up */
	struct pairs stacks;			/* (stack pair, kernel frames) */
	uint32_t *stack_string;			/* by the pair's id */
	size_t cap_stack_string;
	struct text_buf buf;
	unsigned int n_listed; /* numbers in the list at hand */
	bool out_of_memory;
};

/* The next number of a list that has been begun with n_listed 0. */
void report_put_number(struct report_writer *w, int64_t v);
/* The numbers by which the data names a text (by its id in names), a thread, a stack in words. */
uint32_t report_string(struct report_writer *w, uint32_t text);
uint32_t report_thread(struct report_writer *w, uint32_t thread);
uint32_t report_stack(struct report_writer *w, uint32_t pair, uint32_t frames, bool user);

/* Writes a wait and its chain, for which chain is used. */
void report_put_wait(struct report_writer *w, struct report_chain *chain,
		     const struct report_pick *p);

#endif /* ENGINE_REPORT_JSON_H */
