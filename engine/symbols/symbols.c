// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "debug_files.h"
#include "debug_names.h"
#include "common/demangle.h"

/* Longer names are shown as they are in the file. */
#define NAME_SIZE 4096u

struct symbols {
	const struct options *options;
	struct debug_files *files;
	char *path;
	struct symbols_counts counts;
};

/* A frame that debug files are asked about. */
struct wanted {
	uint64_t vaddr;
	uint32_t module, frame;
	bool needs_name, needs_places;
};

bool symbols_wanted(const struct options *o)
{
	return o->debug_dirs.n || o->debuginfod || o->inlined;
}

int symbols_new(struct symbols **out, const struct options *o)
{
	struct symbols *s = calloc(1, sizeof(*s));
	int err = s ? debug_files_new(&s->files, o) : -ENOMEM;

	*out = NULL;
	if (!err) {
		s->options = o;
		s->path = debug_files_path(s->files);
		err = s->path ? 0 : -ENOMEM;
	}
	if (err)
		symbols_free(s);
	else
		*out = s;
	return err;
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	debug_files_free(s->files);
	free(s->path);
	free(s);
}

struct symbols_counts symbols_counts(const struct symbols *s)
{
	return s->counts;
}

const char *symbols_complaint(const struct symbols *s)
{
	return debug_files_complaint(s->files);
}

/* ---- one frame ----------------------------------------------------------------------------- */

static int put_name(struct symbols *s, struct trace *t, struct debug_names *d, struct wanted *w)
{
	char buf[NAME_SIZE];
	const char *name;
	uint64_t start;

	if (!w->needs_name || !debug_names_symbol(d, w->vaddr, &name, &start))
		return 0;
	w->needs_name = false;
	s->counts.named++;
	return trace_name_frame(t, w->frame, demangle(name, buf, sizeof(buf)), w->vaddr - start);
}

static int put_places(struct symbols *s, struct trace *t, struct debug_names *d, struct wanted *w)
{
	struct debug_place places[TRACE_INLINE_MAX + 1];
	size_t n =
		w->needs_places ? debug_names_places(d, w->vaddr, places, TRACE_INLINE_MAX + 1) : 0;
	char buf[NAME_SIZE];
	int err = 0;

	if (!n)
		return 0;
	w->needs_places = false;
	s->counts.inlined += n > 1;
	for (size_t i = 0; i < n - 1 && !err; i++) {
		uint32_t id;

		err = trace_inline_frame(t, w->frame, demangle(places[i].name, buf, sizeof(buf)),
					 &id);
		if (!err)
			err = trace_locate_frame(t, id, places[i].file, places[i].line);
	}
	if (!err)
		err = trace_locate_frame(t, w->frame, places[n - 1].file, places[n - 1].line);
	return err;
}

/* ---- one module ---------------------------------------------------------------------------- */

static bool is_done(const struct wanted *w, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (w[i].needs_name || w[i].needs_places)
			return false;
	return true;
}

static int ask_file(struct symbols *s, struct trace *t, struct debug_names *d, struct wanted *w,
		    size_t n)
{
	uint64_t before = s->counts.named + s->counts.inlined;
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		err = put_name(s, t, d, &w[i]);
		if (!err)
			err = put_places(s, t, d, &w[i]);
	}
	s->counts.files += s->counts.named + s->counts.inlined != before;
	return err;
}

/* Names the n frames of a module by the first files that know them. */
static int name_module(struct symbols *s, struct trace *t, struct wanted *w, size_t n)
{
	const char *build_id = trace_module_build_id(t, w->module);
	const char *path = trace_module_path(t, w->module);
	size_t sources = debug_files_sources(s->files);
	char name[PATH_MAX];
	int err = 0;

	for (size_t i = 0; i < sources && !err && !is_done(w, n); i++) {
		int fd = debug_files_open(s->files, i, build_id, path, name, sizeof(name));
		struct debug_names *d;

		if (fd == -ENOMEM)
			return fd;
		if (fd < 0 || debug_names_open(&d, fd, name, build_id, s->path))
			continue;
		err = ask_file(s, t, d, w, n);
		debug_names_close(d);
	}
	return err;
}

/* ---- all of them --------------------------------------------------------------------------- */

static int by_module(const void *pa, const void *pb)
{
	const struct wanted *a = pa, *b = pb;

	if (a->module != b->module)
		return compare_numbers(a->module, b->module);
	return compare_numbers(a->frame, b->frame);
}

/* The frames to ask about, by module; their number. */
static size_t take_wanted(struct symbols *s, const struct trace *t, struct wanted *w)
{
	size_t n = 0;

	for (uint32_t id = 1; id < trace_frames_end(t); id++) {
		const struct trace_frame *f = trace_frame(t, id);

		if (!f || !f->space)
			continue;
		s->counts.unnamed += f->unnamed;
		if ((!f->unnamed && !s->options->inlined) ||
		    !trace_frame_vaddr(t, id, &w[n].vaddr) || !*trace_module_build_id(t, f->module))
			continue;
		w[n].module = f->module;
		w[n].frame = id;
		w[n].needs_name = f->unnamed;
		w[n].needs_places = s->options->inlined;
		n++;
	}
	if (n)
		qsort(w, n, sizeof(*w), by_module);
	return n;
}

int symbols_apply(struct symbols *s, struct trace *t)
{
	struct wanted *w = malloc(trace_frames_end(t) * sizeof(*w));
	size_t n = w ? take_wanted(s, t, w) : 0;
	int err = w ? 0 : -ENOMEM;

	for (size_t i = 0, end; i < n && !err; i = end) {
		for (end = i + 1; end < n && w[end].module == w[i].module; end++)
			;
		err = name_module(s, t, w + i, end - i);
	}
	free(w);
	return err ? err : trace_inline_stacks(t);
}
