// SPDX-License-Identifier: GPL-2.0-or-later
/* The helper that reads a file. It has no rights, because the file may take it over. */
#include "reader_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/demangle.h"
#include "elf/elfdata.h"
#include "files/perfmap.h"
#include "files/process_context.h"

/* A browser's debug file takes half of that, if there is so much, and some seconds. */
#define MEMORY_MAX_BYTES (2ull << 30)
#define CPU_MAX_SECONDS 60u

struct process {
	int socket;
	struct elfsym *e;
	int fd; /* its file */
	struct debugfile_wanted wanted;
	struct reader_question *questions;
	size_t n;
	int perf_map, jitdump;
	char plain[READER_NAME_MAX], readable[READER_NAME_MAX];
	uint8_t answers[READER_ANSWERS_BYTES];
	size_t len; /* of answers */
};

/* ---- answering ----------------------------------------------------------------------------- */

static void tell_bytes(const struct process *p, const void *message, size_t len)
{
	if (sandbox_send(p->socket, message, len, -1) != (ssize_t)len)
		helper_fail();
}

static void tell(const struct process *p, int32_t result)
{
	tell_bytes(p, &result, sizeof(result));
}

static void flush(struct process *p)
{
	if (p->len)
		tell_bytes(p, p->answers, p->len);
	p->len = 0;
}

static void answer(struct process *p, struct reader_answer a, const char *name)
{
	a.len = name ? (uint32_t)strnlen(name, READER_NAME_MAX) : 0;
	if (p->len + sizeof(a) + a.len > sizeof(p->answers))
		flush(p);
	memcpy(p->answers + p->len, &a, sizeof(a));
	if (name)
		memcpy(p->answers + p->len + sizeof(a), name, a.len);
	p->len += sizeof(a) + a.len;
}

/* ---- ELF files ----------------------------------------------------------------------------- */

/* The name to show: without the symbol version, demangled, PLT stubs marked. */
static const char *readable(struct process *p, const struct elfsym_address *a)
{
	size_t len = strnlen(a->name, sizeof(p->plain));
	const char *version = memchr(a->name, '@', len), *name;

	if (version)
		len = (size_t)(version - a->name);
	if (!len || len >= sizeof(p->plain))
		return a->name;
	memcpy(p->plain, a->name, len);
	p->plain[len] = '\0';
	name = demangle(p->plain, p->readable, sizeof(p->readable));
	if (!a->is_plt)
		return name;
	len = strlen(name);
	if (len + sizeof("@plt") > sizeof(p->readable))
		return name;
	if (name != p->readable)
		memcpy(p->readable, name, len);
	memcpy(p->readable + len, "@plt", sizeof("@plt"));
	return p->readable;
}

static void open_file(struct process *p, int fd)
{
	struct reader_file file = { .err = fd < 0 ? -EBADF : elfsym_open(&p->e, fd) };

	p->fd = fd;
	if (!file.err) {
		file.has_symtab = elfsym_has_symtab(p->e);
		while (file.n_segments < READER_SEGMENTS_MAX &&
		       elfsym_code(p->e, file.n_segments, &file.segments[file.n_segments]))
			file.n_segments++;
		debugfile_ask(&p->wanted, p->e);
		file.wanted = p->wanted;
	}
	tell_bytes(p, &file, sizeof(file));
}

static void add_minidebug(struct process *p)
{
	struct elfsym *more = NULL;

	if (p->e && !minidebug_open(&more, p->e))
		elfsym_add(p->e, more);
}

/*
 * The offsets in loaded segments, as link-time addresses; the others become UINT64_MAX. *n: how
 * many addresses these are. NULL: out of memory.
 */
static struct elfsym_address *to_vaddrs(struct process *p, size_t *n)
{
	struct elfsym_address *found = malloc((p->n + 1) * sizeof(*found));

	*n = 0;
	for (size_t i = 0; found && i < p->n; i++) {
		uint64_t vaddr, *offset = &p->questions[i].value;

		if (*offset == UINT64_MAX || !elfsym_vaddr(p->e, *offset, &vaddr) ||
		    /* Segments must be in the order of their file offsets. */
		    (*n && vaddr < found[*n - 1].vaddr)) {
			*offset = UINT64_MAX;
			continue;
		}
		found[(*n)++] = (struct elfsym_address) { .vaddr = vaddr };
	}
	return found;
}

static void answer_all(struct process *p)
{
	size_t n;
	struct elfsym_address *a = p->e ? to_vaddrs(p, &n) : NULL;

	if (!a)
		helper_fail();
	elfsym_find(p->e, a, n);
	elfsym_find_bounds(p->e, a, n);
	for (size_t i = 0; i < p->n; i++) {
		struct reader_answer out = { .flags = 0 };

		if (p->questions[i].value == UINT64_MAX) {
			answer(p, out, NULL);
			continue;
		}
		out.flags = READER_MAPPED | (a->name ? READER_NAMED : 0u) |
			    (a->is_bounded ? READER_BOUNDED : 0u);
		out.start = a->start;
		out.value = a->name || a->is_bounded ? a->vaddr - a->start : a->vaddr;
		answer(p, out, a->name ? readable(p, a) : NULL);
		a++;
	}
	flush(p);
}

/* ---- generated code ------------------------------------------------------------------------ */

/* Answers by the perf map, or by the jitdump for code that it has. */
static void answer_code(struct process *p)
{
	struct perfmap_address *a = calloc(p->n + 1, sizeof(*a));
	bool is_read = false;

	if (!a)
		helper_fail();
	for (size_t i = 0; i < p->n; i++) {
		a[i].addr = p->questions[i].value;
		a[i].time_ns = p->questions[i].time_ns;
	}
	if (p->perf_map >= 0)
		is_read = !perfmap_find(p->perf_map, a, p->n);
	if (p->jitdump >= 0 && !jitdump_find(p->jitdump, a, p->n))
		is_read = true;
	if (!is_read)
		_exit(0);
	for (size_t i = 0; i < p->n; i++) {
		struct reader_answer out = { .flags = READER_MAPPED };

		if (a[i].name) {
			out.flags |= READER_NAMED;
			out.start = a[i].start;
			out.value = a[i].addr + 1 - a[i].start;
		}
		answer(p, out,
		       a[i].name ? demangle(a[i].name, p->readable, sizeof(p->readable)) : NULL);
	}
	flush(p);
}

/* ---- what the BPF side has to know of a file ------------------------------------------------ */

static void answer_parts(const struct process *p)
{
	struct reader_parts parts = { 0 };

	if (p->e) {
		parts.has_context = !elftls_find(p->e, READER_CONTEXT_SYMBOL, &parts.context);
		parts.has_interpreter = !elfinterp_find(p->e, &parts.interpreter);
	}
	tell_bytes(p, &parts, sizeof(parts));
}

static void answer_keys(const struct process *p, int fd)
{
	static uint8_t bytes[PROCESS_CONTEXT_MAX];
	ssize_t n = fd < 0 ? -1 : pread(fd, bytes, sizeof(bytes), 0);

	tell(p, (int32_t)process_context_route(bytes, n > 0 ? (size_t)n : 0));
}

/* ---- the options of a JVM ------------------------------------------------------------------- */

static void answer_jvm(const struct process *p, int memory, uint64_t start)
{
	static const char *const names[] = { JVM_STRUCTS, JVM_TYPES };
	struct reader_jvm out = { .err = -ENOENT };
	struct elfsym_segment code;
	struct jvm_flags flags = { 0 };
	uint64_t vaddr[2];

	if (p->e && memory >= 0 && elfsym_code(p->e, 0, &code)) {
		start += code.offset - code.vaddr; /* by how much it was moved */
		elfdata_find(p->e, names, 2, vaddr);
		if (vaddr[0] && vaddr[1])
			out.err =
				jvm_flags_read(memory, start + vaddr[0], start + vaddr[1], &flags);
	}
	if (!out.err) {
		out.frame_pointers = flags.frame_pointers;
		out.compiles = flags.compiles;
		out.is_deaf = flags.is_deaf;
	}
	tell_bytes(p, &out, sizeof(out));
}

/* ---- the conversation ---------------------------------------------------------------------- */

/* What comes in a file. */
static void *read_sent(int fd, size_t bytes)
{
	uint8_t *data = malloc(bytes + 1);
	size_t done = 0;

	while (data && done < bytes) {
		ssize_t got = pread(fd, data + done, bytes - done, (off_t)done);

		if (got <= 0)
			break;
		done += (size_t)got;
	}
	if (!data || done < bytes)
		helper_fail();
	return data;
}

static void read_questions(struct process *p, uint64_t n, int fd)
{
	p->questions = read_sent(fd, n * sizeof(*p->questions));
	p->n = n;
}

static void find_probe(struct process *p, int fd)
{
	struct elfprobe_query *q = read_sent(fd, sizeof(*q));
	struct elfprobe_answer a = { .fault = ELFPROBE_NO_FILE };

	if (p->e)
		elfprobe_find(p->e, q, &a);
	free(q);
	tell_bytes(p, &a, sizeof(a));
}

static void take(int socket, void *message, size_t len, int fd)
{
	static struct process process = { .perf_map = -1, .jitdump = -1 }, *p = &process;
	const struct reader_request *r = message;

	if (len != sizeof(*r))
		helper_fail();
	p->socket = socket;
	switch ((enum reader_op)r->op) {
	case READER_OPEN:
		open_file(p, fd);
		break;
	case READER_DEBUG:
		tell(p, p->e && fd >= 0 && debugfile_take(p->e, &p->wanted, fd));
		break;
	case READER_COPY:
		tell(p, p->e ? elfsym_copy(p->e, p->fd, fd, r->arg) : -ENOEXEC);
		break;
	case READER_MINIDEBUG:
		add_minidebug(p);
		break;
	case READER_FIND:
		read_questions(p, r->n, fd);
		answer_all(p);
		break;
	case READER_PERF_MAP:
		p->perf_map = fd;
		break;
	case READER_JITDUMP:
		p->jitdump = fd;
		break;
	case READER_FIND_CODE:
		read_questions(p, r->n, fd);
		answer_code(p);
		break;
	case READER_FIND_PROBE:
		find_probe(p, fd);
		break;
	case READER_PARTS:
		answer_parts(p);
		break;
	case READER_KEYS:
		answer_keys(p, fd);
		break;
	case READER_JVM:
		answer_jvm(p, fd, r->n);
		break;
	}
}

/* What is left to free goes with the process. */
static void serve(int socket)
{
	helper_serve(socket, take);
}

const struct helper_kind reader_kind = {
	.name = "chaincap-reader",
	.memory_bytes = MEMORY_MAX_BYTES,
	.cpu_seconds = CPU_MAX_SECONDS,
	.serve = serve,
	.memory_parts = 2,
};
