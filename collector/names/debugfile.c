// SPDX-License-Identifier: GPL-2.0-or-later
#include "debugfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#ifdef HAVE_LZMA
#include <lzma.h>
#endif

#include "coderoot.h"

#define DIRECTORY "/usr/lib/debug"
/* A file name, zeros and a checksum. */
#define LINK_MAX_BYTES 1024u
/* Of a larger file no checksum is computed: it would take seconds. */
#define SUMMED_MAX_BYTES (1ll << 30)

/* ---- .gnu_debugdata ---------------------------------------------------------------------------
 */

/* A browser's takes some 10 MB, 50 unpacked. */
#define PACKED_MAX_BYTES (32u << 20)
#define UNPACKED_MAX_BYTES (96u << 20)

#ifdef HAVE_LZMA

/* Unpacking takes 65 MB for xz -9; distributions' files never need more. */
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
		return -ENOEXEC; /* no xz file, damaged, cut off, or of an unknown version */
	}
}

/* Unpacks the first stream of the len bytes at xz into b. */
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

/* ---- debug files ------------------------------------------------------------------------------
 */

static bool is_as_trusted(int fd, int debug)
{
	struct stat program, st;

	return !fstat(fd, &program) && !fstat(debug, &st) && st.st_dev == program.st_dev &&
	       (!st.st_uid || st.st_uid == program.st_uid);
}

/* program -1: whatever is there is trusted. */
static int open_in(struct elfsym **out, int root, const char *path, int program)
{
	int fd = code_open_in_root(root, path);

	*out = NULL;
	if (fd < 0)
		return fd;
	if (program >= 0 && !is_as_trusted(program, fd)) {
		close(fd);
		return -EPERM;
	}
	return elfsym_take_fd(out, fd);
}

/* A program whose debug file is searched. */
struct search {
	const struct elfsym *e;
	int fd;		  /* of the program, -1: it is in memory */
	int own, root;	  /* root directories: ours; the program's if it is another, else -1 */
	const char *path; /* of the program in its root */
	char name[NAME_MAX + 1]; /* of the debug file */
	bool has_crc;
	uint32_t crc;
};

static int open_by_build_id(struct elfsym **out, const struct search *s)
{
	char path[sizeof(DIRECTORY "/.build-id/") + 2 * ELFSYM_BUILD_ID_MAX + 16], *p = path;
	uint8_t id[ELFSYM_BUILD_ID_MAX];
	size_t len = elfsym_build_id(s->e, id);
	int err;

	*out = NULL;
	if (len < 2)
		return -ENOENT;
	p += sprintf(p, DIRECTORY "/.build-id/%02x/", id[0]);
	for (size_t i = 1; i < len; i++)
		p += sprintf(p, "%02x", id[i]);
	strcpy(p, ".debug");
	err = open_in(out, s->own, path, -1);
	if (err && s->root >= 0 && s->fd >= 0)
		err = open_in(out, s->root, path, s->fd);
	return err;
}

/* ---- by path ----------------------------------------------------------------------------------
 */

/* The name in .gnu_debuglink and the checksum after it; else NAME.debug. */
static bool read_link(struct elfsym *e, struct search *s)
{
	const char *base = strrchr(s->path, '/'), *link;
	size_t len, name;

	if (!base)
		return false;
	link = elfsym_section(e, ".gnu_debuglink", LINK_MAX_BYTES, &len);
	name = link ? strnlen(link, len) : 0;
	/* Padded with zeros to a multiple of four. */
	if (name && name <= NAME_MAX && !memchr(link, '/', name) && name / 4 * 4 + 8 <= len) {
		memcpy(s->name, link, name);
		memcpy(&s->crc, link + name / 4 * 4 + 4, sizeof(s->crc));
		s->has_crc = true;
		return true;
	}
	return snprintf(s->name, sizeof(s->name), "%s.debug", base + 1) < (int)sizeof(s->name);
}

static bool has_checksum(int fd, uint32_t want)
{
	enum { PART = 1 << 20 };
	uint8_t *bytes = malloc(PART);
	uLong crc = crc32(0, NULL, 0);
	off_t at = 0;
	ssize_t n = 0;

	while (bytes && at < SUMMED_MAX_BYTES && (n = pread(fd, bytes, PART, at)) > 0) {
		crc = crc32(crc, bytes, (uInt)n);
		at += n;
	}
	free(bytes);
	return bytes && !n && crc == want;
}

static bool belongs_to(const struct search *s, const struct elfsym *debug)
{
	uint8_t id[2][ELFSYM_BUILD_ID_MAX];
	size_t len = elfsym_build_id(s->e, id[0]), debug_len = elfsym_build_id(debug, id[1]);

	if (len && debug_len)
		return len == debug_len && !memcmp(id[0], id[1], len);
	return s->has_crc && has_checksum(elfsym_fd(debug), s->crc);
}

static int open_candidate(struct elfsym **out, const struct search *s, int root, const char *path,
			  int program)
{
	int err = open_in(out, root, path, program);

	if (err || (elfsym_has_symtab(*out) && belongs_to(s, *out)))
		return err;
	elfsym_close(*out);
	*out = NULL;
	return -ESTALE;
}

static int open_by_path(struct elfsym **out, const struct search *s)
{
	static const char *const forms[] = { "%s%.*s/%s", "%s%.*s/.debug/%s", "%s%.*s/%s" };
	static const char *const prefixes[] = { "", "", DIRECTORY };
	int folder = (int)(strrchr(s->path, '/') - s->path);
	int root = s->root >= 0 ? s->root : s->own, err = -ENOENT;
	char path[PATH_MAX];

	*out = NULL;
	for (size_t i = 0; err && i < 3; i++) {
		if (snprintf(path, sizeof(path), forms[i], prefixes[i], folder, s->path, s->name) >=
		    (int)sizeof(path))
			continue;
		/* Our own /usr/lib/debug belongs to who records. */
		if (i == 2)
			err = open_candidate(out, s, s->own, path, -1);
		if (err && s->fd >= 0 && (i < 2 || s->root >= 0))
			err = open_candidate(out, s, root, path, s->fd);
	}
	return err;
}

bool debugfile_add(struct elfsym *e, int fd, int root, const char *path)
{
	struct search s = { .e = e, .fd = fd, .root = root, .path = path };
	struct elfsym *more = NULL;

	s.own = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (s.own >= 0 && open_by_build_id(&more, &s) && read_link(e, &s))
		(void)open_by_path(&more, &s);
	if (!more)
		(void)minidebug_open(&more, e);
	if (s.own >= 0)
		close(s.own);
	if (more)
		elfsym_add(e, more);
	return more;
}

void debugfile_add_fd(struct elfsym *e, int fd)
{
	struct search s = { .e = e };
	struct elfsym *more;

	if (elfsym_take_fd(&more, fd))
		return;
	if (belongs_to(&s, more))
		elfsym_add(e, more);
	else
		elfsym_close(more);
}
