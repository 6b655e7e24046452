// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of files, and of processes with generated code, that go while the recording goes on; and of
 * files with many frames.
 */
#include "symbolize_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/grow.h"
#include "kernel/clock.h"

/* Going over all frames takes a millisecond for a hundred thousand: files are collected meanwhile.
 */
#define GATHER_NS 1000000000u
#define FILES_MAX 256u
/* When this many frames wait, those of the files with the most of them are named early. */
#define WAITING_MANY (1u << 18)
/* What one step takes at most: a program that just begins may be gone in a few ms. And how long a
 * reader may take before its file is closed without names. */
#define STEP_NS 500000u
#define READER_NS 20000000000u
#define WAIT_NS 20000000u /* at the end, for the last reader, each time */

struct early {
	uint32_t files[FILES_MAX]; /* sources, ascending; of files each with a reference */
	uint32_t n_files, file;	   /* those before `file` are done */
	struct user_frame *frames; /* theirs, sorted */
	size_t n, at, cap;	   /* those before `at` are named */
	uint64_t gathered_ns, began_ns;
	struct reader *reader; /* of the frames at `at`; NULL: it is to be started */
	bool is_asked;	       /* it has been told what is wanted */
	struct group group;
	struct naming naming;
};

static struct early *early_of(struct symbolizer *s)
{
	if (!s->early)
		s->early = calloc(1, sizeof(*s->early));
	return s->early;
}

void early_free(struct early *e)
{
	if (!e)
		return;
	reader_close(e->reader);
	free(e->frames);
	free(e);
}

/* ---- collecting ---------------------------------------------------------------------------- */

static int by_source(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Takes the frames of the files out of the symbolizer's. */
static void take_frames(struct symbolizer *s, struct early *e)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < s->n_frames; i++) {
		const struct user_frame *f = &s->frames[i];
		struct user_frame *grown = NULL;

		if (bsearch(&f->source, e->files, e->n_files, sizeof(f->source), by_source))
			grown = grow_array(e->frames, e->n, &e->cap, sizeof(*grown));
		if (grown) {
			e->frames = grown;
			grown[e->n++] = *f;
			--*symbolize_waiting(s, f->source);
		} else {
			s->frames[kept++] = *f;
		}
	}
	s->n_frames = kept;
	symbolize_sort(e->frames, e->n);
}

static bool has_many(const struct symbolizer *s)
{
	return s->n_frames >= WAITING_MANY;
}

static bool is_listed(const struct early *e, uint32_t source)
{
	for (uint32_t i = 0; i < e->n_files; i++)
		if (e->files[i] == source)
			return true;
	return false;
}

/*
 * Adds the files of which more frames wait than of each if FILES_MAX files had all: there are fewer
 * of these. More is done for names at the end: for files of containers, and for those that could
 * not be opened.
 */
static void gather_many(struct symbolizer *s, struct early *e)
{
	for (uint32_t id = 1; e->n_files < FILES_MAX && id <= s->n_file_sources; id++) {
		if (s->file_sources[id - 1].frames <= s->n_frames / FILES_MAX ||
		    !code_files_is_open(s->files, id) || code_files_root(s->files, id) >= 0 ||
		    is_listed(e, id))
			continue;
		code_files_hold(s->files, id);
		e->files[e->n_files++] = id;
	}
}

static void gather(struct symbolizer *s, struct early *e)
{
	uint64_t now_ns = clock_now_ns();
	uint32_t id;

	if (now_ns - e->gathered_ns < GATHER_NS)
		return;
	e->gathered_ns = now_ns;
	e->n_files = e->file = 0;
	e->n = e->at = 0;
	while (e->n_files < FILES_MAX && (id = code_files_unused(s->files))) {
		code_files_hold(s->files, id);
		e->files[e->n_files++] = id;
	}
	for (id = 0; e->n_files < FILES_MAX && s->ended_generated && id < s->n_generated; id++)
		if (s->generated[id].has_ended)
			e->files[e->n_files++] = GENERATED | id;
	if (has_many(s))
		gather_many(s, e);
	if (!e->n_files)
		return;
	qsort(e->files, e->n_files, sizeof(e->files[0]), by_source);
	take_frames(s, e);
}

/* ---- one file after the other -------------------------------------------------------------- */

/*
 * The file is closed, unless it was mapped again meanwhile. A deleted one will not be: its id, and
 * its space in the trace, are not needed any more.
 */
static void let_go(struct symbolizer *s, uint32_t id)
{
	bool is_gone = code_files_is_deleted(s->files, id);

	if (code_files_is_mapped(s->files, id))
		return;
	code_files_let_go(s->files, id, -1, 0);
	if (is_gone && id <= s->n_file_sources && s->file_sources[id - 1].space) {
		s->file_sources[id - 1].space = 0;
		code_files_put(s->files, id);
	}
}

static void finish_file(struct symbolizer *s, struct early *e)
{
	uint32_t id = e->files[e->file++];

	if (id & GENERATED) {
		symbolize_free_generated(s, &s->generated[id & ~GENERATED]);
	} else {
		let_go(s, id);
		for (size_t i = 0; i < e->group.n; i++)
			code_files_put(s->files, id);
		code_files_put(s->files, id);
	}
	e->at += e->group.n;
	e->group.n = 0;
}

/* Tells the reader what is wanted, when it has opened the file. Returns as early_step(). */
static int ask(struct symbolizer *s, struct early *e, const struct reader_file *file)
{
	int err = symbolize_module(s, &e->group, file, e->naming.path);

	if (!file->has_symtab && !debugfile_search(&file->wanted, -1, -1, e->naming.path,
						   symbolize_offer_debug, e->reader))
		reader_add_minidebug(e->reader);
	/* What fails from here on is the reader, and costs names only. */
	if (!err && (symbolize_ask(e->reader, &e->group) || reader_find_begin(e->reader)))
		err = -EPIPE;
	e->is_asked = true;
	return err;
}

static int ask_code(struct early *e)
{
	struct perfmap_address *a = symbolize_addresses(&e->group);
	int err = a ? reader_ask_code(e->reader, a, e->group.n) : -ENOMEM;

	free(a);
	e->is_asked = true;
	return err;
}

/* As go_on(). */
static int go_on_code(struct symbolizer *s, struct early *e)
{
	int err;

	if (!e->is_asked) {
		err = ask_code(e);
		s->stats.files_read += !err;
		return err ? err : -EAGAIN;
	}
	return reader_found_code(e->reader, symbolize_take_code, &e->naming);
}

/* Returns 0: the file is done; -EAGAIN: its reader has more to say; or another negative errno. */
static int go_on(struct symbolizer *s, struct early *e)
{
	struct reader_file file;
	int err;

	if (e->files[e->file] & GENERATED)
		return go_on_code(s, e);
	if (!e->is_asked) {
		err = reader_begun(e->reader, &file);
		if (err)
			return err;
		s->stats.files_read++;
		err = ask(s, e, &file);
		return err ? err : -EAGAIN;
	}
	return reader_found(e->reader, symbolize_take_name, &e->naming);
}

static int begin_code(struct symbolizer *s, struct early *e, struct generated *p)
{
	int perf_map, jitdump;

	symbolize_open_generated(s, &e->group, p, &perf_map, &jitdump);
	if (perf_map < 0 && jitdump < 0)
		return -ENOENT;
	return reader_begin_code(&e->reader, s->readers, perf_map, jitdump);
}

static int begin(struct symbolizer *s, struct early *e)
{
	uint32_t id = e->files[e->file];
	int fd;

	e->group = symbolize_group(e->frames + e->at, e->n - e->at);
	e->naming = (struct naming) { .s = s, .g = &e->group };
	e->is_asked = false;
	e->began_ns = clock_now_ns();
	s->stats.files++;
	if (id & GENERATED)
		return begin_code(s, e, &s->generated[id & ~GENERATED]);
	e->naming.path = code_files_path(s->files, id);
	fd = code_files_open(s->files, id);
	return fd < 0 ? fd : reader_begin(&e->reader, s->readers, fd);
}

/* The reader has ended, or takes too long: frames without a name get file and offset. */
static int end_reader(struct symbolizer *s, struct early *e)
{
	bool is_code = e->files[e->file] & GENERATED;
	int err;

	if (!e->is_asked && !is_code)
		e->group.module = encoder_module(s->enc, e->naming.path, NULL, 0);
	err = symbolize_rest(&e->naming, is_code       ? &s->stats.no_perf_map
					 : e->is_asked ? &s->stats.no_symbol
						       : &s->stats.no_file);
	reader_kill(e->reader, s->readers);
	e->reader = NULL;
	finish_file(s, e);
	return err;
}

/* Whether the next file has frames: they are in the same order. */
static bool has_frames(const struct early *e)
{
	return e->at < e->n && e->frames[e->at].source == e->files[e->file];
}

/* Returns 0; -EAGAIN: nothing more can be done now; or the encoder's error. */
static int work(struct symbolizer *s, struct early *e, uint64_t wait_ns)
{
	int err;

	if (e->file == e->n_files)
		gather(s, e);
	if (e->file == e->n_files)
		return -EAGAIN;
	if (!e->reader && !has_frames(e)) {
		finish_file(s, e);
		return 0;
	}
	if (!e->reader) {
		err = begin(s, e);
		return err ? end_reader(s, e) : 0;
	}
	if (!reader_wait(e->reader, wait_ns))
		return clock_now_ns() - e->began_ns > READER_NS ? end_reader(s, e) : -EAGAIN;
	err = go_on(s, e);
	return err == -EAGAIN ? 0 : end_reader(s, e);
}

int early_step(struct symbolizer *s)
{
	struct early *e = early_of(s);
	uint64_t until_ns;
	int err = 0;

	/* Nothing to do: two loads. */
	if (!e || (e->file == e->n_files && !code_files_has_unused(s->files) &&
		   !s->ended_generated && !has_many(s)))
		return 0;
	until_ns = clock_now_ns() + STEP_NS;
	do
		err = work(s, e, 0);
	while (!err && clock_now_ns() < until_ns);
	return err == -EAGAIN ? 0 : err;
}

bool early_is_busy(const struct symbolizer *s)
{
	return s->early && s->early->file < s->early->n_files;
}

void early_end(struct symbolizer *s)
{
	struct early *e = s->early;
	struct user_frame *grown;

	if (!e)
		return;
	/* Some of those that were asked for may have got their names already. */
	while (e->reader && e->is_asked) {
		int err = work(s, e, WAIT_NS);

		if (err && err != -EAGAIN && !s->early_err)
			s->early_err = err;
	}
	reader_kill(e->reader, s->readers);
	e->reader = NULL;
	for (; e->at < e->n; e->at++) {
		grown = grow_array(s->frames, s->n_frames, &s->cap_frames, sizeof(*grown));
		if (!grown)
			break;
		s->frames = grown;
		grown[s->n_frames++] = e->frames[e->at];
	}
	e->file = e->n_files = 0;
	e->n = e->at = 0;
}
