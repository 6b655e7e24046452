// SPDX-License-Identifier: GPL-2.0-or-later
/* User frames while they are recorded: their address space, and their place in a file. */
#include "symbolize_private.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/grow.h"
#include "kernel/clock.h"
#include "kernel/host_proc.h"

/* Where mmap records may be missing, /proc/PID/maps is read again, at most this often. */
#define PROC_INTERVAL_NS 1000000000u
/* So soon where there are no such records, in a process that has just begun: it maps its libraries.
 */
#define PROC_SOON_NS 10000000u

/* ---- address spaces -------------------------------------------------------------------------- */

/*
 * Whether the process still ran the program of i when its stack came. In another PID namespace than
 * the host's its exec is told by another ring, maybe later than its stacks: what ended meanwhile
 * may have run another program.
 */
static bool is_sure(const struct image *i)
{
	return host_proc_is_here() || i->newer || procmaps_runs_program(i);
}

uint32_t symbolizer_space(struct symbolizer *s, uint32_t tgid, uint64_t time_ns)
{
	struct image *i;

	if (!s->images)
		return 0;
	if (time_ns > s->polled_ns)
		symbolize_take_in(s);
	i = images_find(s->images, tgid, time_ns);
	if (!i || !is_sure(i))
		i = symbolize_read_image(s, tgid, time_ns);
	if (!i)
		return 0;
	if (!i->space) {
		uint32_t space = encoder_space(s->enc, tgid, image_exe(i));

		if (space)
			images_set_space(s->images, i, space);
	}
	return i->space;
}

/* In another PID namespace than the host's the sideband has no ids of the host's processes. */
static bool may_miss_mappings(const struct symbolizer *s)
{
	return !s->sideband || sideband_lost(s->sideband) || !host_proc_is_here();
}

static bool is_late(const struct image *i)
{
	return i->late && i->late < PROCMAPS_LATE_MAX;
}

static uint64_t reading_interval(const struct image *i, uint64_t now_ns)
{
	uint64_t age_ns = now_ns > i->start_ns ? now_ns - i->start_ns : 0;

	/* On a busy machine, and when many others take long: soon, then less and less often. */
	if (is_late(i))
		return (uint64_t)PROC_SOON_NS << i->late;
	if (host_proc_is_here() || age_ns / 4 > PROC_INTERVAL_NS)
		return PROC_INTERVAL_NS;
	return PROC_SOON_NS + age_ns / 4;
}

/* The mapping at addr; re-reads /proc if records of the sideband may be missing. */
static const struct mapping *find_mapping(struct symbolizer *s, struct image *i, uint64_t addr,
					  uint64_t time_ns)
{
	const struct mapping *m = image_mapping(i, addr, time_ns);
	uint64_t now;

	if (m || i->ended || i->overflowed || !(i->late || may_miss_mappings(s)))
		return m;
	now = clock_now_ns();
	if (now - i->read_ns < reading_interval(i, now))
		return NULL;
	i->read_ns = now;
	procmaps_read(s->images, s->files, i, time_ns);
	return image_mapping(i, addr, time_ns);
}

static struct image *space_image(const struct symbolizer *s, uint32_t space)
{
	return s->images ? images_of_space(s->images, space) : NULL;
}

bool symbolizer_is_late(const struct symbolizer *s, uint32_t space)
{
	const struct image *i = space_image(s, space);

	return i && !i->ended && !i->overflowed && is_late(i);
}

bool symbolizer_is_gone(const struct symbolizer *s, uint32_t space)
{
	const struct image *i = space_image(s, space);

	return i && images_is_gone(s->images, i);
}

bool symbolizer_is_valid_at(struct symbolizer *s, uint32_t space, uint64_t time_ns)
{
	if (time_ns > s->polled_ns)
		symbolize_take_in(s);
	/* An image that is forgotten holds for nothing. */
	return space_image(s, space) && image_is_valid_at(space_image(s, space), time_ns);
}

bool symbolizer_is_code(struct symbolizer *s, uint32_t space, uint64_t addr, uint64_t time_ns)
{
	struct image *i = space_image(s, space);

	if (!i || !i->maps || !i->maps->n)
		return true;
	return find_mapping(s, i, addr, time_ns) || may_miss_mappings(s);
}

bool symbolizer_code(struct symbolizer *s, uint32_t space, uint64_t addr, uint64_t time_ns,
		     struct symbolizer_code *out)
{
	struct image *i = space_image(s, space);
	const struct mapping *m = i ? find_mapping(s, i, addr, time_ns) : NULL;

	if (!m)
		return false;
	*out = (struct symbolizer_code) {
		.kind = code_files_kind(s->files, m->file),
		.file = m->file,
		.offset = addr - m->start + m->pgoff,
	};
	if (out->kind == CODE_VDSO) {
		out->offset = addr - m->start;
		/* That of 32-bit programs on a 64-bit kernel may have the same size, but lies in
		 * their 4 GiB. */
		if (m->end - m->start != s->vdso_len || !(m->start >> 32)) {
			out->kind = CODE_SPECIAL;
			out->offset = UINT64_MAX;
		}
	}
	return true;
}

bool symbolizer_is_stale(struct symbolizer *s, uint32_t space, uint64_t addr, uint64_t time_ns)
{
	struct image *i = space_image(s, space);
	const struct mapping *m;

	if (!i || time_ns >= i->sure_ns)
		return false;
	m = find_mapping(s, i, addr, time_ns);
	return m && m->time_ns >= i->doubt_ns;
}

uint32_t symbolizer_trusted_prefix(struct symbolizer *s, uint32_t space, const __u64 *frames,
				   uint32_t n, uint64_t time_ns, bool *in_doubt)
{
	uint32_t i = 0;

	*in_doubt = false;
	while (space && i < n && !*in_doubt) {
		uint64_t addr = wire_address(frames[i]);

		/* In a trace that would be interpreted code, also where it is not known what is
		 * mapped. */
		if (addr & CHAINLOG_CODE_TAG)
			break;
		/* Whether it is one is known where it is named. */
		if (s->jvms.code && wire_is_java_method(addr)) {
			i++;
			continue;
		}
		if (i && !symbolizer_is_code(s, space, addr, time_ns))
			break;
		*in_doubt = symbolizer_is_stale(s, space, addr, time_ns);
		i++;
	}
	return i;
}

struct code_files *symbolizer_files(struct symbolizer *s)
{
	return s->files;
}

void symbolize_free_generated(struct symbolizer *s, struct generated *g)
{
	perfmap_forget(&g->place);
	if (g->fd >= 0)
		close(g->fd);
	g->fd = -1;
	if (g->jitdump)
		code_files_put(s->files, g->jitdump);
	g->jitdump = 0;
	runtimes_forget(s, g);
	g->tgid = 0;
	s->free_generated++;
	s->ended_generated -= g->has_ended;
	g->has_ended = false;
}

/* What it was seen in is named soon (symbolize_early.c). */
static void end_generated(void *symbolizer, struct image *i)
{
	struct symbolizer *s = symbolizer;

	if (!i->generated)
		return;
	s->generated[i->generated - 1].has_ended = true;
	s->ended_generated++;
}

void symbolizer_forget_space(struct symbolizer *s, uint32_t space)
{
	struct image *i = space_image(s, space);

	if (!i)
		return;
	if (i->generated)
		symbolize_free_generated(s, &s->generated[i->generated - 1]);
	i->generated = 0;
	images_release(s->images, i);
}

void symbolizer_forget_ended(struct symbolizer *s)
{
	uint32_t count;

	/* With -K there are no images. */
	if (!s->images || images_count(s->images) < s->forget_at)
		return;
	images_release_expired(s->images, end_generated, s);
	/* Amortized: going over all images costs no more than making them did. */
	count = images_count(s->images);
	s->forget_at = count + count / 2 + 1024;
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* NULL when out of memory. */
static struct file_source *file_source(struct symbolizer *s, uint32_t file)
{
	if (file > s->n_file_sources) {
		uint32_t n = file * 2;
		struct file_source *grown = realloc(s->file_sources, n * sizeof(*grown));

		if (!grown)
			return NULL;
		memset(grown + s->n_file_sources, 0, (n - s->n_file_sources) * sizeof(*grown));
		s->file_sources = grown;
		s->n_file_sources = n;
	}
	return &s->file_sources[file - 1];
}

/* The encoder's space for a file; 0 when out of memory. */
static uint32_t file_space(struct symbolizer *s, uint32_t file)
{
	struct file_source *source = file_source(s, file);

	if (!source)
		return 0;
	if (!source->space) {
		source->space = encoder_space(s->enc, 0, code_files_path(s->files, file));
		/* Keeps the file's id from being reused. */
		if (source->space)
			code_files_hold(s->files, file);
	}
	return source->space;
}

void symbolizer_locate(struct symbolizer *s, uint32_t *space, uint64_t *addr, uint64_t time_ns)
{
	uint64_t exact = wire_is_exact(*addr) ? WIRE_EXACT : 0;
	struct symbolizer_code code;
	uint32_t id;

	/* Others differ between processes. */
	if (!symbolizer_code(s, *space, wire_address(*addr), time_ns, &code) ||
	    (code.kind != CODE_FILE && code.kind != CODE_VDSO))
		return;
	id = file_space(s, code.file);
	if (!id)
		return;
	*space = id;
	*addr = code.offset ^ exact;
}

/* A free entry of s->generated, which the caller fills; NULL when out of memory or of room. */
static struct generated *new_generated(struct symbolizer *s)
{
	struct generated *g = s->generated;

	if (s->free_generated) {
		while (g->tgid)
			g++;
		s->free_generated--;
		return g;
	}
	if (s->n_generated == GENERATED_MAX)
		return NULL;
	g = realloc(s->generated, (s->n_generated + 1) * sizeof(*g));
	if (!g)
		return NULL;
	s->generated = g;
	return g + s->n_generated++;
}

/* The jitdump that the process has mapped, with a reference; 0: none. */
static uint32_t find_jitdump(const struct symbolizer *s, const struct image *i)
{
	for (uint32_t k = 0; i->maps && k < i->maps->n; k++) {
		uint32_t file = i->maps->list[k].file;

		if (code_files_kind(s->files, file) == CODE_FILE &&
		    jitdump_is_name(code_files_path(s->files, file))) {
			code_files_hold(s->files, file);
			return file;
		}
	}
	return 0;
}

/* The process's perf map names the code, and may be deleted when the process ends. */
static uint32_t generated_source(struct symbolizer *s, struct image *i)
{
	struct generated *g;
	uint32_t n;

	if (i->generated)
		return GENERATED | (i->generated - 1);
	g = new_generated(s);
	if (!g)
		return 0;
	n = (uint32_t)(g - s->generated);
	g->tgid = i->tgid;
	/* The process may have changed its user since it mapped the code. */
	if (perfmap_locate(&g->place, i->tgid, code_files_roots(s->files)) && i->place) {
		g->place = *i->place;
		i->place->root = 0;
	}
	g->fd = perfmap_open(&g->place);
	if (g->fd >= 0)
		perfmap_forget(&g->place);
	if (g->fd >= 0 && n >= MAPS_OPEN_MAX) {
		close(g->fd);
		g->fd = -1; /* opened again at the end */
	}
	g->jitdump = find_jitdump(s, i);
	g->frames = g->late = 0;
	g->has_ended = false;
	runtimes_find(s, g, i);
	i->generated = n + 1;
	return GENERATED | n;
}

/* Where the code is that was at addr, which may be WIRE_EXACT, in space at time_ns. False: in no
 * mapping. */
static bool find_place(struct symbolizer *s, uint32_t space, uint64_t addr, uint64_t time_ns,
		       struct symbolizer_place *p)
{
	bool is_exact = wire_is_exact(addr);
	struct symbolizer_code code;

	*p = (struct symbolizer_place) { .is_exact = is_exact };
	if (!symbolizer_code(s, space, wire_address(addr), time_ns, &code))
		return false;
	if (code.kind == CODE_GENERATED) {
		p->offset = wire_address(addr);
		p->source = generated_source(s, space_image(s, space));
	} else {
		p->offset = code.offset;
		p->source = code.file;
	}
	return p->source;
}

static struct user_frame frame_at(uint32_t frame, const struct symbolizer_place *p,
				  uint64_t time_ns)
{
	return (struct user_frame) {
		.source = p->source,
		.frame = frame,
		.is_exact = p->is_exact,
		.ret = (p->offset < OFFSET_UNKNOWN ? p->offset + p->is_exact : UINT64_MAX) &
		       OFFSET_UNKNOWN,
		.time_ns = time_ns,
	};
}

uint32_t *symbolize_waiting(struct symbolizer *s, uint32_t source)
{
	struct file_source *file;

	if (source & GENERATED)
		return &s->generated[source & ~GENERATED].frames;
	file = file_source(s, source);
	return file ? &file->frames : NULL;
}

/* False: out of memory, or too many wait for their names already. */
static bool add_frame(struct symbolizer *s, struct user_frame u)
{
	uint32_t *n = symbolize_waiting(s, u.source);

	if (!n || *n == SOURCE_FRAMES_MAX || s->n_frames == FRAMES_MAX)
		return false;
	if (!GROW(s->frames, s->n_frames, s->cap_frames))
		return false;
	s->frames[s->n_frames++] = u;
	++*n;
	return true;
}

void symbolizer_frame(struct symbolizer *s, uint32_t frame, uint32_t space, uint64_t addr,
		      uint64_t time_ns)
{
	struct symbolizer_place p;

	s->stats.user_frames++;
	if (!find_place(s, space, addr, time_ns, &p))
		s->stats.unmapped++;
	else if (!add_frame(s, frame_at(frame, &p, time_ns)))
		s->stats.too_many++;
	else if (!(p.source & GENERATED))
		code_files_hold(s->files, p.source);
}

/* ---- for the flight recorder ----------------------------------------------------------------- */

struct symbolizer_place symbolizer_place(struct symbolizer *s, uint32_t space, uint64_t addr,
					 uint64_t time_ns)
{
	struct symbolizer_place p;

	s->keeps_places = true;
	s->stats.user_frames++;
	if (!find_place(s, space, addr, time_ns, &p))
		s->stats.unmapped++;
	else if (!(p.source & GENERATED))
		code_files_hold(s->files, p.source);
	return p;
}

void symbolizer_release(struct symbolizer *s, const struct symbolizer_place *p)
{
	if (p->source && !(p->source & GENERATED))
		code_files_put(s->files, p->source);
}

void symbolizer_placed_frame(struct symbolizer *s, uint32_t frame, const struct symbolizer_place *p)
{
	s->stats.user_frames++;
	if (!p->source)
		s->stats.unmapped++;
	else if (!add_frame(s, frame_at(frame, p, UINT64_MAX)))
		s->stats.too_many++;
}
