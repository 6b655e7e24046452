/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gzip.h - compresses output into a gzip stream, piece by piece (zlib). Its header has neither a
 * time nor a file name: equal input gives equal output.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

struct gzip;

/* Writes to out and does not close it. To be freed. */
struct gzip *gzip_new(FILE *out);
/* Write errors are left in ferror(out). */
void gzip_write(struct gzip *z, const void *p, size_t len);
/* Writes the rest and ends the stream. */
void gzip_finish(struct gzip *z);
void gzip_free(struct gzip *z);
