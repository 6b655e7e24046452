// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbolize_private.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#include "priority.h"
#include "procmaps.h"

/* Some 5000 mappings; what a CPU does between two polls is far below that. */
#define SIDEBAND_RING_BYTES (512u << 10)
/* Of many short-lived processes those of so long are looked at together. */
#define PAUSE_US 300u
/* Stacks come through a ring buffer of their own, at most this much later. */
#define GRACE_NS 5000000000u
/* Likewise the mappings of a process whose mmap records may be missing. */
#define PROC_INTERVAL_NS 1000000000u
/* Processes with generated code whose root directories, or perf maps, are kept open. */
#define ROOTS_MAX 1024u
/* For how long names of user functions are looked up where nothing else wants to run. */
#define PATIENCE_MS 500u

uint64_t symbolize_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void *symbolize_grow(void *p, uint32_t n, uint32_t *cap, size_t size)
{
	uint32_t new_cap = *cap ? *cap * 2 : 256;
	void *grown;

	if (n < *cap)
		return p;
	if (new_cap < *cap)
		return NULL;
	grown = realloc(p, new_cap * size);
	if (grown)
		*cap = new_cap;
	return grown;
}

/* ---- what happens -------------------------------------------------------------------------- */

static struct image *read_image(struct symbolizer *s, uint32_t tgid, uint64_t time_ns)
{
	struct image *i = images_found(s->images, tgid, time_ns);

	if (i) {
		i->read_ns = symbolize_now_ns();
		procmaps_read(s->images, s->files, i, time_ns);
	}
	return i;
}

/* While the process lives, for it may be gone when a stack of its comes along. */
static void locate_perf_map(const struct symbolizer *s, struct image *i)
{
	if (i->place || i->generated)
		return;
	i->place = malloc(sizeof(*i->place));
	if (i->place)
		(void)perfmap_locate(i->place, i->tgid, s->n_generated < ROOTS_MAX);
}

static void take_mapping(struct symbolizer *s, const struct sideband_record *r)
{
	struct image *i = images_find(s->images, r->tgid, r->time_ns);
	struct mapping m = {
		.start = r->addr,
		.end = r->addr + r->len,
		.pgoff = r->pgoff,
		.time_ns = r->time_ns,
	};
	struct code_place place = {
		.tgid = r->tgid,
		.start = m.start,
		.end = m.end,
		.maj = r->maj,
		.min = r->min,
		.ino = r->ino,
		.path = r->name,
	};

	if (!i)
		i = read_image(s, r->tgid, r->time_ns); /* its fork was lost */
	if (!i)
		return;
	place.parent = i->parent;
	m.file = code_files_get(s->files, &place);
	if (m.file && code_files_kind(s->files, m.file) == CODE_GENERATED)
		locate_perf_map(s, i);
	if (m.file)
		images_map(s->images, images_replace(s->images, i, &m), &m);
}

static void take_record(void *ctx, const struct sideband_record *r)
{
	struct symbolizer *s = ctx;

	switch (r->kind) {
	case SIDEBAND_MMAP:
		take_mapping(s, r);
		break;
	case SIDEBAND_FORK:
		images_fork(s->images, r->tgid, r->parent, r->time_ns);
		break;
	case SIDEBAND_EXEC:
		images_exec(s->images, r->tgid, r->time_ns, r->name);
		break;
	case SIDEBAND_EXIT:
		if (r->tid == r->tgid)
			images_exit(s->images, r->tgid, r->time_ns);
		break;
	case SIDEBAND_KSYMBOL:
		/* Code that cannot be kept, for want of memory, is code without a name. */
		if (s->kallsyms && r->len <= UINT32_MAX)
			(void)kallsyms_add(s->kallsyms, r->addr, (uint32_t)r->len, r->name);
		break;
	}
}

void symbolizer_poll(struct symbolizer *s)
{
	if (s->images)
		images_expire(s->images, symbolize_now_ns(), GRACE_NS);
	if (s->sideband)
		s->polled_ns = sideband_poll(s->sideband, take_record, s);
}

/* ---- beginning and end --------------------------------------------------------------------- */

/* The vdso is the same code in every process, and we have it, too. */
static void measure_vdso(struct symbolizer *s)
{
	uint64_t addr = getauxval(AT_SYSINFO_EHDR);
	const struct image *self = images_find(s->images, (uint32_t)getpid(), UINT64_MAX);
	const struct mapping *m = self && addr ? image_mapping(self, addr, UINT64_MAX) : NULL;

	if (m && m->start == addr && code_files_kind(s->files, m->file) == CODE_VDSO)
		s->vdso_len = m->end - m->start;
}

static bool begin(struct symbolizer *s)
{
	bool user = s->parts & SYMBOLIZER_USER;

	if (user) {
		s->files = code_files_new();
		s->images = s->files ? images_new(s->files) : NULL;
		if (!s->images)
			return false;
	}
	/* Before the state is taken, so that nothing falls between. */
	s->sideband_error = sideband_open(&s->sideband, SIDEBAND_RING_BYTES, user);
	if (s->parts & SYMBOLIZER_KERNEL) {
		s->kallsyms = kallsyms_new();
		if (!s->kallsyms)
			return false;
		s->kernel_error = kallsyms_load(s->kallsyms, KALLSYMS_PATH);
		s->kallsyms_ns = symbolize_now_ns();
	}
	if (user) {
		procmaps_read_all(s->images, s->files, symbolize_now_ns);
		measure_vdso(s);
	}
	symbolizer_poll(s);
	return true;
}

struct symbolizer *symbolizer_new(struct encoder *enc, unsigned int parts)
{
	struct symbolizer *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->enc = enc;
	s->parts = parts;
	if (!begin(s)) {
		symbolizer_free(s);
		return NULL;
	}
	return s;
}

void symbolizer_free(struct symbolizer *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->n_generated; i++) {
		perfmap_forget(&s->generated[i].place);
		if (s->generated[i].fd >= 0)
			close(s->generated[i].fd);
	}
	for (uint32_t i = 0; i < s->n_modules; i++)
		free(s->modules[i].name);
	sideband_close(s->sideband);
	sideband_close(s->unwatched);
	kallsyms_free(s->kallsyms);
	images_free(s->images);
	code_files_free(s->files);
	free(s->generated);
	free(s->modules);
	free(s->nameless);
	free(s->spaces);
	free(s->file_spaces);
	free(s->frames);
	free(s);
}

void symbolizer_status(const struct symbolizer *s, int *kernel, int *sideband)
{
	*kernel = s->kernel_error;
	*sideband = s->sideband_error;
}

/* ---- user frames --------------------------------------------------------------------------- */

static bool keep_space(struct symbolizer *s, struct image *i)
{
	if (i->space > s->n_spaces) {
		struct image **spaces = realloc(s->spaces, i->space * 2 * sizeof(struct image *));

		if (!spaces)
			return false;
		memset(spaces + s->n_spaces, 0, (i->space * 2 - s->n_spaces) * sizeof(*spaces));
		s->spaces = spaces;
		s->n_spaces = i->space * 2;
	}
	s->spaces[i->space - 1] = i;
	return true;
}

uint32_t symbolizer_space(struct symbolizer *s, uint32_t tgid, uint64_t time_ns)
{
	struct image *i;

	if (!s->images)
		return 0;
	if (time_ns > s->polled_ns)
		symbolizer_poll(s);
	i = images_find(s->images, tgid, time_ns);
	if (!i)
		i = read_image(s, tgid, time_ns);
	if (!i)
		return 0;
	if (!i->space) {
		i->space = encoder_space(s->enc, tgid, image_exe(i));
		if (i->space && !keep_space(s, i))
			i->space = 0;
	}
	return i->space;
}

/* A place for one more of s->generated, which the caller fills; NULL when out of memory. */
static struct generated *generated_place(struct symbolizer *s)
{
	struct generated *g = s->generated;

	if (s->free_generated) {
		while (g->tgid)
			g++;
		s->free_generated--;
		return g;
	}
	g = realloc(s->generated, (s->n_generated + 1) * sizeof(*g));
	if (!g)
		return NULL;
	s->generated = g;
	return g + s->n_generated++;
}

/* Generated code is named by its process's perf map, which may be gone when the process is. */
static uint32_t generated_source(struct symbolizer *s, struct image *i)
{
	struct generated *g;
	uint32_t n;

	if (i->generated)
		return GENERATED | (i->generated - 1);
	g = generated_place(s);
	if (!g)
		return 0;
	n = (uint32_t)(g - s->generated);
	g->tgid = i->tgid;
	/* Its user may have changed since it mapped the code. */
	if (perfmap_locate(&g->place, i->tgid, n < ROOTS_MAX) && i->place) {
		g->place = *i->place;
		i->place->root = -1;
	}
	g->fd = perfmap_open(&g->place);
	if (g->fd >= 0)
		perfmap_forget(&g->place);
	if (g->fd >= 0 && n >= ROOTS_MAX) {
		close(g->fd);
		g->fd = -1; /* to be opened again at the end */
	}
	i->generated = n + 1;
	return GENERATED | n;
}

/* The mapping at addr; from /proc, now and then, where the sideband is or may be incomplete. */
static const struct mapping *find_mapping(struct symbolizer *s, struct image *i, uint64_t addr,
					  uint64_t time_ns)
{
	const struct mapping *m = image_mapping(i, addr, time_ns);
	uint64_t now;

	if (m || i->ended || (s->sideband && !sideband_lost(s->sideband)))
		return m;
	now = symbolize_now_ns();
	if (now - i->read_ns < PROC_INTERVAL_NS)
		return NULL;
	i->read_ns = now;
	procmaps_read(s->images, s->files, i, time_ns);
	return image_mapping(i, addr, time_ns);
}

static struct image *space_image(const struct symbolizer *s, uint32_t space)
{
	return space && space <= s->n_spaces ? s->spaces[space - 1] : NULL;
}

bool symbolizer_holds(struct symbolizer *s, uint32_t space, uint64_t time_ns)
{
	if (time_ns > s->polled_ns)
		symbolizer_poll(s);
	/* Of an image that is forgotten nobody knows any more. */
	return space_image(s, space) && image_holds(space_image(s, space), time_ns);
}

const struct mapping *symbolize_mapping(struct symbolizer *s, uint32_t space, uint64_t addr,
					uint64_t time_ns)
{
	struct image *i = space_image(s, space);

	return i ? find_mapping(s, i, addr, time_ns) : NULL;
}

bool symbolizer_is_code(struct symbolizer *s, uint32_t space, uint64_t addr, uint64_t time_ns)
{
	struct image *i = space_image(s, space);

	if (!i || !i->maps || !i->maps->n)
		return true;
	return find_mapping(s, i, addr, time_ns) || !s->sideband || sideband_lost(s->sideband);
}

void symbolizer_frame(struct symbolizer *s, uint32_t frame, uint32_t space, uint64_t addr,
		      uint64_t time_ns)
{
	struct user_frame u = { .frame = frame };
	const struct mapping *m;
	struct image *i = space_image(s, space);
	void *p;

	s->stats.user_frames++;
	m = symbolize_mapping(s, space, addr, time_ns);
	p = m ? symbolize_grow(s->frames, s->n_frames, &s->cap_frames, sizeof(*s->frames)) : NULL;
	if (!p) {
		s->stats.unmapped++;
		return;
	}
	s->frames = p;
	switch (code_files_kind(s->files, m->file)) {
	case CODE_GENERATED:
		u.source = generated_source(s, i);
		u.offset = addr;
		break;
	case CODE_VDSO:
		u.source = m->file;
		/* Of another size it is that of another kind of program, 32-bit on 64-bit. */
		u.offset = m->end - m->start == s->vdso_len ? addr - m->start : OFFSET_UNKNOWN;
		break;
	case CODE_FILE:
	case CODE_SPECIAL:
		u.source = m->file;
		u.offset = addr - m->start + m->pgoff;
		break;
	}
	if (!u.source) {
		s->stats.unmapped++;
		return;
	}
	if (!(u.source & GENERATED))
		code_files_hold(s->files, u.source);
	s->frames[s->n_frames++] = u;
}

static int name_user_frames(void *s)
{
	return symbolize_user_frames(s);
}

void symbolizer_wait(struct symbolizer *s, int timeout_ms)
{
	uint64_t now_ns = symbolize_now_ns();
	uint64_t end_ns = now_ns + (uint64_t)timeout_ms * 1000000u;

	for (; now_ns < end_ns; now_ns = symbolize_now_ns()) {
		int left_ms = (int)((end_ns - now_ns + 999999u) / 1000000u);

		if (!s->sideband || !s->images) {
			poll(NULL, 0, left_ms);
			return;
		}
		if (!sideband_wait(s->sideband, left_ms))
			return;
		symbolizer_poll(s);
		if (usleep(PAUSE_US))
			return; /* a signal */
	}
}

int symbolizer_finish(struct symbolizer *s, struct symbolizer_stats *stats)
{
	uint64_t start_ns = symbolize_now_ns();
	int err;

	symbolizer_poll(s);
	err = symbolize_kernel_frames(s);
	if (!err)
		err = priority_run_low(name_user_frames, s, PATIENCE_MS);
	s->stats.sideband_lost = s->sideband ? sideband_lost(s->sideband) : 0;
	s->stats.processes = s->images ? (uint32_t)images_made(s->images) : 0;
	s->stats.kernel_error = s->kernel_error;
	s->stats.sideband_error = s->sideband_error;
	s->stats.lookup_us = (symbolize_now_ns() - start_ns) / 1000;
	if (stats)
		*stats = s->stats;
	return err;
}
