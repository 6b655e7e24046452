/* SPDX-License-Identifier: GPL-2.0-or-later */
/* known_function.h - tables of functions whose presence in a stack says something. */
#pragma once

#include <stddef.h>

#include "trace/trace.h"

/*
 * The first row of a table that is about a function in the stack: each row, row_bytes long, begins
 * with a const char *, which is how names of the function begin. n_rows if there is none.
 */
size_t known_function(const struct trace *t, struct trace_stack s, const void *table, size_t n_rows,
		      size_t row_bytes);
