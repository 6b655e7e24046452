/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RENDER_STRIP_H
#define RENDER_STRIP_H
/*
 * --strip-hex: addresses differ from run to run, which keeps stacks apart that are the same.
 */
#include <stddef.h>

#include "folded.h"

/* Zeroed: a new one. */
struct strip {
	char *text; /* of the line at hand */
	size_t cap;
};

/* Every 0x1234 in the line's stack made 0x..., in a copy that holds until the next call. 0 or
 * -ENOMEM. */
int strip_hex(struct strip *s, struct folded_line *line);

void strip_free(struct strip *s);

#endif
