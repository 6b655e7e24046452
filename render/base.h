/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RENDER_BASE_H
#define RENDER_BASE_H
/* --base, as inferno has it: only stacks with one of some functions, from there on. */
#include <stdbool.h>

#include "folded.h"

#define BASE_MOST 16 /* functions */

struct base {
	const char *name[BASE_MOST];
	unsigned n; /* 0: all of each stack */
};

/* Cut the line's stack so that it begins with its first frame of these names. False: none. */
bool base_cut(const struct base *b, struct folded_line *line);

#endif
