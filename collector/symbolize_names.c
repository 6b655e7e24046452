// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbolize_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "debugfile.h"
#include "demangle.h"
#include "elfsym.h"

/* The encoder cuts longer ones. */
#define NAME_MAX_BYTES 4000

/* The frames of one file, sorted by offset, and what it is in the trace. */
struct group {
	const struct user_frame *frames;
	size_t n;
	uint32_t module;
};

static int compare_frames(const void *a, const void *b)
{
	const struct user_frame *x = a, *y = b;

	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->frame < y->frame ? -1 : x->frame > y->frame;
}

/* ---- ELF files ----------------------------------------------------------------------------- */

/* A symbol as people know it: without version, demangled, stubs marked. */
static const char *readable(const struct elfsym_address *a, char *buf, char *plain)
{
	size_t len = strcspn(a->name, "@");
	const char *name;

	if (!len || len >= NAME_MAX_BYTES)
		return a->name;
	memcpy(plain, a->name, len);
	plain[len] = '\0';
	name = demangle(plain, buf, NAME_MAX_BYTES);
	if (!a->is_plt)
		return name;
	len = strlen(name);
	if (len + sizeof("@plt") > NAME_MAX_BYTES)
		return name;
	if (name != buf)
		memcpy(buf, name, len);
	memcpy(buf + len, "@plt", sizeof("@plt"));
	return buf;
}

/* Frames of a file without its names: where in which file is still worth knowing. */
static int name_without_symbols(struct symbolizer *s, const struct group *g, uint64_t *count)
{
	int err = 0;

	*count += g->n;
	for (size_t i = 0; !err && i < g->n; i++)
		err = encoder_name(s->enc, g->frames[i].frame, NULL, g->module,
				   g->frames[i].offset == OFFSET_UNKNOWN ? 0 : g->frames[i].offset);
	return err;
}

/* The frames that are loaded by the program headers, as addresses of the file. */
static size_t to_vaddrs(const struct elfsym *e, const struct group *g, struct elfsym_address *a,
			uint32_t *frame)
{
	size_t n = 0;

	for (size_t i = 0; i < g->n; i++) {
		uint64_t vaddr;

		if (g->frames[i].offset == OFFSET_UNKNOWN ||
		    !elfsym_vaddr(e, g->frames[i].offset, &vaddr))
			continue;
		/* Segments in another order than their offsets are for nobody to sort out. */
		if (n && vaddr < a[n - 1].vaddr)
			continue;
		a[n] = (struct elfsym_address) { .vaddr = vaddr };
		frame[n++] = g->frames[i].frame;
	}
	return n;
}

static int name_by_elf(struct symbolizer *s, struct group *g, struct elfsym *e, const char *path)
{
	struct elfsym_address *a = malloc(g->n * sizeof(*a));
	uint32_t *frame = malloc(g->n * sizeof(*frame));
	char *plain = malloc(2 * NAME_MAX_BYTES), *buf;
	uint8_t id[ELFSYM_BUILD_ID_MAX];
	size_t id_len, n;
	int err = -ENOMEM;

	if (!a || !frame || !plain)
		goto out;
	buf = plain + NAME_MAX_BYTES;
	id_len = elfsym_build_id(e, id);
	g->module = encoder_module(s->enc, path, id, id_len);
	n = to_vaddrs(e, g, a, frame);
	s->stats.no_symbol += g->n - n;
	elfsym_find(e, a, n);
	err = 0;
	for (size_t i = 0; !err && i < n; i++) {
		if (a[i].name) {
			s->stats.user_named++;
			err = encoder_name(s->enc, frame[i], readable(&a[i], buf, plain), g->module,
					   a[i].vaddr - a[i].start);
		} else {
			s->stats.no_symbol++;
			err = encoder_name(s->enc, frame[i], NULL, g->module, a[i].vaddr);
		}
	}
out:
	free(plain);
	free(frame);
	free(a);
	return err;
}

static int name_file(struct symbolizer *s, struct group *g, uint32_t file)
{
	const char *path = code_files_path(s->files, file);
	enum code_kind kind = code_files_kind(s->files, file);
	struct elfsym *e = NULL;
	int fd = -1, err = -ENOENT;

	s->stats.files++;
	if (kind == CODE_VDSO && s->vdso_len) {
		/* Its address comes as a number, from the kernel. */
		const void *vdso = (const void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);

		err = elfsym_open_memory(&e, vdso, (size_t)s->vdso_len);
	} else if (kind == CODE_FILE) {
		fd = code_files_open(s->files, file);
		err = fd < 0 ? fd : elfsym_open(&e, fd);
	}
	if (err) {
		g->module = encoder_module(s->enc, path, NULL, 0);
		return name_without_symbols(
			s, g, kind == CODE_FILE ? &s->stats.no_file : &s->stats.no_symbol);
	}
	s->stats.files_read++;
	if (!elfsym_has_symtab(e))
		debugfile_add(e, fd, code_files_root(s->files, file));
	err = name_by_elf(s, g, e, path);
	elfsym_close(e);
	code_files_close(s->files, file);
	return err;
}

/* ---- generated code ------------------------------------------------------------------------ */

static int name_by_perf_map(struct symbolizer *s, const struct group *g, int fd)
{
	struct perfmap_address *a = calloc(g->n, sizeof(*a));
	char *buf = malloc(NAME_MAX_BYTES);
	int err = -ENOMEM;

	if (!a || !buf)
		goto out;
	/* As everywhere, the byte before a return address is the one that counts. */
	for (size_t i = 0; i < g->n; i++)
		a[i].addr = g->frames[i].offset - 1;
	if (perfmap_find(fd, a, g->n)) {
		err = name_without_symbols(s, g, &s->stats.no_perf_map);
		goto out;
	}
	err = 0;
	for (size_t i = 0; !err && i < g->n; i++) {
		if (a[i].name) {
			s->stats.user_named++;
			err = encoder_name(s->enc, g->frames[i].frame,
					   demangle(a[i].name, buf, NAME_MAX_BYTES), g->module,
					   a[i].addr + 1 - a[i].start);
		} else {
			s->stats.no_symbol++;
			err = encoder_name(s->enc, g->frames[i].frame, NULL, g->module, 0);
		}
	}
out:
	for (size_t i = 0; a && i < g->n; i++)
		free(a[i].name);
	free(a);
	free(buf);
	return err;
}

static int name_generated(struct symbolizer *s, struct group *g, struct generated *p)
{
	char path[40];
	int err;

	s->stats.files++;
	if (p->fd < 0)
		p->fd = perfmap_open(
			&p->place); /* many are written at the end, or when asked for */
	if (p->fd < 0) {
		g->module = encoder_module(s->enc, "//anon", NULL, 0);
		return name_without_symbols(s, g, &s->stats.no_perf_map);
	}
	s->stats.files_read++;
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", p->place.ns_pid);
	g->module = encoder_module(s->enc, path, NULL, 0);
	err = name_by_perf_map(s, g, p->fd);
	close(p->fd);
	p->fd = -1;
	return err;
}

int symbolize_user_frames(struct symbolizer *s)
{
	int err = 0;

	if (s->n_frames)
		qsort(s->frames, s->n_frames, sizeof(*s->frames), compare_frames);
	for (uint32_t i = 0; !err && i < s->n_frames;) {
		struct group g = { .frames = &s->frames[i] };
		uint32_t source = s->frames[i].source;

		while (i < s->n_frames && s->frames[i].source == source) {
			i++;
			g.n++;
		}
		if (source & GENERATED)
			err = name_generated(s, &g, &s->generated[source & ~GENERATED]);
		else
			err = name_file(s, &g, source);
	}
	return err;
}
