// SPDX-License-Identifier: GPL-2.0-or-later
#include "unpack.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>
#ifdef HAVE_LZMA
#include <lzma.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#define CHUNK_BYTES (128u << 10)
/* Files that need more to be decompressed are refused. */
#define MEMORY_MAX (1ull << 30)
#define ZSTD_WINDOW_LOG_MAX 30
/* No more than so many times what was read so far, beyond the first bytes: text has a tenth of it.
 */
#define RATIO_MAX 256u
#define FIRST_BYTES ((uint64_t)64 << 20)

struct unpack {
	pthread_t thread;
	int (*decompress)(struct unpack *u);
	const uint8_t *head; /* bytes that have been read already; then fd */
	size_t head_len;
	int fd, to, from;
	int err;
	uint64_t n_in, n_out;
	uint8_t in[CHUNK_BYTES], out[CHUNK_BYTES];
};

/* The next compressed bytes. Returns how many; 0: there are no more; a negative errno. */
static ssize_t next_bytes(struct unpack *u, const uint8_t **p)
{
	ssize_t n;

	if (u->head_len) {
		*p = u->head;
		n = (ssize_t)u->head_len;
		u->head_len = 0;
		u->n_in += (uint64_t)n;
		return n;
	}
	*p = u->in;
	do {
		n = read(u->fd, u->in, sizeof(u->in));
	} while (n < 0 && errno == EINTR);
	u->n_in += n > 0 ? (uint64_t)n : 0;
	return n < 0 ? -errno : n;
}

/* Hands on the first n bytes of u->out. -EPIPE: nobody wants more; -EBADMSG: it grows too much. */
static int put(struct unpack *u, size_t n)
{
	u->n_out += n;
	if (u->n_out > FIRST_BYTES && u->n_out / RATIO_MAX > u->n_in)
		return -EBADMSG;
	for (size_t at = 0; at < n;) {
		ssize_t sent = send(u->to, u->out + at, n - at, MSG_NOSIGNAL);

		if (sent < 0 && errno != EINTR)
			return -errno;
		if (sent > 0)
			at += (size_t)sent;
	}
	return 0;
}

static int gunzip(struct unpack *u)
{
	z_stream z = { .avail_in = 0 };
	const uint8_t *p;
	bool ended = true; /* a member of the file */
	ssize_t n = 0;
	int err = 0, ret;

	if (inflateInit2(&z, 15 + 16) != Z_OK)
		return -ENOMEM;
	while (!err && (n = next_bytes(u, &p)) > 0) {
		z.next_in = (Bytef *)p;
		z.avail_in = (uInt)n;
		do {
			if (ended && !z.avail_in)
				break;
			if (ended && inflateReset(&z) != Z_OK)
				err = -EBADMSG;
			z.next_out = u->out;
			z.avail_out = sizeof(u->out);
			ret = err ? Z_DATA_ERROR : inflate(&z, Z_NO_FLUSH);
			ended = ret == Z_STREAM_END;
			if (ret != Z_OK && ret != Z_STREAM_END && ret != Z_BUF_ERROR)
				err = -EBADMSG;
			if (!err)
				err = put(u, sizeof(u->out) - z.avail_out);
		} while (!err && (z.avail_in || !z.avail_out));
	}
	inflateEnd(&z);
	return err ? err : n < 0 ? (int)n : ended ? 0 : -EBADMSG;
}

#ifdef HAVE_LZMA
static int unxz(struct unpack *u)
{
	lzma_stream z = LZMA_STREAM_INIT;
	lzma_ret ret = lzma_stream_decoder(&z, MEMORY_MAX, LZMA_CONCATENATED);
	const uint8_t *p;
	ssize_t n = 1;
	int err = ret == LZMA_OK ? 0 : -ENOMEM;

	while (!err && ret != LZMA_STREAM_END) {
		if (!z.avail_in && n > 0) {
			n = next_bytes(u, &p);
			if (n < 0)
				break;
			z.next_in = p;
			z.avail_in = (size_t)n;
		}
		z.next_out = u->out;
		z.avail_out = sizeof(u->out);
		ret = lzma_code(&z, n ? LZMA_RUN : LZMA_FINISH);
		if (ret != LZMA_OK && ret != LZMA_STREAM_END)
			err = -EBADMSG;
		else
			err = put(u, sizeof(u->out) - z.avail_out);
	}
	lzma_end(&z);
	return err ? err : n < 0 ? (int)n : 0;
}
#else
#define unxz NULL
#endif

#ifdef HAVE_ZSTD
static int unzstd(struct unpack *u)
{
	ZSTD_DStream *z = ZSTD_createDStream();
	const uint8_t *p;
	size_t left = 0; /* 0: a frame of the file has ended */
	ssize_t n = 0;
	int err = z ? 0 : -ENOMEM;

	if (z)
		(void)ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG_MAX);
	while (!err && (n = next_bytes(u, &p)) > 0) {
		ZSTD_inBuffer in = { p, (size_t)n, 0 };
		ZSTD_outBuffer out;

		do {
			out = (ZSTD_outBuffer) { u->out, sizeof(u->out), 0 };
			left = ZSTD_decompressStream(z, &out, &in);
			err = ZSTD_isError(left) ? -EBADMSG : put(u, out.pos);
		} while (!err && (in.pos < in.size || out.pos == out.size));
	}
	ZSTD_freeDStream(z);
	return err ? err : n < 0 ? (int)n : left ? -EBADMSG : 0;
}
#else
#define unzstd NULL
#endif

/* RFC 1952; the xz file format, 2.1.1.1; RFC 8878, 3.1.1. */
static const struct {
	const char *begins;
	size_t len;
	int (*decompress)(struct unpack *u);
} kinds[] = {
	{ "\037\213\b", 3, gunzip },
	{ "\3757zXZ\0", 6, unxz },
	{ "\050\265\057\375", 4, unzstd },
};

static int (*decompressor(const void *p, size_t len))(struct unpack *u)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (len >= kinds[i].len && !memcmp(p, kinds[i].begins, kinds[i].len))
			return kinds[i].decompress;
	return NULL;
}

bool unpack_is(const void *p, size_t len)
{
	return decompressor(p, len) != NULL;
}

static void *run(void *arg)
{
	struct unpack *u = arg;

	u->err = u->decompress(u);
	close(u->to);
	return NULL;
}

int unpack_begin(struct unpack **out, const void *head, size_t len, int fd, int *from)
{
	struct unpack *u = calloc(1, sizeof(*u));
	int sockets[2], err;

	*out = NULL;
	if (!u)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets)) {
		err = -errno;
		free(u);
		return err;
	}
	u->decompress = decompressor(head, len);
	u->head = head;
	u->head_len = len;
	u->fd = fd;
	u->from = sockets[0];
	u->to = sockets[1];
	err = pthread_create(&u->thread, NULL, run, u);
	if (err) {
		close(u->from);
		close(u->to);
		free(u);
		return -err;
	}
	*from = u->from;
	*out = u;
	return 0;
}

int unpack_end(struct unpack *u)
{
	int err;

	if (!u)
		return 0;
	close(u->from);
	pthread_join(u->thread, NULL);
	/* Who stopped reading knows enough. */
	err = u->err == -EPIPE || u->err == -ECONNRESET ? 0 : u->err;
	free(u);
	return err;
}
