// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The process that reads call frame information. It has no rights, because a file may take it over.
 */
#include "rules_private.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "helper/sandbox.h"
#include "unwind/cfi.h"

/* All call frame information, one file more while it is opened, and libelf's copies of tables. */
#define MEMORY_MAX_BYTES (RULES_BYTES_MAX + (uint64_t)CFI_MAX_BYTES)
/* Functions begin at multiples of this, mostly, after some bytes of padding. */
#define ALIGNMENT 16u

struct file {
	int fd;		 /* 0: not open */
	struct cfi *cfi; /* NULL: it has none that can be read */
};

/* ---- windows ------------------------------------------------------------------------------- */

static void add_row(struct rules_window *w, uint64_t at, uint64_t to, const struct unwind_rule *r)
{
	w->starts[w->n] = (uint8_t)at;
	w->rules[w->n++] = *r;
	w->to = (uint16_t)(to < RULES_WINDOW ? to : RULES_WINDOW);
}

/*
 * Adds rows from w->to on, up to the window's end, as many as there is room and time for. Where
 * there is no rule it goes on at the next place where a function may begin, and at the one that was
 * asked for. Places are counted from base, where the window begins in the file.
 */
static void add_rows(struct cfi *c, uint64_t base, uint64_t asked, struct rules_window *w)
{
	while (w->to < RULES_WINDOW && w->n < RULES_ROWS_MAX) {
		struct unwind_rule rule = { .kind = UNWIND_NONE };
		uint64_t at = w->to, next;
		int err = cfi_row(c, base + at, &rule, &next);

		if (err == -EAGAIN)
			return;
		if (err) {
			next = base + (at | (ALIGNMENT - 1)) + 1;
			if (at < asked && base + asked < next)
				next = base + asked;
		}
		add_row(w, at, next - base, &rule);
	}
}

/* Returns 0, or what cfi_row() says of the offset. */
static int find_window(struct cfi *c, uint64_t offset, struct rules_window *w)
{
	uint64_t asked = offset % RULES_WINDOW, base = offset - asked, end;
	struct unwind_rule rule;
	int err = cfi_row(c, offset, &rule, &end);

	if (err)
		return err;
	add_rows(c, base, asked, w);
	if (w->to > asked)
		return 0;
	/* There was no room, or no time: from the one that was asked for. */
	w->n = 0;
	w->from = (uint16_t)asked;
	add_row(w, asked, end - base, &rule);
	add_rows(c, base, asked, w);
	return 0;
}

/* ---- what instructions say, without call frame information ---------------------------------- */

static bool read_code(int fd, uint64_t offset, void *buf, size_t len)
{
	return pread(fd, buf, len, (off_t)offset) == (ssize_t)len;
}

/*
 * is_call(): whether the instruction that ends before this offset of the file fd is a call.
 *
 * is_signal_return(): whether the code at this offset is that to which signal handlers return,
 * recognized by its instructions as debuggers do: musl's, and that in arm64's vDSO, has no call
 * frame information.
 */
#if defined(__x86_64__)
static bool is_signal_return(int fd, uint64_t offset)
{
	static const uint8_t mov_rax[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t mov_eax[] = { 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	uint8_t code[sizeof(mov_rax)];

	return read_code(fd, offset, code, sizeof(code)) &&
	       (!memcmp(code, mov_rax, sizeof(mov_rax)) || !memcmp(code, mov_eax, sizeof(mov_eax)));
}

static bool is_call(int fd, uint64_t offset)
{
	uint8_t b[7]; /* the bytes before */

	if (offset < sizeof(b) || !read_code(fd, offset - sizeof(b), b, sizeof(b)))
		return false;
	/* call rel32; call *%reg, *(%reg), *disp8(%reg), *disp32(%reg) or *disp32(%rip) */
	return b[2] == 0xe8 || (b[5] == 0xff && (b[6] & 0x38) == 0x10) ||
	       (b[4] == 0xff && (b[5] & 0x38) == 0x10) || (b[1] == 0xff && (b[2] & 0x38) == 0x10);
}
#elif defined(__aarch64__)
static bool is_signal_return(int fd, uint64_t offset)
{
	uint32_t code[2];

	return read_code(fd, offset, code, sizeof(code)) && code[0] == 0xd2801168 &&
	       code[1] == 0xd4000001; /* mov x8, #139; svc #0 */
}

static bool is_call(int fd, uint64_t offset)
{
	uint32_t before;

	if (offset < sizeof(before) ||
	    !read_code(fd, offset - sizeof(before), &before, sizeof(before)))
		return false;
	/* bl; blr, with or without authentication */
	return (before & 0xfc000000) == 0x94000000 || (before & 0xfefff000) == 0xd63f0000;
}
#endif

/* ---- the conversation ---------------------------------------------------------------------- */

static void close_file(struct file *f)
{
	cfi_close(f->cfi);
	if (f->fd)
		close(f->fd);
	*f = (struct file) { 0 };
}

static void open_file(struct file *f, int fd)
{
	close_file(f);
	if (fd < 0)
		return;
	f->fd = fd;
	(void)cfi_open(&f->cfi, fd);
}

static void answer(int socket, const struct rules_request *q, struct file *f)
{
	struct rules_answer a = { .serial = q->serial };

	a.bytes = f->cfi ? cfi_bytes(f->cfi) : 0;
	if (q->op == RULES_FIND)
		a.err = f->cfi ? find_window(f->cfi, q->offset, &a.window) : -ENOENT;
	/* Without call frame information the code still says something. */
	if (q->op == RULES_CALL)
		a.is_it = f->fd && is_call(f->fd, q->offset);
	else if (a.err == -ENOENT) /* return addresses are looked up one byte lower */
		a.is_it = f->fd && is_signal_return(f->fd, q->offset + 1);
	if (sandbox_send(socket, &a, sizeof(a), -1) != sizeof(a))
		helper_fail();
}

static void take(int socket, void *message, size_t len, int fd)
{
	static struct file files[RULES_FILES_MAX];
	const struct rules_request *q = message;

	if (len != sizeof(*q) || q->file >= RULES_FILES_MAX)
		helper_fail();
	switch ((enum rules_op)q->op) {
	case RULES_OPEN:
		open_file(&files[q->file], fd);
		break;
	case RULES_CLOSE:
		close_file(&files[q->file]);
		break;
	case RULES_FIND:
	case RULES_CALL:
		answer(socket, q, &files[q->file]);
		break;
	}
}

/* What is left to free goes with the process. */
static void serve(int socket)
{
	helper_serve(socket, take);
}

const struct helper_kind rules_kind = {
	.name = "chaincap-rules",
	.memory_bytes = MEMORY_MAX_BYTES,
	.cpu_seconds = RULES_CPU_SECONDS,
	.serve = serve,
	.memory_parts = 4, /* there may be eight of them */
};
