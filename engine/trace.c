// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace_private.h"

/* A stream without a single sync word in its first bytes is given up: it may have no end. */
#define SNIFF_BYTES (4u << 20)

static bool has_sync(const uint8_t *p, size_t len)
{
	uint8_t sync[4];

	chainlog_put_le32(sync, CHAINLOG_SYNC);
	return memmem(p, len, sync, sizeof(sync)) != NULL;
}

/* Reads fd to its end into growing memory. */
static int read_all(struct trace *t, int fd)
{
	size_t cap = 1u << 20, len = 0;
	uint8_t *p = malloc(cap), *q;
	bool sniffed = false;
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
		if (!got)
			break;
		len += (size_t)got;
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

	if (fstat(fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	/* Standard input may be a file that was read from already: only from its start on. */
	if (S_ISREG(st.st_mode) && st.st_size > 0 && lseek(fd, 0, SEEK_CUR) == 0) {
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
	t->checked = checked;
	fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	err = fd < 0 ? -errno : get_input(t, fd);
	if (!is_stdin && fd >= 0)
		close(fd);
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
		.base = t->base, .len = t->len, .map = t->map, .heap = t->heap, .checked = true
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
	free(t);
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
