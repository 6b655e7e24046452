// SPDX-License-Identifier: GPL-2.0-or-later
#include "gzip.h"
#include "common/xalloc.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#define GZIP_WINDOW (15 + 16) /* the largest window, in a gzip stream (zlib.h) */
#define GZIP_MEMORY 8

struct gzip {
	z_stream z;
	FILE *out;
	unsigned char buf[1 << 16];
};

struct gzip *gzip_new(FILE *out)
{
	struct gzip *g = xcalloc(1, sizeof(*g));

	g->out = out;
	if (deflateInit2(&g->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		out_of_memory();
	return g;
}

/* Writes what deflate() returns until the input is used up; with Z_FINISH until the stream ends. */
static void deflate_all(struct gzip *g, int flush)
{
	int ret;

	do {
		g->z.next_out = g->buf;
		g->z.avail_out = sizeof(g->buf);
		ret = deflate(&g->z, flush);
		fwrite(g->buf, 1, sizeof(g->buf) - g->z.avail_out, g->out);
	} while (!g->z.avail_out && ret != Z_STREAM_END);
}

void gzip_write(struct gzip *g, const void *p, size_t len)
{
	while (len) {
		uInt n = len < UINT_MAX ? (uInt)len : UINT_MAX;

		g->z.next_in = (Bytef *)(uintptr_t)p; /* zlib reads it only */
		g->z.avail_in = n;
		deflate_all(g, Z_NO_FLUSH);
		p = (const char *)p + n;
		len -= n;
	}
}

void gzip_finish(struct gzip *g)
{
	deflate_all(g, Z_FINISH);
}

void gzip_free(struct gzip *g)
{
	deflateEnd(&g->z);
	free(g);
}
