/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbols.h - names functions that had no name when they were recorded, by debug files with the
 * build IDs in the trace, on any machine; and makes frames of inlined functions. The names take the
 * place of the trace's own, so that nothing downstream knows when a function was named.
 */
#pragma once

#include "base/options.h"
#include "trace/trace.h"

struct symbols;

/* Whether the options ask for it. */
bool symbols_wanted(const struct options *o);
/* o must outlive it. */
void symbols_new(struct symbols **out, const struct options *o);
void symbols_free(struct symbols *s);

/*
 * Names the frames of t; nothing else may have been taken from t before. verbose: prints which file
 * named how many. Returns 0 or -ENOMEM.
 */
int symbols_apply(struct symbols *s, struct trace *t);

/* Counts over all traces so far: frames that had no name, and how many of them have one now. */
struct symbols_counts {
	uint64_t unnamed, named;
	uint64_t files;	  /* that named any frame */
	uint64_t inlined; /* frames that became several */
};
struct symbols_counts symbols_counts(const struct symbols *s);
/* What should be reported once, a line; NULL: nothing. */
const char *symbols_complaint(const struct symbols *s);
