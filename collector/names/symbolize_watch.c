// SPDX-License-Identifier: GPL-2.0-or-later
/* What the machine maps and runs, by the records of the sideband; and how long the end may take. */
#include "symbolize_private.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/clock.h"
#include "kernel/host_proc.h"

/* Stacks come through another ring buffer, at most this much later. */
#define GRACE_NS 5000000000u
/* What may still be taken once somebody waits for the end. */
#define HURRY_NS 2000000000u

struct image *symbolize_read_image(struct symbolizer *s, uint32_t tgid, uint64_t time_ns)
{
	struct image *i = images_found(s->images, tgid, time_ns);

	if (i) {
		i->read_ns = clock_now_ns();
		/* Elsewhere nothing else may tell that it has ended. */
		if (procmaps_read(s->images, s->files, i, time_ns) && !host_proc_is_here() &&
		    !host_proc_lives(tgid))
			images_exit(s->images, tgid, time_ns);
	}
	return i;
}

/* While the process lives: it may have ended when its first stack arrives. */
static void locate_perf_map(const struct symbolizer *s, struct image *i)
{
	if (i->place || i->generated)
		return;
	i->place = malloc(sizeof(*i->place));
	if (i->place)
		(void)perfmap_locate(i->place, i->tgid, code_files_roots(s->files));
}

static void take_mapping(struct symbolizer *s, const struct sideband_record *r)
{
	struct image *i = images_find(s->images, r->tgid, r->time_ns), *new_image;
	struct mapping m = {
		.start = r->addr,
		.end = r->addr + r->len,
		.pgoff = r->pgoff,
		.time_ns = r->time_ns,
	};
	char *name; /* the program's, which is mapped first */
	struct code_place place = {
		.tgid = r->tgid,
		.start = m.start,
		.end = m.end,
		.maj = r->maj,
		.min = r->min,
		.ino = r->ino,
		.generation = r->generation,
		.path = r->name,
	};

	if (!i)
		i = symbolize_read_image(s, r->tgid, r->time_ns); /* its fork was lost */
	if (!i)
		return;
	if (i->overflowed) { /* as cheap as it can be: it may do nothing else */
		if (s->on_replace)
			s->on_replace(s->on_replace_ctx, r->tgid);
		return;
	}
	place.parent = i->parent;
	name = i->maps && i->maps->exe ? NULL : code_files_find_name(s->files, &place, i->comm);
	place.name = name ? name : image_is_program(i, r->name) ? i->maps->name : NULL;
	m.file = code_files_get(s->files, &place);
	free(name);
	if (!m.file) {
		images_overflow(s->images, i);
		return;
	}
	if (s->watch)
		s->watch->mapped(s->watch_ctx, r->tgid, &m);
	if (code_files_kind(s->files, m.file) == CODE_GENERATED)
		locate_perf_map(s, i);
	new_image = images_replace(s->images, i, &m);
	images_map(s->images, new_image, &m);
	new_image =
		images_find(s->images, r->tgid, r->time_ns); /* it may be given up from now on */
	if (new_image != i && r->time_ns > s->replaced_ns)
		s->replaced_ns = r->time_ns;
	if ((new_image != i || new_image->overflowed) && s->on_replace)
		s->on_replace(s->on_replace_ctx, r->tgid);
	if (new_image == i)
		return;
	new_image->doubt_ns = r->time_ns < i->sure_ns ? i->doubt_ns : r->time_ns;
	new_image->sure_ns = clock_now_ns();
}

/* The BPF side gave the child its parent's rules, maybe of code that was there before. */
static void take_fork(struct symbolizer *s, const struct sideband_record *r)
{
	const struct image *parent = images_find(s->images, r->parent, r->time_ns);
	struct image *child;

	images_fork(s->images, r->tgid, r->parent, r->time_ns);
	if (s->watch && r->tgid != r->parent)
		s->watch->forked(s->watch_ctx, r->tgid, r->parent);
	if (!parent || r->time_ns >= parent->sure_ns || r->tgid == r->parent)
		return;
	child = images_find(s->images, r->tgid, r->time_ns);
	if (!child)
		return;
	if (s->on_replace)
		s->on_replace(s->on_replace_ctx, r->tgid);
	child->doubt_ns = parent->doubt_ns;
	child->sure_ns = clock_now_ns();
}

void symbolizer_share(struct symbolizer *s, uint32_t tgid, uint32_t parent, uint64_t time_ns)
{
	if (s->images)
		images_share(s->images, tgid, parent, time_ns);
}

static void take_record(void *ctx, const struct sideband_record *r)
{
	struct symbolizer *s = ctx;

	switch (r->kind) {
	case SIDEBAND_MMAP:
		take_mapping(s, r);
		break;
	case SIDEBAND_FORK:
		take_fork(s, r);
		break;
	case SIDEBAND_EXEC:
		images_exec(s->images, r->tgid, r->time_ns, r->name);
		if (s->watch)
			s->watch->gone(s->watch_ctx, r->tgid);
		break;
	case SIDEBAND_EXIT:
		if (r->tid != r->tgid)
			break;
		images_exit(s->images, r->tgid, r->time_ns);
		if (s->watch)
			s->watch->gone(s->watch_ctx, r->tgid);
		break;
	case SIDEBAND_KSYMBOL:
	case SIDEBAND_KSYMBOL_GONE:
	case SIDEBAND_MODULE:
	case SIDEBAND_MODULE_GONE:
		if (s->kernel)
			kernel_names_record(s->kernel, r);
		break;
	}
}

/* What was read of it after that was of the next program, or of the next process with its id. */
static void forget_read_later(struct symbolizer *s, uint32_t tgid, uint64_t time_ns)
{
	struct image *i = images_find(s->images, tgid, UINT64_MAX);

	if (i && i->start_ns <= time_ns && i->read_ns > time_ns)
		images_forget_maps(s->images, i);
}

void symbolizer_process(struct symbolizer *s, const struct wire_record *r)
{
	const struct wire_fork *fork = (const void *)r;
	const struct wire_exec *exec = (const void *)r;
	const struct wire_of_thread *exit = (const void *)r;
	struct sideband_record as = { .time_ns = r->time_ns };

	if (!s->images || host_proc_is_here())
		return;
	if (r->kind == WIRE_FORK && fork->child == fork->child_tgid) {
		as.kind = SIDEBAND_FORK;
		as.tgid = fork->child_tgid;
		as.parent = fork->parent;
	} else if (r->kind == WIRE_EXEC) {
		const char *slash = strrchr(exec->filename, '/');

		as.kind = SIDEBAND_EXEC;
		as.tgid = exec->tid;
		as.name = slash ? slash + 1 : exec->filename;
	} else if (r->kind == WIRE_EXIT) {
		as.kind = SIDEBAND_EXIT;
		as.tgid = as.tid = exit->tid;
	} else {
		return;
	}
	forget_read_later(s, as.tgid, r->time_ns);
	take_record(s, &as);
}

void symbolize_take_in(struct symbolizer *s)
{
	if (s->images)
		images_expire(s->images, clock_now_ns(), GRACE_NS);
	if (s->sideband)
		s->polled_ns = sideband_poll(s->sideband, take_record, s);
}

uint64_t symbolize_left_ns(struct symbolizer *s)
{
	uint64_t now_ns = clock_now_ns();

	if (s->limit.hurry && *s->limit.hurry != s->limit.hurry_was) {
		s->limit.hurry = NULL;
		if (s->limit.until_ns > now_ns + HURRY_NS)
			s->limit.until_ns = now_ns + HURRY_NS;
		/* Parts of it are parts of that then. */
		if (s->limit.finish_ns > HURRY_NS)
			s->limit.finish_ns = HURRY_NS;
	}
	return s->limit.until_ns > now_ns ? s->limit.until_ns - now_ns : 0;
}
