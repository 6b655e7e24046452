// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * User names at the end: of which file first, and how long for. Files are strangers', who can make
 * them as many and as slow to read as they like. So all of them have one time together, of which a
 * file gets a part, and one that has several names is read once.
 */
#include "symbolize_private.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/grow.h"
#include "kernel/clock.h"

/* What is kept of the time to find out build IDs of files that it was too short for. */
#define IDS_PART 5u
/* A file may take this part of what is left; and that one when it is tried again after all others.
 */
#define FILE_PART 16u
#define AGAIN_PART 2u
/* The time of root and of who records counts this part, so that they get as much more. */
#define OURS_PART 4u
/* When no reader could be started. */
#define PAUSE_MS 10
/* How often to look whether the time has been shortened. */
#define LOOK_NS 100000000u

/* A file, or the generated code of a process, with frames to be named. */
struct source {
	uint32_t id;
	const struct user_frame *frames; /* by place */
	size_t n, done;			 /* those before done have been answered for */
	uint32_t owner;			 /* a user id */
	bool is_elsewhere; /* all its names are in other root directories, where all may be root\'s
			    */
	bool has_links;	   /* frames are its own, of all names of the file, and to be freed */
	bool has_roots;	   /* these names are in several root directories */
	bool is_known;	   /* the module is in the trace */
	bool is_stuck;	   /* its reader waited for something, or took all its time */
	bool is_over;	   /* nothing more is to be found out */
};

/* The sources of one owner. Next is one of who has had the least time. */
struct turns {
	size_t first, next, end;
	uint64_t spent_ns;
};

struct ending {
	struct symbolizer *s;
	struct source *sources;
	size_t n, cap;
	struct turns *owners;
	size_t n_owners, cap_owners;
	struct naming naming;
};

static bool is_generated(const struct source *f)
{
	return f->id & GENERATED;
}

/* ---- the order ----------------------------------------------------------------------------- */

static bool is_strangers(const struct source *f)
{
	return (f->owner && f->owner != geteuid()) || f->is_elsewhere;
}

/* Names of one file lie together. */
static int by_file(const void *pa, const void *pb, void *ending)
{
	const struct ending *e = ending;
	const struct source *a = pa, *b = pb;

	if (is_generated(a) || is_generated(b))
		return a->id < b->id ? -1 : 1;
	return code_files_compare(e->s->files, a->id, b->id);
}

static int by_owner_and_file(const void *pa, const void *pb, void *ending)
{
	const struct source *a = pa, *b = pb;

	if (is_strangers(a) != is_strangers(b))
		return is_strangers(a) ? 1 : -1;
	if (is_strangers(a) && a->owner != b->owner)
		return a->owner < b->owner ? -1 : 1;
	return by_file(pa, pb, ending);
}

static bool is_same_owner(const struct source *a, const struct source *b)
{
	return is_strangers(a) == is_strangers(b) && (!is_strangers(a) || a->owner == b->owner);
}

static bool is_in_own_root(const struct ending *e, const struct source *f)
{
	uint32_t root;

	if (is_generated(f))
		return !e->s->generated[f->id & ~GENERATED].place.root;
	root = code_files_root_id(e->s->files, f->id);
	return !root || root == CODE_ROOTS_SEVERAL;
}

/* Sorts them by file, and says of which all names are in other root directories. */
static void find_roots(struct ending *e)
{
	size_t n;

	qsort_r(e->sources, e->n, sizeof(*e->sources), by_file, e);
	for (size_t i = 0; i < e->n; i += n) {
		struct source *f = &e->sources[i];
		bool is_elsewhere = !is_in_own_root(e, f);

		for (n = 1; i + n < e->n && !by_file(f, f + n, e); n++)
			is_elsewhere &= !is_in_own_root(e, f + n);
		for (size_t k = 0; k < n; k++)
			f[k].is_elsewhere = is_elsewhere;
	}
}

static int list_sources(struct ending *e)
{
	struct symbolizer *s = e->s;

	symbolize_sort(s->frames, s->n_frames);
	for (size_t i = 0; i < s->n_frames; i += e->sources[e->n - 1].n) {
		struct source *f;

		if (!GROW(e->sources, e->n, e->cap))
			return -ENOMEM;
		f = &e->sources[e->n++];
		*f = (struct source) { .id = s->frames[i].source, .frames = &s->frames[i] };
		f->n = symbolize_run(f->frames, s->n_frames - i);
		if (is_generated(f)) {
			f->owner = s->generated[f->id & ~GENERATED].place.uid;
		} else {
			f->owner = code_files_owner(s->files, f->id);
			s->file_sources[f->id - 1].module = 0;
		}
	}
	if (!e->n)
		return 0;
	find_roots(e);
	qsort_r(e->sources, e->n, sizeof(*e->sources), by_owner_and_file, e);
	for (size_t i = 0; i < e->n; i++) {
		if (i && is_same_owner(&e->sources[i], &e->sources[i - 1])) {
			e->owners[e->n_owners - 1].end++;
			continue;
		}
		if (!GROW(e->owners, e->n_owners, e->cap_owners))
			return -ENOMEM;
		e->owners[e->n_owners++] = (struct turns) { i, i, i + 1, 0 };
	}
	return 0;
}

/* ---- files with several names -------------------------------------------------------------- */

static int by_place(const void *pa, const void *pb)
{
	const struct user_frame *a = pa, *b = pb;

	if (a->ret != b->ret)
		return a->ret < b->ret ? -1 : 1;
	return a->frame < b->frame ? -1 : a->frame > b->frame;
}

/*
 * The file takes over the frames of those behind it that are it, too, under other names. Whether
 * they are is known only while both are open, as numbers of inodes are used again.
 */
static void join_links(struct ending *e, struct source *f)
{
	struct code_files *files = e->s->files;
	struct user_frame *all = NULL;
	size_t n = 0, cap = 0, own = f->n;

	for (struct source *o = f + 1; o < e->sources + e->n; o++) {
		if (o->is_over)
			continue;
		if (is_generated(o) || code_files_compare(files, f->id, o->id) ||
		    !symbolize_left_ns(e->s))
			break;
		if (!code_files_is_same(files, f->id, o->id))
			continue;
		f->has_roots |=
			code_files_root_id(files, f->id) != code_files_root_id(files, o->id);
		code_files_close(files, o->id);
		for (size_t i = 0; i < own + o->n; i++) {
			if (!GROW(all, n, cap))
				break; /* these get no names */
			all[n++] = i < own ? f->frames[i] : o->frames[i - own];
		}
		own = 0; /* they are there */
		o->is_over = true;
	}
	if (!n)
		return;
	qsort(all, n, sizeof(*all), by_place);
	f->frames = all;
	f->n = n;
	f->has_links = true;
}

/* ---- one after the other ------------------------------------------------------------------- */

static void close_source(struct ending *e, const struct source *f)
{
	struct generated *g;

	if (!is_generated(f)) {
		code_files_close(e->s->files, f->id);
		return;
	}
	g = &e->s->generated[f->id & ~GENERATED];
	if (g->fd >= 0)
		close(g->fd);
	g->fd = -1;
}

/* So long for the next file. again: those that were given up are tried once more. */
static uint64_t time_for(struct ending *e, enum naming_aim aim, bool again)
{
	uint64_t left_ns = symbolize_left_ns(e->s), ids_ns = e->s->limit.finish_ns / IDS_PART;

	if (aim == NAMING_ID)
		return left_ns;
	left_ns = left_ns > ids_ns ? left_ns - ids_ns : 0;
	return left_ns / (again ? AGAIN_PART : FILE_PART);
}

static int work(struct ending *e, uint64_t until_ns)
{
	struct naming *n = &e->naming;
	int step;

	do {
		uint64_t now_ns = clock_now_ns(), left_ns = symbolize_left_ns(e->s);

		if (now_ns + left_ns < until_ns)
			until_ns = now_ns + left_ns;
		n->until_ns = until_ns;
		if (now_ns >= until_ns)
			return -EAGAIN;
		step = naming_step(n, until_ns - now_ns < LOOK_NS ? until_ns - now_ns : LOOK_NS);
	} while (step > 0 || step == -EAGAIN);
	return step;
}

/* Returns 0 or the encoder's error. */
static int name_source(struct ending *e, struct source *f, enum naming_aim aim, uint64_t time_ns)
{
	uint64_t begin_ns = clock_now_ns();
	struct naming *n = &e->naming;
	bool is_busy;
	int step;

	if (!is_generated(f) && !f->has_links && !f->done)
		join_links(e, f);
	naming_init(n, e->s, f->id, f->frames + f->done, f->n - f->done);
	n->has_roots = f->has_roots;
	n->aim = aim;
	n->until_ns = begin_ns + time_ns;
	step = naming_begin(n, HELPER_FOLLOWS);
	if (!step)
		step = work(e, n->until_ns);
	f->is_known |= n->is_defined;
	/* There may be no reader for a moment, where many have ended. A file system that did not
	 * answer is not asked again. */
	if (naming_was_late(n, step) && step != -EAGAIN) {
		if (step == -EPIPE)
			poll(NULL, 0, PAUSE_MS);
		f->is_stuck = step != -EPIPE;
		f->done += naming_give_up(n);
		return 0;
	}
	if (step != -EAGAIN) {
		f->is_over = true;
		step = naming_end(n);
		close_source(e, f);
		return step;
	}
	/* One that waits for its file system is not asked again. */
	is_busy = n->reader && reader_cpu_ns(n->reader) > (clock_now_ns() - begin_ns) / 4;
	f->done += naming_give_up(n);
	f->is_stuck = !is_busy;
	return n->err;
}

/* Whose turn it is; NULL: nobody has any more. */
static struct turns *next_owner(const struct ending *e)
{
	struct turns *next = NULL;

	for (struct turns *o = e->owners; o < e->owners + e->n_owners; o++)
		if (o->next < o->end && (!next || o->spent_ns < next->spent_ns))
			next = o;
	return next;
}

/* All that have not been named yet, as long as there is time. */
static int name_all(struct ending *e, enum naming_aim aim, bool again)
{
	struct turns *o;
	int err = 0;

	for (size_t i = 0; i < e->n_owners; i++)
		e->owners[i].next = e->owners[i].first;
	while (!err && (o = next_owner(e))) {
		struct source *f = &e->sources[o->next++];
		uint64_t time_ns = time_for(e, aim, again), begin_ns = clock_now_ns();

		if (!time_ns)
			return 0;
		if (!f->is_over && !(aim == NAMING_ID ? f->is_known : f->is_stuck))
			err = name_source(e, f, aim, time_ns);
		o->spent_ns += (clock_now_ns() - begin_ns) / (is_strangers(f) ? 1 : OURS_PART);
	}
	return err;
}

/* ---- the rest ------------------------------------------------------------------------------ */

/* In the trace they have file and offset, with which chainwalk names them later. */
static int end_rest(struct ending *e)
{
	int err = 0;

	for (size_t i = 0; i < e->n; i++) {
		struct source *f = &e->sources[i];

		if (!err && !f->is_over) {
			naming_init(&e->naming, e->s, f->id, f->frames + f->done, f->n - f->done);
			e->naming.is_defined = f->is_known;
			e->naming.is_late = true;
			err = naming_end(&e->naming);
			close_source(e, f);
		}
	}
	return err;
}

int symbolize_user_frames(struct symbolizer *s)
{
	struct ending *e = calloc(1, sizeof(*e));
	int err = e ? 0 : -ENOMEM;

	if (!err) {
		e->s = s;
		err = list_sources(e);
	}
	for (int again = 0; !err && again < 2 && !s->limit.later; again++)
		err = name_all(e, NAMING_NAMES, again);
	if (!err)
		err = name_all(e, NAMING_ID, false);
	if (!err)
		err = end_rest(e);
	for (size_t i = 0; e && i < e->n; i++)
		if (e->sources[i].has_links)
			free((void *)(uintptr_t)e->sources[i].frames);
	if (e) {
		free(e->sources);
		free(e->owners);
	}
	free(e);
	return err ? err : runtimes_note_others(s);
}
