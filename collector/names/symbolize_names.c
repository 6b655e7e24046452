// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbolize_private.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elf/debugfile.h"
#include "reader.h"

static int by_source_and_offset(const void *a, const void *b)
{
	const struct user_frame *x = a, *y = b;

	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->frame < y->frame ? -1 : x->frame > y->frame;
}

void symbolize_sort(struct user_frame *frames, size_t n)
{
	if (n)
		qsort(frames, n, sizeof(*frames), by_source_and_offset);
}

struct group symbolize_group(const struct user_frame *frames, size_t n)
{
	struct group g = { .frames = frames };

	while (g.n < n && frames[g.n].source == frames[0].source)
		g.n++;
	return g;
}

/* ---- ELF files ----------------------------------------------------------------------------- */

/*
 * "[FILE+0xSTART]" tells functions without a symbol apart. START is the link-time address, by which
 * tools find the function in the file.
 */
static const char *bounded_name(const char *path, uint64_t start, char *buf)
{
	const char *base = strrchr(path, '/');

	snprintf(buf, NAME_MAX_BYTES, "[%.*s+0x%llx]", NAME_MAX, base ? base + 1 : path,
		 (unsigned long long)start);
	return buf;
}

int symbolize_without_symbols(struct symbolizer *s, const struct group *g, uint64_t *count)
{
	int err = 0;

	*count += g->n;
	for (size_t i = 0; !err && i < g->n; i++)
		err = encoder_name(s->enc, g->frames[i].frame, NULL, g->module,
				   g->frames[i].offset == OFFSET_UNKNOWN ? 0 : g->frames[i].offset);
	return err;
}

int symbolize_module(struct symbolizer *s, struct group *g, const struct reader_file *file,
		     const char *path)
{
	int err = 0;

	g->module = encoder_module(s->enc, path, file->wanted.build_id, file->wanted.build_id_len);
	for (uint32_t i = 0; !err && i < file->n_segments; i++)
		err = encoder_segment(s->enc, g->module, file->segments[i].offset,
				      file->segments[i].bytes, file->segments[i].vaddr);
	return err;
}

int symbolize_take_name(void *ctx, size_t i, const struct reader_answer *a, const char *name)
{
	struct naming *n = ctx;
	struct symbolizer_stats *stats = &n->s->stats;

	n->n = i + 1;
	if (name)
		stats->user_named++;
	else
		stats->no_symbol++;
	if (!(a->flags & READER_MAPPED))
		return 0;
	if (!name && a->flags & READER_BOUNDED) {
		stats->bounded++;
		name = bounded_name(n->path, a->start, n->buf);
	}
	n->err = encoder_name(n->s->enc, n->g->frames[i].frame, name, n->g->module, a->value);
	return n->err;
}

int symbolize_rest(struct naming *n, uint64_t *count)
{
	struct group rest = *n->g;

	if (n->err || n->n == rest.n)
		return n->err;
	rest.frames += n->n;
	rest.n -= n->n;
	return symbolize_without_symbols(n->s, &rest, count);
}

bool symbolize_offer_debug(void *reader, int fd, enum debugfile_claim claim)
{
	return reader_add_debug(reader, fd, claim);
}

int symbolize_ask(struct reader *rd, const struct group *g)
{
	uint64_t *offsets = malloc(g->n * sizeof(*offsets));
	int err = offsets ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < g->n; i++)
		offsets[i] = g->frames[i].offset;
	if (!err)
		err = reader_offsets(rd, offsets, g->n);
	free(offsets);
	return err;
}

static int name_by_reader(struct symbolizer *s, struct group *g, struct reader *rd,
			  const struct reader_file *file, const char *path)
{
	struct naming *n = malloc(sizeof(*n));
	int err = n ? symbolize_module(s, g, file, path) : -ENOMEM;

	if (err)
		goto out;
	*n = (struct naming) { .s = s, .g = g, .path = path };
	/* What fails from here on is the reader, and costs names only. */
	if (!symbolize_ask(rd, g))
		(void)reader_find(rd, symbolize_take_name, n);
	err = symbolize_rest(n, &s->stats.no_symbol);
out:
	free(n);
	return err;
}

/* The kernel's own, as a file. */
static int open_vdso(const struct symbolizer *s)
{
	/* The kernel passes its address as a number. */
	const void *vdso = (const void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	int fd = memfd_create("vdso", MFD_CLOEXEC);

	if (fd >= 0 && write(fd, vdso, (size_t)s->vdso_len) == (ssize_t)s->vdso_len)
		return fd;
	if (fd >= 0)
		close(fd);
	return -ENOMEM;
}

static int name_file(struct symbolizer *s, struct group *g, uint32_t id)
{
	const char *path = code_files_path(s->files, id);
	enum code_kind kind = code_files_kind(s->files, id);
	struct reader_file file;
	struct reader *rd = NULL;
	int fd = -ENOENT, err;

	s->stats.files++;
	if (kind == CODE_VDSO && s->vdso_len)
		fd = open_vdso(s);
	else if (kind == CODE_FILE)
		fd = code_files_open(s->files, id);
	err = fd < 0 ? fd : reader_open(&rd, s->readers, fd, &file);
	if (kind == CODE_VDSO && fd >= 0)
		close(fd);
	if (err) {
		g->module = encoder_module(s->enc, path, NULL, 0);
		return symbolize_without_symbols(
			s, g, kind == CODE_FILE ? &s->stats.no_file : &s->stats.no_symbol);
	}
	s->stats.files_read++;
	if (!file.has_symtab &&
	    !debugfile_search(&file.wanted, kind == CODE_FILE ? fd : -1,
			      code_files_root(s->files, id), path, symbolize_offer_debug, rd))
		reader_add_minidebug(rd);
	err = name_by_reader(s, g, rd, &file, path);
	reader_close(rd);
	code_files_close(s->files, id);
	return err;
}

/* ---- generated code ------------------------------------------------------------------------ */

struct perfmap_address *symbolize_addresses(const struct group *g)
{
	struct perfmap_address *a = calloc(g->n, sizeof(*a));

	/* The byte before a return address belongs to the call. */
	for (size_t i = 0; a && i < g->n; i++) {
		a[i].addr = g->frames[i].offset - 1;
		a[i].time_ns = g->frames[i].time_ns;
	}
	return a;
}

int symbolize_take_code(void *ctx, size_t i, const struct reader_answer *a, const char *name)
{
	struct naming *n = ctx;

	n->n = i + 1;
	if (name)
		n->s->stats.user_named++;
	else
		n->s->stats.no_symbol++;
	n->err = encoder_name(n->s->enc, n->g->frames[i].frame, name, n->g->module,
			      name ? a->value : 0);
	return n->err;
}

void symbolize_open_generated(struct symbolizer *s, struct group *g, struct generated *p,
			      int *perf_map, int *jitdump)
{
	char path[40];

	*jitdump = p->jitdump ? code_files_open(s->files, p->jitdump) : -1;
	if (p->fd < 0)
		p->fd = perfmap_open(&p->place); /* many are written when the process ends */
	*perf_map = p->fd;
	snprintf(path, sizeof(path), p->fd < 0 ? "//anon" : "/tmp/perf-%u.map", p->place.ns_pid);
	g->module = encoder_module(
		s->enc, *jitdump >= 0 ? code_files_path(s->files, p->jitdump) : path, NULL, 0);
}

/* By the perf map and the jitdump. */
static int name_generated(struct symbolizer *s, struct group *g, struct generated *p)
{
	struct perfmap_address *a = symbolize_addresses(g);
	struct naming *n = malloc(sizeof(*n));
	int perf_map, jitdump, err = -ENOMEM;

	s->stats.files++;
	if (!a || !n)
		goto out;
	symbolize_open_generated(s, g, p, &perf_map, &jitdump);
	*n = (struct naming) { .s = s, .g = g };
	if ((perf_map >= 0 || jitdump >= 0) &&
	    !reader_generated(s->readers, perf_map, jitdump, a, g->n, symbolize_take_code, n))
		s->stats.files_read++;
	err = symbolize_rest(n, &s->stats.no_perf_map);
out:
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
	free(n);
	free(a);
	return err;
}

int symbolize_user_frames(struct symbolizer *s)
{
	int err = 0;

	symbolize_sort(s->frames, s->n_frames);
	for (uint32_t i = 0; !err && i < s->n_frames;) {
		struct group g = symbolize_group(&s->frames[i], s->n_frames - i);
		uint32_t source = s->frames[i].source;

		i += (uint32_t)g.n;
		if (source & GENERATED)
			err = name_generated(s, &g, &s->generated[source & ~GENERATED]);
		else
			err = name_file(s, &g, source);
	}
	return err;
}
