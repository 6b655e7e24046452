/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/*
 * Files that people give to the renderer although they are no folded stacks. Some of their lines
 * happen to end in a number, and would be drawn.
 */
#include <stddef.h>

struct foreign {
	const char *what; /* "a recording of perf" */
	const char *how;  /* the command that makes folded stacks of it, or what else to do */
};

/* What a file is that begins with [p, p+len), which is all or FOLDED_HEAD bytes at least; NULL: it
 * may be folded stacks. */
const struct foreign *foreign_find(const char *p, size_t len);
