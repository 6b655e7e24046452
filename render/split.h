/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RENDER_SPLIT_H
#define RENDER_SPLIT_H
/*
 * A stack's text into name numbers. Most of a stack is what the stack before it had too: the
 * splitter remembers that one, and looks only at what comes after the part they share.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "names.h"

struct split {
	uint32_t *id;	 /* the last stack's names, from the root */
	uint32_t depth;	 /* how many */
	uint32_t shared; /* how many of them are those of the stack before it */
	size_t *end;	 /* by frame: where it ends in .last */
	char *last;
	size_t last_len, last_cap;
	uint32_t depth_cap;
	bool chain; /* a frame `--` was seen */
};

/*
 * Split the stack, frames joined by `;`, into s->id[0 .. s->depth). Names between are taken as
 * they are, trailing empty ones dropped. 0, -ENOMEM or -EOVERFLOW. A zeroed struct split is a
 * new one; always give it the same names.
 */
int split_stack(struct split *s, struct names *names, const char *stack, size_t len);

void split_free(struct split *s);

#endif
