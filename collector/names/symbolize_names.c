// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbolize_private.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "asker.h"
#include "debugfile.h"
#include "demangle.h"
#include "elfsym.h"
#include "jitdump.h"

/* The encoder cuts longer names. */
#define NAME_MAX_BYTES 4000

/* The frames of one file, sorted by offset, and its module id in the trace. */
struct group {
	const struct user_frame *frames;
	size_t n;
	uint32_t module;
};

static int by_source_and_offset(const void *a, const void *b)
{
	const struct user_frame *x = a, *y = b;

	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->frame < y->frame ? -1 : x->frame > y->frame;
}

/* ---- ELF files ----------------------------------------------------------------------------- */

/* The name to show: without the symbol version, demangled, PLT stubs marked. */
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

/*
 * "[FILE+0xSTART]" tells functions without a symbol apart. START is the link-time address, by which
 * tools find the function in the file.
 */
static const char *bounded_name(const char *path, const struct elfsym_address *a, char *buf)
{
	const char *base = strrchr(path, '/');

	snprintf(buf, NAME_MAX_BYTES, "[%.*s+0x%llx]", NAME_MAX, base ? base + 1 : path,
		 (unsigned long long)a->start);
	return buf;
}

/* Without symbols the trace still gets file and offset. */
static int name_without_symbols(struct symbolizer *s, const struct group *g, uint64_t *count)
{
	int err = 0;

	*count += g->n;
	for (size_t i = 0; !err && i < g->n; i++)
		err = encoder_name(s->enc, g->frames[i].frame, NULL, g->module,
				   g->frames[i].offset == OFFSET_UNKNOWN ? 0 : g->frames[i].offset);
	return err;
}

/* Fills a and frame with the frames in loaded segments, as link-time addresses; returns how many.
 */
static size_t to_vaddrs(const struct elfsym *e, const struct group *g, struct elfsym_address *a,
			uint32_t *frame)
{
	size_t n = 0;

	for (size_t i = 0; i < g->n; i++) {
		uint64_t vaddr;

		if (g->frames[i].offset == OFFSET_UNKNOWN ||
		    !elfsym_vaddr(e, g->frames[i].offset, &vaddr))
			continue;
		/* Segments must be in the order of their file offsets. */
		if (n && vaddr < a[n - 1].vaddr)
			continue;
		a[n] = (struct elfsym_address) { .vaddr = vaddr };
		frame[n++] = g->frames[i].frame;
	}
	return n;
}

/* The file, with what it takes to name its frames later on another machine. */
static int put_module(struct symbolizer *s, struct group *g, const struct elfsym *e,
		      const char *path)
{
	uint8_t id[ELFSYM_BUILD_ID_MAX];
	struct elfsym_segment seg;
	int err = 0;

	g->module = encoder_module(s->enc, path, id, elfsym_build_id(e, id));
	for (size_t i = 0; !err && elfsym_code(e, i, &seg); i++)
		err = encoder_segment(s->enc, g->module, seg.offset, seg.bytes, seg.vaddr);
	return err;
}

static bool has_nameless(const struct elfsym_address *a, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!a[i].name)
			return true;
	return false;
}

/* True if a server had the debug file. */
static bool ask_servers(struct symbolizer *s, struct elfsym *e)
{
	uint8_t id[ELFSYM_BUILD_ID_MAX];
	size_t len = elfsym_build_id(e, id);
	int fd = len ? asker_ask(s->asker, id, len) : -ENOENT;

	if (fd >= 0)
		debugfile_add_fd(e, fd);
	return fd >= 0;
}

/* is_asked: servers may have a debug file, this machine has none. */
static int name_by_elf(struct symbolizer *s, struct group *g, struct elfsym *e, const char *path,
		       bool is_asked)
{
	struct elfsym_address *a = malloc(g->n * sizeof(*a));
	uint32_t *frame = malloc(g->n * sizeof(*frame));
	char *plain = malloc(2 * NAME_MAX_BYTES), *buf;
	size_t n;
	int err = -ENOMEM;

	if (!a || !frame || !plain)
		goto out;
	buf = plain + NAME_MAX_BYTES;
	err = put_module(s, g, e, path);
	if (err)
		goto out;
	n = to_vaddrs(e, g, a, frame);
	s->stats.no_symbol += g->n - n;
	elfsym_find(e, a, n);
	if (is_asked && has_nameless(a, n) && ask_servers(s, e))
		elfsym_find(e, a, n);
	elfsym_find_bounds(e, a, n);
	for (size_t i = 0; !err && i < n; i++) {
		const char *name = a[i].name	     ? readable(&a[i], buf, plain)
				   : a[i].is_bounded ? bounded_name(path, &a[i], buf)
						     : NULL;

		if (a[i].name)
			s->stats.user_named++;
		else
			s->stats.no_symbol++;
		s->stats.bounded += a[i].is_bounded;
		err = encoder_name(s->enc, frame[i], name, g->module,
				   name ? a[i].vaddr - a[i].start : a[i].vaddr);
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
	bool is_whole;

	s->stats.files++;
	if (kind == CODE_VDSO && s->vdso_len) {
		/* The kernel passes its address as a number. */
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
	is_whole =
		elfsym_has_symtab(e) || debugfile_add(e, fd, code_files_root(s->files, file), path);
	err = name_by_elf(s, g, e, path, s->asker && kind == CODE_FILE && !is_whole);
	elfsym_close(e);
	code_files_close(s->files, file);
	return err;
}

/* ---- generated code ------------------------------------------------------------------------ */

/* The n frames as addresses; to be freed with free_addresses(). NULL: out of memory. */
static struct perfmap_address *to_addresses(const struct group *g)
{
	struct perfmap_address *a = calloc(g->n, sizeof(*a));

	/* The byte before a return address belongs to the call. */
	for (size_t i = 0; a && i < g->n; i++) {
		a[i].addr = g->frames[i].offset - 1;
		a[i].time_ns = g->frames[i].time_ns;
	}
	return a;
}

static void free_addresses(struct perfmap_address *a, size_t n)
{
	for (size_t i = 0; a && i < n; i++)
		free(a[i].name);
	free(a);
}

static int put_addresses(struct symbolizer *s, const struct group *g,
			 const struct perfmap_address *a)
{
	char *buf = malloc(NAME_MAX_BYTES);
	int err = buf ? 0 : -ENOMEM;

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
	free(buf);
	return err;
}

/* By the perf map, and where a jitdump knows better, by that. */
static int name_generated(struct symbolizer *s, struct group *g, struct generated *p)
{
	struct perfmap_address *a = to_addresses(g);
	int fd = p->jitdump ? code_files_open(s->files, p->jitdump) : -1, err;
	bool is_read = false;
	char path[40];

	s->stats.files++;
	if (!a)
		return -ENOMEM;
	if (p->fd < 0)
		p->fd = perfmap_open(&p->place); /* many are written when the process ends */
	snprintf(path, sizeof(path), p->fd < 0 ? "//anon" : "/tmp/perf-%u.map", p->place.ns_pid);
	if (p->fd >= 0) {
		is_read = !perfmap_find(p->fd, a, g->n);
		close(p->fd);
		p->fd = -1;
	}
	if (fd >= 0 && !jitdump_find(fd, a, g->n))
		is_read = true;
	s->stats.files_read += is_read;
	g->module = encoder_module(s->enc, fd >= 0 ? code_files_path(s->files, p->jitdump) : path,
				   NULL, 0);
	err = is_read ? put_addresses(s, g, a) : name_without_symbols(s, g, &s->stats.no_perf_map);
	free_addresses(a, g->n);
	return err;
}

int symbolize_user_frames(struct symbolizer *s)
{
	int err = 0;

	if (s->n_frames)
		qsort(s->frames, s->n_frames, sizeof(*s->frames), by_source_and_offset);
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
