// SPDX-License-Identifier: GPL-2.0-or-later
/* What reads call frame information, without any rights: everything here works for a stranger. */
#include "rules_private.h"

#include <errno.h>
#include <unistd.h>

#include "kernel/sandbox.h"
#include "unwind/cfi.h"
#include "unwind/code.h"

/* All call frame information, one file more while it is opened, and libelf's copies of tables. */
#define MEMORY_MAX_BYTES (RULES_BYTES_MAX + 2 * (uint64_t)CFI_MAX_BYTES)
/* Functions begin at multiples of this, mostly, after some bytes of padding. */
#define ALIGNMENT 16u

struct file {
	int fd; /* 0: not open */
	int err;
	struct cfi *cfi; /* NULL: see err */
};

/* ---- windows ------------------------------------------------------------------------------- */

/*
 * Rows from `at` on, up to the window's end or as many as there is room for. Where there is no rule
 * it goes on at the next place where a function may begin, and at the offset that was asked for.
 */
static void find_rows(struct cfi *c, uint64_t base, uint64_t at, uint64_t offset,
		      struct rules_window *w)
{
	uint64_t end = base + RULES_WINDOW, next;

	w->n = 0;
	w->from = (uint16_t)(at - base);
	while (at < end && w->n < RULES_ROWS_MAX) {
		struct unwind_rule rule = { .kind = UNWIND_NONE };

		if (!cfi_row(c, at, &rule, &next)) {
			next = (at | (ALIGNMENT - 1)) + 1;
			if (at < offset && offset < next)
				next = offset;
		}
		w->starts[w->n] = (uint8_t)(at - base);
		w->rules[w->n++] = rule;
		at = next < end ? next : end;
	}
	w->to = (uint16_t)(at - base);
}

/* False: there is no rule at the offset. */
static bool find_window(struct cfi *c, uint64_t offset, struct rules_window *w)
{
	uint64_t base = offset - offset % RULES_WINDOW, end;
	struct unwind_rule rule;

	if (!cfi_row(c, offset, &rule, &end))
		return false;
	find_rows(c, base, base, offset, w);
	if (w->to <= offset - base)
		find_rows(c, base, offset, offset, w);
	return true;
}

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
	f->err = cfi_open(&f->cfi, fd);
}

static void answer(int socket, const struct rules_request *q, struct file *f)
{
	struct rules_answer a = { .serial = q->serial, .err = f->fd ? f->err : -EBADF };

	a.bytes = f->cfi ? cfi_bytes(f->cfi) : 0;
	/* Without call frame information the code still says something. */
	if (q->op == RULES_CALL)
		a.is_it = f->fd && code_is_call(f->fd, q->offset);
	else if (f->fd && !(f->cfi && find_window(f->cfi, q->offset, &a.window)))
		/* Return addresses are looked up one byte lower. */
		a.is_it = code_is_signal_return(f->fd, q->offset + 1);
	if (sandbox_send(socket, &a, sizeof(a), -1) != sizeof(a))
		_exit(1);
}

/* What is left to free goes with the process. */
static _Noreturn void serve(int socket)
{
	static struct file files[RULES_FILES_MAX];
	struct rules_request q;
	int fd;

	while (sandbox_receive(socket, &q, sizeof(q), &fd) == sizeof(q)) {
		if (q.file >= RULES_FILES_MAX)
			break;
		switch ((enum rules_op)q.op) {
		case RULES_OPEN:
			open_file(&files[q.file], fd);
			break;
		case RULES_CLOSE:
			close_file(&files[q.file]);
			break;
		case RULES_FIND:
		case RULES_CALL:
			answer(socket, &q, &files[q.file]);
			break;
		}
	}
	_exit(0);
}

const struct readers_also rules_reader = {
	.name = "chaincap-rules",
	.memory_bytes = MEMORY_MAX_BYTES,
	.cpu_seconds = RULES_CPU_SECONDS,
	.serve = serve,
};
