// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf_zstd.h"
#include "common/xalloc.h"

#include <errno.h>
#include <stdlib.h>

#ifdef HAVE_ZSTD
#include <zstd.h>

/* perf compresses the records of one CPU's buffer at a time: mostly 512 KiB, up to what -m says. */
#define PIECE_MAX ((size_t)256 << 20)
/* Of that, no more than so many times what all pieces have so far, beyond the first pieces. */
#define RATIO_MAX 256u
#define FIRST_BYTES ((uint64_t)64 << 20)

struct perf_zstd {
	ZSTD_DStream *stream;
	uint8_t *rest; /* the beginning of a record that goes on in the next piece */
	size_t rest_len;
	uint64_t in, out;
};

int perf_zstd_new(struct perf_zstd **out)
{
	struct perf_zstd *z = xcalloc(1, sizeof(*z));

	*out = NULL;
	z->stream = ZSTD_createDStream();
	if (!z->stream) {
		free(z);
		return -ENOMEM;
	}
	*out = z;
	return 0;
}

void perf_zstd_free(struct perf_zstd *z)
{
	if (!z)
		return;
	ZSTD_freeDStream(z->stream);
	free(z->rest);
	free(z);
}

/* Appends the decompressed piece to out, which grows. */
static int decompress(struct perf_zstd *z, ZSTD_inBuffer *in, ZSTD_outBuffer *out)
{
	for (;;) {
		size_t before = in->pos + out->pos, result;

		result = ZSTD_decompressStream(z->stream, out, in);
		if (ZSTD_isError(result))
			return -EBADMSG;
		if (out->pos < out->size && in->pos == in->size)
			return 0;
		if (out->pos < out->size) {
			if (in->pos + out->pos == before)
				return -EBADMSG;
			continue;
		}
		if (out->size >= PIECE_MAX || z->out + out->pos > FIRST_BYTES + z->in * RATIO_MAX)
			return -EBADMSG;
		out->dst = xreallocarray(out->dst, out->size, 2);
		out->size *= 2;
	}
}

/* Bytes of the records that are whole. */
static size_t whole_records(const uint8_t *p, size_t len)
{
	size_t at = 0, size;

	while (len - at >= 8) {
		size = (size_t)(p[at + 6] | p[at + 7] << 8);
		/* A malformed one is for the reader to find. */
		if (size < 8)
			return len;
		if (size > len - at)
			break;
		at += size;
	}
	return at;
}

int perf_zstd_next(struct perf_zstd *z, struct perf_bytes piece, uint8_t **bytes, size_t *len)
{
	ZSTD_inBuffer in = { piece.p, perf_left(&piece), 0 };
	ZSTD_outBuffer out = { NULL, z->rest_len + (1u << 16), z->rest_len };
	int err;

	out.dst = xmalloc(out.size);
	if (z->rest_len)
		memcpy(out.dst, z->rest, z->rest_len);
	z->in += in.size;
	err = decompress(z, &in, &out);
	if (err) {
		free(out.dst);
		return err;
	}
	z->out += out.pos - z->rest_len;
	*len = whole_records(out.dst, out.pos);
	z->rest_len = out.pos - *len;
	z->rest = xreallocarray(z->rest, z->rest_len + 1, 1);
	memcpy(z->rest, (uint8_t *)out.dst + *len, z->rest_len);
	*bytes = out.dst;
	return 0;
}

#else

int perf_zstd_new(struct perf_zstd **out)
{
	*out = NULL;
	return -ENOTSUP;
}

void perf_zstd_free(struct perf_zstd *z)
{
	(void)z;
}

int perf_zstd_next(struct perf_zstd *z, struct perf_bytes piece, uint8_t **bytes, size_t *len)
{
	(void)z;
	(void)piece;
	*bytes = NULL;
	*len = 0;
	return -ENOTSUP;
}
#endif
