// SPDX-License-Identifier: GPL-2.0-or-later
#include "debugfile.h"

#include <errno.h>
#include <fcntl.h>
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

#include "files/coderoot.h"
#include "helper/call_timeout.h"

#define DIRECTORY "/usr/lib/debug"
/* A file name, zeros and a checksum. */
#define LINK_MAX_BYTES 1024u
/* The checksum of a larger file is not computed, because it would take seconds. */
#define SUMMED_MAX_BYTES (1ll << 30)

/* ---- .gnu_debugdata -------------------------------------------------------------------------- */

/* A browser's takes some 10 MB, 50 unpacked. */
#define PACKED_MAX_BYTES (32u << 20)
#define UNPACKED_MAX_BYTES (96u << 20)
#define UNPACKED_FIRST_BYTES (256u << 10)
/* Unpacking takes 65 MB for xz -9; distributions' files never need more. */
#define MEMORY_MAX_BYTES (68u << 20)

bool minidebug_is_supported(void)
{
#ifdef HAVE_LZMA
	return true;
#else
	return false;
#endif
}

#ifdef HAVE_LZMA
/* Room for twice as many bytes as before. *room is set. Returns 0, -ENOMEM, -E2BIG. */
static int make_room(uint8_t **out, size_t *room)
{
	size_t want = *room ? *room * 2 : UNPACKED_FIRST_BYTES;
	uint8_t *p;

	if (*room == UNPACKED_MAX_BYTES)
		return -E2BIG;
	want = want < UNPACKED_MAX_BYTES ? want : UNPACKED_MAX_BYTES;
	p = realloc(*out, want);
	if (!p)
		return -ENOMEM;
	*out = p;
	*room = want;
	return 0;
}

static int error_of(lzma_ret ret)
{
	if (ret == LZMA_STREAM_END)
		return 0;
	if (ret == LZMA_MEM_ERROR)
		return -ENOMEM;
	/* Otherwise no xz file, damaged, cut off, or of an unknown version. */
	return ret == LZMA_MEMLIMIT_ERROR ? -E2BIG : -ENOEXEC;
}

/* Unpacks the first stream of the len bytes at xz. *out is to be freed, also after an error. */
static int unpack(const void *xz, size_t len, uint8_t **out, size_t *out_len)
{
	lzma_stream z = LZMA_STREAM_INIT;
	lzma_ret ret = lzma_stream_decoder(&z, MEMORY_MAX_BYTES, 0);
	size_t room = 0;
	int err = 0;

	z.next_in = xz;
	z.avail_in = len;
	while (ret == LZMA_OK && !z.avail_out && !err) {
		size_t used = room;

		err = make_room(out, &room);
		z.next_out = *out + used;
		z.avail_out = room - used;
		if (!err)
			ret = lzma_code(&z, LZMA_FINISH);
	}
	lzma_end(&z);
	*out_len = room - z.avail_out;
	return err ? err : error_of(ret);
}
#else
static int unpack(const void *xz, size_t len, uint8_t **out, size_t *out_len)
{
	(void)xz, (void)len, (void)out, (void)out_len;
	return -ENOTSUP;
}
#endif

int minidebug_open(struct elfsym **out, struct elfsym *e)
{
	uint8_t *image = NULL, *shrunk;
	const void *xz;
	size_t len;
	int err;

	*out = NULL;
	xz = elfsym_section(e, ".gnu_debugdata", PACKED_MAX_BYTES, &len);
	if (!xz)
		return -ENOENT;
	err = unpack(xz, len, &image, &len);
	if (err) {
		free(image);
		return err;
	}
	shrunk = realloc(image, len + 1);
	if (shrunk)
		image = shrunk;
	return elfsym_take_memory(out, image, len);
}

/* ---- debug files ----------------------------------------------------------------------------- */

void debugfile_ask(struct debugfile_wanted *w, struct elfsym *e)
{
	const char *link;
	size_t len, name;

	*w = (struct debugfile_wanted) { 0 };
	w->build_id_len = (uint32_t)elfsym_build_id(e, w->build_id);
	link = elfsym_section(e, ".gnu_debuglink", LINK_MAX_BYTES, &len);
	name = link ? strnlen(link, len) : 0;
	/* Padded with zeros to a multiple of four. */
	if (!name || name > NAME_MAX || memchr(link, '/', name) || name / 4 * 4 + 8 > len)
		return;
	memcpy(w->name, link, name);
	memcpy(&w->crc, link + name / 4 * 4 + 4, sizeof(w->crc));
	w->has_link = true;
}

bool debugfile_is_sane(const struct debugfile_wanted *w)
{
	return w->build_id_len <= BUILD_ID_MAX && memchr(w->name, '\0', sizeof(w->name)) &&
	       !strchr(w->name, '/');
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

/* Its path proves nothing: whoever installed it chose that. */
static bool belongs_to(const struct debugfile_wanted *w, const struct elfsym *debug)
{
	uint8_t id[BUILD_ID_MAX];

	if (w->build_id_len)
		return elfsym_build_id(debug, id) == w->build_id_len &&
		       !memcmp(id, w->build_id, w->build_id_len);
	return w->has_link && has_checksum(elfsym_fd(debug), w->crc);
}

bool debugfile_take(struct elfsym *e, const struct debugfile_wanted *w, int fd)
{
	struct elfsym *more;

	if (elfsym_take_fd(&more, fd))
		return false;
	if (!elfsym_has_symtab(more) || !belongs_to(w, more)) {
		elfsym_close(more);
		return false;
	}
	elfsym_add(e, more);
	return true;
}

/* ---- where they are -------------------------------------------------------------------------- */

struct search {
	const struct debugfile_wanted *wanted;
	int program;
	int root;	  /* the program's root directory if it is another than ours, else -1 */
	const char *path; /* of the program in its root */
	debugfile_offer_fn offer;
	void *ctx;
};

/* What is known of it without asking the file system, which may not answer. */
static bool look(int fd, struct statx *st)
{
	return !statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_UID, st);
}

static bool is_as_trusted(int fd, int debug)
{
	struct statx program, st;

	return look(fd, &program) && look(debug, &st) &&
	       st.stx_dev_major == program.stx_dev_major &&
	       st.stx_dev_minor == program.stx_dev_minor &&
	       (!st.stx_uid || st.stx_uid == program.stx_uid);
}

/* As call_with_timeout() runs it. */
static int run_opening(void *path, int root)
{
	int fd = code_open_in_root(root, path, 0);

	return fd < 0 ? -1 : fd;
}

/* Below the program's root directory a folder is chosen by who runs it. */
static int open_in_time(const struct search *s, int root, const char *path)
{
	char copy[PATH_MAX];
	struct statx st = { 0 };
	uint64_t key = call_key_device(0, 0);
	int fd;

	if (s->program >= 0 && look(s->program, &st))
		key = call_key_device(st.stx_dev_major, st.stx_dev_minor);
	if (snprintf(copy, sizeof(copy), "%s", path) >= (int)sizeof(copy) ||
	    call_with_timeout(run_opening, key, copy, sizeof(copy), root, &fd))
		return -1;
	return fd;
}

/* root -1: ours. program -1: whatever is there is trusted. */
static bool offer(const struct search *s, int root, const char *path, int program)
{
	int fd = open_in_time(s, root, path);

	if (fd < 0)
		return false;
	if (program >= 0 && !is_as_trusted(program, fd)) {
		close(fd);
		return false;
	}
	return s->offer(s->ctx, fd);
}

static bool search_by_build_id(const struct search *s)
{
	char path[sizeof(DIRECTORY "/.build-id/") + 2 * BUILD_ID_MAX + 16], *p = path;
	const struct debugfile_wanted *w = s->wanted;

	if (w->build_id_len < 2)
		return false;
	p += sprintf(p, DIRECTORY "/.build-id/%02x/", w->build_id[0]);
	for (size_t i = 1; i < w->build_id_len; i++)
		p += sprintf(p, "%02x", w->build_id[i]);
	strcpy(p, ".debug");
	return offer(s, -1, path, -1) ||
	       (s->root >= 0 && s->program >= 0 && offer(s, s->root, path, s->program));
}

static bool search_by_path(const struct search *s)
{
	static const char *const forms[] = { "%s%.*s/%s", "%s%.*s/.debug/%s", "%s%.*s/%s" };
	static const char *const prefixes[] = { "", "", DIRECTORY };
	const char *base = strrchr(s->path, '/');
	char path[PATH_MAX], name[NAME_MAX + 1];

	if (!base)
		return false;
	/* The name in .gnu_debuglink; else NAME.debug. */
	if (s->wanted->has_link)
		memcpy(name, s->wanted->name, sizeof(name));
	else if (snprintf(name, sizeof(name), "%s.debug", base + 1) >= (int)sizeof(name))
		return false;
	for (size_t i = 0; i < 3; i++) {
		if (snprintf(path, sizeof(path), forms[i], prefixes[i], (int)(base - s->path),
			     s->path, name) >= (int)sizeof(path))
			continue;
		/* Our own /usr/lib/debug belongs to who records. */
		if (i == 2 && offer(s, -1, path, -1))
			return true;
		if (s->program >= 0 && (i < 2 || s->root >= 0) &&
		    offer(s, s->root, path, s->program))
			return true;
	}
	return false;
}

bool debugfile_search(const struct debugfile_wanted *w, int program, int root, const char *path,
		      debugfile_offer_fn fn, void *ctx)
{
	struct search s = { w, program, root, path, fn, ctx };

	return search_by_build_id(&s) || search_by_path(&s);
}
