// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The process that reads call frame information. It has no rights, because a file may take it over.
 */
#include "rules_private.h"

#include <errno.h>
#include <unistd.h>

#include "helper/sandbox.h"
#include "unwind/cfi.h"
#include "unwind/code.h"

/* All call frame information, one file more while it is opened, and libelf's copies of tables. */
#define MEMORY_MAX_BYTES (RULES_BYTES_MAX + 2 * (uint64_t)CFI_MAX_BYTES)
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
		a.is_it = f->fd && code_is_call(f->fd, q->offset);
	else if (a.err == -ENOENT) /* return addresses are looked up one byte lower */
		a.is_it = f->fd && code_is_signal_return(f->fd, q->offset + 1);
	if (sandbox_send(socket, &a, sizeof(a), -1) != sizeof(a))
		_exit(1);
}

/* What is left to free goes with the process. */
static void serve(int socket)
{
	static struct file files[RULES_FILES_MAX];
	struct rules_request q;
	int fd;

	while (sandbox_receive(socket, &q, sizeof(q), &fd) == sizeof(q)) {
		if (q.file >= RULES_FILES_MAX)
			return;
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
}

const struct helper_kind rules_kind = {
	.name = "chaincap-rules",
	.memory_bytes = MEMORY_MAX_BYTES,
	.cpu_seconds = RULES_CPU_SECONDS,
	.serve = serve,
};
