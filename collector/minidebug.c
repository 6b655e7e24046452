// SPDX-License-Identifier: GPL-2.0-or-later
#include "minidebug.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

/* A browser's is some 10 MB, of 50. */
#define PACKED_MAX_BYTES (32u << 20)
#define UNPACKED_MAX_BYTES (96u << 20)

#ifdef HAVE_LZMA

#include <lzma.h>

/* xz -9 takes 65 MB to unpack; what asks for more is no file that a distribution made. */
#define MEMORY_MAX_BYTES (68u << 20)
#define FIRST_BYTES (256u << 10)

struct buffer {
	uint8_t *bytes;
	size_t len, cap;
};

static int grow(struct buffer *b)
{
	size_t cap = b->cap ? b->cap * 2 : FIRST_BYTES;
	uint8_t *bytes;

	if (b->cap == UNPACKED_MAX_BYTES)
		return -E2BIG;
	if (cap > UNPACKED_MAX_BYTES)
		cap = UNPACKED_MAX_BYTES;
	bytes = realloc(b->bytes, cap);
	if (!bytes)
		return -ENOMEM;
	b->bytes = bytes;
	b->cap = cap;
	return 0;
}

static int error_of(lzma_ret ret)
{
	switch (ret) {
	case LZMA_MEM_ERROR:
		return -ENOMEM;
	case LZMA_MEMLIMIT_ERROR:
		return -E2BIG;
	default:
		return -ENOEXEC; /* no xz file, damaged, cut off, or of a kind yet to be invented */
	}
}

/* The first stream of the len bytes at xz, into b. */
static int unpack(const void *xz, size_t len, struct buffer *b)
{
	lzma_stream z = LZMA_STREAM_INIT;
	lzma_ret ret = lzma_stream_decoder(&z, MEMORY_MAX_BYTES, 0);
	int err = 0;

	if (ret != LZMA_OK)
		return error_of(ret);
	z.next_in = xz;
	z.avail_in = len;
	while (!err && ret == LZMA_OK) {
		err = b->len == b->cap ? grow(b) : 0;
		if (err)
			break;
		z.next_out = b->bytes + b->len;
		z.avail_out = b->cap - b->len;
		ret = lzma_code(&z, LZMA_FINISH);
		b->len = b->cap - z.avail_out;
	}
	lzma_end(&z);
	if (!err && ret != LZMA_STREAM_END)
		err = error_of(ret);
	return err;
}

bool minidebug_is_supported(void)
{
	return true;
}

#else

struct buffer {
	uint8_t *bytes;
	size_t len;
};

static int unpack(const void *xz, size_t len, struct buffer *b)
{
	(void)xz;
	(void)len;
	(void)b;
	return -ENOTSUP;
}

bool minidebug_is_supported(void)
{
	return false;
}

#endif

int minidebug_open(struct elfsym **out, struct elfsym *e)
{
	struct buffer b = { 0 };
	const void *xz;
	size_t len;
	int err;

	*out = NULL;
	xz = elfsym_section(e, ".gnu_debugdata", PACKED_MAX_BYTES, &len);
	if (!xz)
		return -ENOENT;
	err = unpack(xz, len, &b);
	if (err) {
		free(b.bytes);
		return err;
	}
	return elfsym_take_memory(out, b.bytes, b.len);
}
