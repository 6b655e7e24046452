/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RENDER_SPLIT_H
#define RENDER_SPLIT_H
/*
 * Splits the text of a stack into name ids. Successive stacks share most of their frames, so the
 * splitter keeps the last stack and reads only what follows the shared part.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "name_table.h"

struct split {
	uint32_t *id;	 /* name ids of the last stack, root first */
	uint32_t depth;	 /* number of frames in .id */
	uint32_t shared; /* leading frames that equal those of the stack before it */
	size_t *end;	 /* by frame: offset of its end in .last */
	char *last;	 /* text of the last stack */
	size_t last_len, last_cap;
	uint32_t depth_cap;
	bool chain; /* a frame `--` was seen */
};

/*
 * Split the stack, frames joined by `;`, into s->id[0 .. s->depth). Empty names at the end are
 * dropped, others are kept. A zeroed struct split is a new one; all its calls must pass the same
 * names. 0, -ENOMEM or -EOVERFLOW.
 */
int split_stack(struct split *s, struct name_table *names, const char *stack, size_t len);

void split_free(struct split *s);

#endif
