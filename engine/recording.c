// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "recording.h"
#include "chainlog.h"
#include "go/go_import.h"
#include "import/perf_data.h"
#include "common/xalloc.h"
#include "parts.h"

/* ---- compressed data ------------------------------------------------------------------------- */

/*
 * What gzip, xz or zstd has compressed, as a stream: a thread decompresses into a socket
 * as fast as somebody reads, so that it takes no more memory than the decompressor does.
 */

/* Bytes of the beginning that unpack_is() looks at. */
#define UNPACK_SNIFF 6u

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

/* True if what begins with these bytes is compressed so that this program can read it. */
static bool unpack_is(const void *p, size_t len)
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

/*
 * Begins to decompress what starts with [head, head + len), which must stay valid, and goes on in
 * fd, which stays the caller's. *from is where to read the result, to the end. Returns 0 or a
 * negative errno.
 */
static int unpack_begin(struct unpack **out, const void *head, size_t len, int fd, int *from)
{
	struct unpack *u = xcalloc(1, sizeof(*u));
	int sockets[2], err;

	*out = NULL;
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

/*
 * Ends it, closes *from. Returns 0; -EBADMSG if it was damaged or cut off; or another negative
 * errno. NULL is allowed.
 */
static int unpack_end(struct unpack *u)
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

/* ---- opening ----------------------------------------------------------------------------------
 */

/* Give up on a stream without a sync word in its first 4 MiB: it may have no end. */
#define SNIFF_BYTES (4u << 20)

static bool has_sync(const uint8_t *p, size_t len)
{
	uint8_t sync[4];

	chainlog_put_le32(sync, CHAINLOG_SYNC);
	return memmem(p, len, sync, sizeof(sync)) != NULL;
}

/* A recording that is being opened. */
struct opening {
	struct trace_bytes bytes;
	struct import_report *report;
	const char *sample_event;
};

/* Imports text as it comes: it begins with [p, p + len) and goes on in fd. */
static int import_text(struct opening *o, const uint8_t *p, size_t len, int fd)
{
	const struct import_input s = { p, len, fd, o->sample_event, 0 };
	int err = import_stream(&s, &o->bytes, o->report);

	if (!err && import_damaged(o->report)) {
		o->bytes.damage = "lines that perf script does not write";
		o->bytes.damage_offset = o->report->bad_offset;
	}
	return err;
}

/* What is imported as a whole. */
static const struct importer {
	bool (*is)(const void *p, size_t len);
	int (*import)(const struct import_input *s, struct trace_bytes *out,
		      struct import_report *report);
	const char *damage;
} importers[] = {
#if HAVE_go
	{ go_is_trace, go_import, "a trace of Go that is cut off or damaged" },
#endif
	{ perf_file_is, perf_data_import, "a data file of perf that is cut off or damaged" },
};

static const struct importer *importer_of(const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < sizeof(importers) / sizeof(importers[0]); i++)
		if (importers[i].is(p, len))
			return &importers[i];
	return NULL;
}

/* Imports the bytes, if they are of that kind. fd: where they come from. */
static int import_whole(struct opening *o, int fd)
{
	const struct importer *i = importer_of(o->bytes.base, o->bytes.len);
	struct import_input s = { o->bytes.base, o->bytes.len, -1, o->sample_event, 0 };
	struct trace_bytes out = { .len = 0 };
	struct stat st;
	int err;

	if (!i)
		return 0;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		s.written_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	err = i->import(&s, &out, o->report);
	if (!err && import_damaged(o->report)) {
		out.damage = i->damage;
		out.damage_offset = o->report->bad_offset;
	}
	trace_bytes_free(&o->bytes);
	o->bytes = out;
	return err;
}

/* Imports a file if it is text; -EBADMSG: it is not, and may be a trace. */
static int import_file(struct opening *o, int fd)
{
	uint8_t head[IMPORT_SNIFF];
	ssize_t n = pread(fd, head, sizeof(head), 0);
	int err;

	if (n <= 0 || !import_is_text(head, (size_t)n))
		return -EBADMSG;
	err = import_text(o, NULL, 0, fd);
	if (err == -EBADMSG) {
		o->report->source = IMPORT_FROM_NOTHING;
		if (lseek(fd, 0, SEEK_SET) < 0)
			err = -errno;
	}
	return err;
}

static int read_all(struct opening *o, int fd, bool may_unpack);

/* Reads what is compressed: it begins with [p, p + len) and goes on in fd. */
static int read_packed(struct opening *o, const uint8_t *p, size_t len, int fd)
{
	struct unpack *u;
	int from = -1, ended, err = unpack_begin(&u, p, len, fd, &from);

	if (err)
		return err;
	err = read_all(o, from, false);
	ended = unpack_end(u);
	if (!err && ended) {
		o->bytes.damage = "compressed data that is cut off or damaged";
		o->bytes.damage_offset = o->bytes.len;
		o->report->packed_damaged = true;
	}
	return err;
}

/* Reads fd to its end into growing memory, or imports it if it begins like text. may_unpack: it may
 * be compressed. */
static int read_all(struct opening *o, int fd, bool may_unpack)
{
	size_t cap = 1u << 20, len = 0;
	uint8_t *p = xmalloc(cap);
	bool sniffed = false, looked = false;
	ssize_t got;
	int err;

	for (;;) {
		if (len == cap) {
			p = xreallocarray(p, cap, 2);
			cap *= 2;
		}
		got = read(fd, p + len, cap - len);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			err = -errno;
			goto fail;
		}
		len += (size_t)got;
		if (!looked && (len >= IMPORT_SNIFF || !got)) {
			looked = true;
			if (may_unpack && unpack_is(p, len)) {
				err = read_packed(o, p, len, fd);
				free(p);
				return err;
			}
			if (import_is_text(p, len)) {
				err = import_text(o, p, len, fd);
				free(p);
				return err;
			}
		}
		if (!got)
			break;
		if (!sniffed && len >= SNIFF_BYTES) {
			err = -EBADMSG;
			if (!importer_of(p, len) && !has_sync(p, len))
				goto fail;
			sniffed = true;
		}
	}
	o->bytes = (struct trace_bytes) { .heap = p, .base = p, .len = len };
	return 0;
fail:
	free(p);
	return err;
}

static int get_bytes(struct opening *o, int fd)
{
	uint8_t head[UNPACK_SNIFF];
	struct stat st;
	void *map;
	ssize_t n;
	int err;

	if (fstat(fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	/* Map a file only if it is read from its start: standard input may be at another offset. */
	n = S_ISREG(st.st_mode) && !lseek(fd, 0, SEEK_CUR) ? pread(fd, head, sizeof(head), 0) : 0;
	if (n > 0 && !unpack_is(head, (size_t)n)) {
		err = import_file(o, fd);
		if (err != -EBADMSG)
			return err;
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (map != MAP_FAILED) {
			o->bytes = (struct trace_bytes) { .map = map,
							  .base = map,
							  .len = (size_t)st.st_size };
			return 0;
		}
	}
	return read_all(o, fd, true);
}

int recording_open(struct recording *r, const char *path, bool checked, const char *sample_event)
{
	bool is_stdin = !strcmp(path, "-");
	struct opening o = { .sample_event = sample_event };
	int fd, err;

	*r = (struct recording) { .import = xcalloc(1, sizeof(*r->import)) };
	o.report = r->import;
	fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	err = fd < 0 ? -errno : get_bytes(&o, fd);
	if (!err)
		err = import_whole(&o, fd);
	if (!is_stdin && fd >= 0)
		close(fd);
	if (!err)
		err = trace_open_bytes(&r->trace, &o.bytes, checked);
	if (err || r->import->source == IMPORT_FROM_NOTHING) {
		free(r->import);
		r->import = NULL;
	}
	return err;
}

void recording_close(struct recording *r)
{
	trace_close(r->trace);
	free(r->import);
	*r = (struct recording) { .trace = NULL };
}

/* ---- what is no recording ------------------------------------------------------------------- */

#define HEAD_BYTES 4096

static const struct known {
	const char
		*begins; /* an extended regular expression for the first line that is not empty */
	const char *what;
} known[] = {
	{ "^(<\\?xml|<svg)", "a picture: open it in a browser" },
	{ "^(<!DOCTYPE html|<html)", "a page: open it in a browser" },
	{ "^\177ELF", "a program: record it with chaincap -- COMMAND" },
	{ "^(\037\213|\3757zXZ|[(]\265\057\375)", "compressed, and no recording is in it" },
	{ "^(\\{|\\[[^p])", "JSON, not a trace" },
	{ "^\027\bDtracing", "a recording of trace-cmd: trace-cmd report -i FILE | chainwalk -" },
#if !HAVE_go
	{ "^go 1\\.[0-9]+ trace",
	  "a trace of Go, and this chainwalk was built without go: see --version" },
#endif
	{ "^BZh[1-9]", "compressed: pipe it through bzcat, and give - as the trace" },
	{ "^(\377\376|\376\377)", "text in UTF-16: pipe it through iconv -f UTF-16 -t UTF-8" },
	{ "^ *Performance counter stats for", "perf stat's text: it has sums, and no events" },
	{ "^(Samples of sched_switch|Wait-time is not available| *time +cpu +task name)",
	  "perf sched timehist's text: give perf.data itself" },
	{ "^(\\[pid +[0-9]+\\] |[0-9]+ +)?([0-9:.]+ +)?([a-z_0-9]+\\(.*= |execve\\()",
	  "strace's text: it does not say who woke whom; record with chaincap" },
	{ "^(# To display the perf.data header|# Samples: )",
	  "perf report's text: give perf.data itself" },
	{ "^[^ ;].*[^ ] [0-9]+$", "folded stacks: draw them with flamegraph" },
};

/* The first line that is not empty, as text. */
static bool first_line(int fd, char line[HEAD_BYTES + 1])
{
	ssize_t n = read(fd, line, HEAD_BYTES);
	size_t blank;

	if (n <= 0)
		return false;
	line[n] = 0;
	blank = strspn(line, " \t\r\n");
	memmove(line, line + blank, strlen(line + blank) + 1);
	line[strcspn(line, "\r\n")] = 0;
	return true;
}

/* perf record --threads makes a folder. */
static bool is_perf_folder(int fd)
{
	return !faccessat(fd, "header", R_OK, 0) || !faccessat(fd, "data", R_OK, 0) ||
	       !faccessat(fd, "data.0", R_OK, 0);
}

const char *recording_other(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char line[HEAD_BYTES + 1];
	const char *what = NULL;
	struct stat st;
	regex_t regex;

	if (fd >= 0 && !fstat(fd, &st) && S_ISDIR(st.st_mode) && is_perf_folder(fd))
		what = "a folder of perf record --threads: perf script --ns -i FOLDER | chainwalk "
		       "-";
	else if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && first_line(fd, line))
		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]) && !what; i++) {
			if (regcomp(&regex, known[i].begins, REG_EXTENDED | REG_NOSUB))
				continue;
			if (!regexec(&regex, line, 0, NULL, 0))
				what = known[i].what;
			regfree(&regex);
		}
	if (fd >= 0)
		close(fd);
	return what;
}
