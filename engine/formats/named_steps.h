/* SPDX-License-Identifier: GPL-2.0-or-later */
/* named_steps.h - the longest steps of a path, as a reader knows them. */
#pragma once

#include "answer/path_processes.h"
#include "words/names.h"

#define NAMED_STEPS_MOST 4

struct named_steps {
	struct {
		char *name;
		uint64_t ns;
	} at[NAMED_STEPS_MOST]; /* longest first, each at least a fiftieth of the path */
	size_t n;
};

/*
 * A step is named by the argument that others with the same program do not have, "tables.c (cc1)",
 * or by all arguments if there are no others: "sleep 0.3". Of steps that are shorter than a
 * fiftieth those with one program are one: "expr x 400". To be freed.
 */
void named_steps_find(struct named_steps *s, const struct path_processes *p,
		      const struct timelines *tl, struct names *names);
void named_steps_free(struct named_steps *s);
/* The name of one process as a step, by its first thread: to be freed. */
char *named_steps_one(uint32_t leader, const struct timelines *tl, struct names *names);
/* Writes "  longest steps: 1.896 s tables.c (cc1), ...", as many as fit; nothing if there is none.
 */
void named_steps_put(FILE *out, const struct named_steps *s, size_t columns);
