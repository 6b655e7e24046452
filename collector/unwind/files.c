// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "unwind/cfi.h"

#define FILES_MAX 256u
/* With the file that is opened then: 256 MiB. */
#define BYTES_MAX ((256u << 20) - CFI_MAX_BYTES)
/* A file unused for this long is dropped: it may be deleted, or its disk unmounted. */
#define IDLE_NS 60000000000u
#define CACHE (1u << 15)

struct file {
	uint32_t id;	 /* code_files id, of which it holds a reference; 0: free */
	uint32_t serial; /* never reused */
	struct cfi *cfi; /* NULL: it has none */
	uint64_t used_ns;
};

/* A recently used rule: of the file with this serial, at this offset. */
struct cached {
	uint64_t offset;
	uint32_t serial;
	struct unwind_rule rule;
};

struct unwind_files {
	struct code_files *code;
	size_t vdso_bytes;
	uint32_t last_serial;
	uint32_t last; /* index of the file used last */
	size_t bytes;
	uint64_t searched;
	struct file files[FILES_MAX];
	struct cached cache[CACHE];
};

struct unwind_files *unwind_files_new(struct code_files *code, size_t vdso_bytes)
{
	struct unwind_files *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->code = code;
	f->vdso_bytes = vdso_bytes;
	return f;
}

static void drop(struct unwind_files *f, struct file *file)
{
	if (!file->id)
		return;
	if (file->cfi)
		f->bytes -= cfi_bytes(file->cfi);
	cfi_close(file->cfi);
	code_files_put(f->code, file->id);
	*file = (struct file) { 0 };
}

void unwind_files_free(struct unwind_files *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < FILES_MAX; i++)
		drop(f, &f->files[i]);
	free(f);
}

static struct cfi *open_cfi(const struct unwind_files *f, uint32_t id)
{
	struct cfi *c = NULL;
	int fd;

	if (code_files_kind(f->code, id) == CODE_VDSO) {
		/* The kernel gives its address as a number. It is the same in all processes. */
		const void *vdso = (const void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);

		if (f->vdso_bytes)
			(void)cfi_open_memory(&c, vdso, f->vdso_bytes);
		return c;
	}
	fd = code_files_open(f->code, id);
	if (fd >= 0)
		(void)cfi_open(&c, fd);
	return c;
}

/* A free place, made by dropping the least recently used file if need be. */
static struct file *make_room(struct unwind_files *f, uint64_t now_ns)
{
	struct file *free_place = NULL;

	for (;;) {
		struct file *oldest = NULL;

		for (uint32_t i = 0; i < FILES_MAX; i++) {
			struct file *file = &f->files[i];

			if (file->id && now_ns > file->used_ns + IDLE_NS)
				drop(f, file);
			if (!file->id)
				free_place = file;
			else if (!oldest || file->used_ns < oldest->used_ns)
				oldest = file;
		}
		if (free_place && (f->bytes <= BYTES_MAX || !oldest))
			return free_place;
		drop(f, oldest);
	}
}

static struct file *find(struct unwind_files *f, uint32_t id, uint64_t now_ns)
{
	struct file *file = &f->files[f->last];

	if (file->id != id) {
		for (file = f->files; file < f->files + FILES_MAX && file->id != id; file++)
			;
	}
	if (file == f->files + FILES_MAX) {
		file = make_room(f, now_ns);
		code_files_hold(f->code, id);
		file->id = id;
		file->serial = ++f->last_serial;
		file->cfi = open_cfi(f, id);
		if (file->cfi)
			f->bytes += cfi_bytes(file->cfi);
	}
	file->used_ns = now_ns;
	f->last = (uint32_t)(file - f->files);
	return file;
}

/* Reads len bytes of code at an offset of a file. */
static bool read_code(const struct unwind_files *f, uint32_t id, uint64_t offset, void *buf,
		      size_t len)
{
	int fd;

	if (code_files_kind(f->code, id) == CODE_VDSO) {
		const uint8_t *vdso = (const void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);

		if (f->vdso_bytes < len || offset > f->vdso_bytes - len)
			return false;
		memcpy(buf, vdso + offset, len);
		return true;
	}
	if (code_files_kind(f->code, id) != CODE_FILE)
		return false;
	fd = code_files_open(f->code, id);
	return fd >= 0 && pread(fd, buf, len, (off_t)offset) == (ssize_t)len;
}

/*
 * Whether this is the code to which signal handlers return, recognized by its instructions as
 * debuggers do: musl's, and that in arm64's vDSO, has no call frame information.
 */
static bool is_signal_return(const struct unwind_files *f, uint32_t id, uint64_t offset)
{
#if defined(__x86_64__)
	static const uint8_t mov_rax[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t mov_eax[] = { 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	uint8_t code[sizeof(mov_rax)];

	return read_code(f, id, offset, code, sizeof(code)) &&
	       (!memcmp(code, mov_rax, sizeof(mov_rax)) || !memcmp(code, mov_eax, sizeof(mov_eax)));
#elif defined(__aarch64__)
	uint32_t code[2];

	return read_code(f, id, offset, code, sizeof(code)) && code[0] == 0xd2801168 &&
	       code[1] == 0xd4000001; /* mov x8, #139; svc #0 */
#else
	(void)f, (void)id, (void)offset;
	return false;
#endif
}

bool unwind_files_is_call(const struct unwind_files *f, uint32_t id, uint64_t offset)
{
#if defined(__x86_64__)
	uint8_t b[7]; /* the bytes before */

	if (offset < sizeof(b) || !read_code(f, id, offset - sizeof(b), b, sizeof(b)))
		return false;
	/* call rel32; call *%reg, *(%reg), *disp8(%reg), *disp32(%reg) or *disp32(%rip) */
	return b[2] == 0xe8 || (b[5] == 0xff && (b[6] & 0x38) == 0x10) ||
	       (b[4] == 0xff && (b[5] & 0x38) == 0x10) || (b[1] == 0xff && (b[2] & 0x38) == 0x10);
#elif defined(__aarch64__)
	uint32_t before;

	if (offset < sizeof(before) ||
	    !read_code(f, id, offset - sizeof(before), &before, sizeof(before)))
		return false;
	/* bl; blr, with or without authentication */
	return (before & 0xfc000000) == 0x94000000 || (before & 0xfefff000) == 0xd63f0000;
#else
	(void)f, (void)id, (void)offset;
	return false;
#endif
}

struct unwind_rule unwind_files_rule(struct unwind_files *f, uint32_t id, uint64_t offset,
				     uint64_t now_ns)
{
	struct file *file = find(f, id, now_ns);
	uint64_t h = (offset ^ (uint64_t)file->serial << 40) * 0x9e3779b97f4a7c15u;
	struct cached *c = &f->cache[(h >> 40) % CACHE];

	if (c->serial == file->serial && c->offset == offset)
		return c->rule;
	f->searched++;
	*c = (struct cached) { .offset = offset, .serial = file->serial };
	if (file->cfi)
		c->rule = cfi_rule(file->cfi, offset);
	/* Return addresses are looked up one byte lower. */
	if (c->rule.kind == UNWIND_NONE && is_signal_return(f, id, offset + 1))
		c->rule.kind = UNWIND_SIGNAL;
	return c->rule;
}

uint32_t unwind_files_count(const struct unwind_files *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < FILES_MAX; i++)
		n += f->files[i].id != 0;
	return n;
}

size_t unwind_files_bytes(const struct unwind_files *f)
{
	return f->bytes;
}

uint64_t unwind_files_searched(const struct unwind_files *f)
{
	return f->searched;
}
