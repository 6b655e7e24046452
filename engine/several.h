/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * several.h - several traces in one output: the results of a format, written for one trace after
 * the other, put together. Folded lines are added up, each below a frame for its trace if that is
 * asked for; objects say which trace they are of.
 */
#ifndef ENGINE_SEVERAL_H
#define ENGINE_SEVERAL_H

#include <stdio.h>

#include "format.h"

struct several;

/* NULL: out of memory. */
struct several *several_new(const struct options *o);
void several_free(struct several *s);

/*
 * Adds the folded lines of a trace; name is its path, for reading. Returns 0 or a negative errno.
 * What --root says goes before each line, as a frame; a trace that does not say its host is called
 * by its name.
 */
int several_add(struct several *s, const struct format_input *in, const char *name);
/* Writes the lines of all, added up. 0 or -ENOMEM; write errors are left in ferror(out). */
int several_write(const struct several *s, FILE *out);

/*
 * Writes one trace's part of what is not added up: below a heading, or each object with a key. The
 * first part has no empty line before it. 0 or a negative errno; write errors as above.
 */
int several_part(const struct format_input *in, const char *name, bool first, FILE *out);

#endif /* ENGINE_SEVERAL_H */
