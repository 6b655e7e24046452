/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gzip.h - compresses what is written into a gzip stream, piece by piece (zlib). Neither a time nor
 * a file name is in its header: the same bytes in, the same bytes out.
 */
#ifndef ENGINE_GZIP_H
#define ENGINE_GZIP_H

#include <stddef.h>
#include <stdio.h>

struct gzip;

/* Writes to out, which is not closed. NULL: out of memory. */
struct gzip *gzip_new(FILE *out);
/* Write errors are left in ferror(out). */
void gzip_write(struct gzip *z, const void *p, size_t len);
/* Writes the rest and ends the stream. */
void gzip_finish(struct gzip *z);
void gzip_free(struct gzip *z);

#endif /* ENGINE_GZIP_H */
