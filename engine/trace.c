// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "import.h"
#include "trace_private.h"

/* A stream without a single sync word in its first bytes is given up: it may have no end. */
#define SNIFF_BYTES (4u << 20)

static bool has_sync(const uint8_t *p, size_t len)
{
	uint8_t sync[4];

	chainlog_put_le32(sync, CHAINLOG_SYNC);
	return memmem(p, len, sync, sizeof(sync)) != NULL;
}

/* The log that an import has made stands in for the input. */
static void set_imported(struct trace *t, uint8_t *log, size_t offset, size_t len)
{
	t->heap = log;
	t->base = log + offset;
	t->len = len;
}

/* The text that begins with [p, p + len) and goes on in fd. */
static int import_fd(struct trace *t, const uint8_t *p, size_t len, int fd)
{
	size_t offset, log_len;
	uint8_t *log;
	int err = import_stream((const char *)p, len, fd, &log, &offset, &log_len, t->import);

	if (!err)
		set_imported(t, log, offset, log_len);
	return err;
}

/* Imports a file if it is text; -EBADMSG: it is none, and is to be read as a trace. */
static int import_file(struct trace *t, int fd)
{
	uint8_t head[IMPORT_SNIFF];
	ssize_t n = pread(fd, head, sizeof(head), 0);
	int err;

	if (n > 0 && import_is_perf_data(head, (size_t)n))
		return -IMPORT_E_DATA;
	if (n <= 0 || !import_is_text(head, (size_t)n))
		return -EBADMSG;
	err = import_fd(t, NULL, 0, fd);
	if (err == -EBADMSG) {
		t->import->lines = 0;
		if (lseek(fd, 0, SEEK_SET) < 0)
			err = -errno;
	}
	return err;
}

/* Reads fd to its end into growing memory; what is text is imported on the way. */
static int read_all(struct trace *t, int fd)
{
	size_t cap = 1u << 20, len = 0;
	uint8_t *p = malloc(cap), *q;
	bool sniffed = false, looked = false;
	ssize_t got;
	int err;

	if (!p)
		return -ENOMEM;
	for (;;) {
		if (len == cap) {
			q = realloc(p, cap * 2);
			if (!q) {
				err = -ENOMEM;
				goto fail;
			}
			p = q;
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
			err = import_is_perf_data(p, len) ? -IMPORT_E_DATA : 0;
			if (err)
				goto fail;
			if (import_is_text(p, len)) {
				err = import_fd(t, p, len, fd);
				free(p);
				return err;
			}
		}
		if (!got)
			break;
		if (!sniffed && len >= SNIFF_BYTES) {
			err = -EBADMSG;
			if (!has_sync(p, len))
				goto fail;
			sniffed = true;
		}
	}
	t->heap = p;
	t->base = p;
	t->len = len;
	return 0;
fail:
	free(p);
	return err;
}

static int get_input(struct trace *t, int fd)
{
	struct stat st;
	void *map;
	int err;

	if (fstat(fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	/* Standard input may be a file that was read from already: only from its start on. */
	if (S_ISREG(st.st_mode) && st.st_size > 0 && lseek(fd, 0, SEEK_CUR) == 0) {
		err = import_file(t, fd);
		if (err != -EBADMSG)
			return err;
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (map != MAP_FAILED) {
			t->map = map;
			t->base = map;
			t->len = (size_t)st.st_size;
			return 0;
		}
	}
	return read_all(t, fd);
}

static void set_info_texts(struct trace *t)
{
	struct trace_info *i = &t->info;
	const char **texts[] = { &i->host, &i->release, &i->arch, &i->options, &i->tool };

	for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++)
		*texts[k] = t->info_text[k] ? t->info_text[k] : "";
}

static int load(struct trace *t)
{
	int err = trace_load(t);

	if (!err)
		err = trace_define(t);
	if (!err)
		err = trace_find_losses(t);
	set_info_texts(t);
	if (!err && t->import && import_damaged(t->import))
		trace_note_damage(t, t->import->bad_offset, 0, 0,
				  "lines that perf script does not write");
	return err;
}

static int open_path(struct trace **out, const char *path, bool checked)
{
	bool is_stdin = !strcmp(path, "-");
	struct trace *t = calloc(1, sizeof(*t));
	int fd = -1, err;

	*out = NULL;
	if (!t)
		return -ENOMEM;
	t->import = calloc(1, sizeof(*t->import));
	if (!t->import) {
		trace_close(t);
		return -ENOMEM;
	}
	t->checked = checked;
	fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	err = fd < 0 ? -errno : get_input(t, fd);
	if (!is_stdin && fd >= 0)
		close(fd);
	if (!err && !t->import->lines) { /* chaincap's own */
		free(t->import);
		t->import = NULL;
	}
	if (!err)
		err = load(t);
	if (err) {
		trace_close(t);
		return err;
	}
	*out = t;
	return 0;
}

int trace_open(struct trace **out, const char *path)
{
	return open_path(out, path, true);
}

int trace_open_quick(struct trace **out, const char *path)
{
	return open_path(out, path, false);
}

static int open_memory(struct trace **out, const void *p, size_t len, bool checked)
{
	struct trace *t = calloc(1, sizeof(*t));
	int err;

	*out = NULL;
	if (!t)
		return -ENOMEM;
	t->base = p;
	t->len = len;
	t->checked = checked;
	err = load(t);
	if (err) {
		trace_close(t);
		return err;
	}
	*out = t;
	return 0;
}

int trace_open_memory(struct trace **out, const void *p, size_t len)
{
	return open_memory(out, p, len, true);
}

int trace_open_memory_quick(struct trace **out, const void *p, size_t len)
{
	return open_memory(out, p, len, false);
}

/* Frees what loading has made. */
static void unload(struct trace *t)
{
	for (size_t i = 0; i < sizeof(t->info_text) / sizeof(t->info_text[0]); i++)
		free(t->info_text[i]);
	for (size_t i = 0; i < sizeof(t->defs) / sizeof(t->defs[0]); i++)
		free(t->defs[i].refs);
	free(t->blocks);
	free(t->skips);
	free(t->losses);
	free(t->strings);
	free(t->frames);
	free(t->stacks);
	free(t->modules);
	free(t->threads);
	free(t->text);
	free(t->stack_frames);
}

int trace_check(struct trace *t)
{
	if (t->checked)
		return 0;
	unload(t);
	*t = (struct trace) {
		.base = t->base,
		.len = t->len,
		.map = t->map,
		.heap = t->heap,
		.import = t->import,
		.checked = true,
	};
	return load(t);
}

void trace_close(struct trace *t)
{
	if (!t)
		return;
	unload(t);
	if (t->map)
		munmap(t->map, t->len);
	free(t->heap);
	free(t->import);
	free(t);
}

const struct import_report *trace_import(const struct trace *t)
{
	return t->import;
}

const struct trace_info *trace_info(const struct trace *t)
{
	return &t->info;
}

const struct trace_damage *trace_damage(const struct trace *t)
{
	return &t->damage;
}

const char *trace_string(const struct trace *t, uint32_t id)
{
	return id < t->strings_end && t->strings[id] ? t->strings[id] : "";
}

const struct trace_frame *trace_frame(const struct trace *t, uint32_t id)
{
	const struct trace_frame *f;

	if (!id || id >= t->frames_end)
		return NULL;
	f = &t->frames[id];
	return f->addr || f->space ? f : NULL;
}

struct trace_stack trace_stack(const struct trace *t, uint32_t id)
{
	const struct stack_ref *s;

	if (id >= t->stacks_end || !t->stacks[id].n)
		return (struct trace_stack) { .n = 0 };
	s = &t->stacks[id];
	return (struct trace_stack) { t->stack_frames + s->first, s->n, s->cut };
}

const char *trace_module_path(const struct trace *t, uint32_t id)
{
	return id < t->modules_end ? trace_string(t, t->modules[id].path) : "";
}

const char *trace_module_build_id(const struct trace *t, uint32_t id)
{
	return id < t->modules_end && t->modules[id].build_id ? t->modules[id].build_id : "";
}

uint32_t trace_stacks_end(const struct trace *t)
{
	return t->stacks_end;
}

uint32_t trace_frames_end(const struct trace *t)
{
	return t->frames_end;
}

uint32_t trace_strings_end(const struct trace *t)
{
	return t->strings_end;
}

const struct trace_thread *trace_threads(const struct trace *t, size_t *n)
{
	*n = t->n_threads;
	return t->threads;
}
