// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of files, and of processes with generated code, that go while the recording goes on; and of
 * files with many frames.
 */
#include "symbolize_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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
/* At the end, for the last reader, each time; and the part of the time that it may take. */
#define WAIT_NS 20000000u
#define END_PART 4u

/* Bytes of the copy of one file, of all copies together, and of a file that is copied, at most. */
#define COPY_MAX_BYTES (64u << 20)
#define COPIES_MAX_BYTES (128u << 20)
#define FILE_MAX_BYTES (256 << 20)
/* How long a copy may take while recording, and how many may take longer before none is tried. */
#define COPY_NS 100000000u
#define COPIES_LATE_MAX 5u

struct early {
	uint32_t files[FILES_MAX]; /* sources, ascending; of files each with a reference */
	uint32_t n_files, file;	   /* those before `file` are done */
	struct user_frame *frames; /* theirs, sorted */
	size_t n, at, cap;	   /* those before `at` are named */
	uint64_t gathered_ns, began_ns;
	bool is_naming; /* the frames at `at` */
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
	if (e->is_naming)
		reader_close(e->naming.reader);
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

		if (bsearch(&f->source, e->files, e->n_files, sizeof(f->source), by_source) &&
		    GROW(e->frames, e->n, e->cap)) {
			e->frames[e->n++] = *f;
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
static void detach(struct symbolizer *s, uint32_t id)
{
	bool is_gone = code_files_is_deleted(s->files, id);

	if (code_files_is_mapped(s->files, id))
		return;
	code_files_detach(s->files, id, -1, 0);
	if (is_gone && id <= s->n_file_sources && s->file_sources[id - 1].space) {
		s->file_sources[id - 1].space = 0;
		code_files_put(s->files, id);
	}
}

/* The next file is done, of which n frames have been named. */
static void finish_file(struct symbolizer *s, struct early *e, size_t n)
{
	uint32_t id = e->files[e->file++];

	e->at += n;
	if (id & GENERATED) {
		symbolize_free_generated(s, &s->generated[id & ~GENERATED]);
		return;
	}
	detach(s, id);
	for (size_t i = 0; i < n; i++)
		code_files_put(s->files, id);
	code_files_put(s->files, id);
}

/* result: of the last step. */
static int end_naming(struct symbolizer *s, struct early *e, int result)
{
	int err;

	e->naming.is_late = naming_was_late(&e->naming, result);
	err = naming_end(&e->naming);
	e->is_naming = false;
	finish_file(s, e, e->naming.n);
	return err;
}

/* Whether the next file has frames: they are in the same order. */
static bool has_frames(const struct early *e)
{
	return e->at < e->n && e->frames[e->at].source == e->files[e->file];
}

static void begin_naming(struct symbolizer *s, struct early *e)
{
	const struct user_frame *frames = e->frames + e->at;

	naming_init(&e->naming, s, frames->source, frames, symbolize_run(frames, e->n - e->at));
	e->naming.is_early = true;
	e->naming.aim = s->limit.later ? NAMING_ID : NAMING_NAMES;
	if (!(frames->source & GENERATED))
		s->file_sources[frames->source - 1].module = 0;
}

/* Returns 0; -EAGAIN: nothing more can be done now; or the encoder's error. */
static int work(struct symbolizer *s, struct early *e, uint64_t wait_ns)
{
	int err;

	if (e->file == e->n_files)
		gather(s, e);
	if (e->file == e->n_files)
		return -EAGAIN;
	if (!e->is_naming && !has_frames(e)) {
		finish_file(s, e, 0);
		return 0;
	}
	if (!e->is_naming) {
		e->is_naming = true;
		e->began_ns = clock_now_ns();
		begin_naming(s, e);
		err = naming_begin(&e->naming, HELPER_USUAL);
		return err ? end_naming(s, e, err) : 0;
	}
	err = naming_step(&e->naming, wait_ns);
	if (err == 1)
		return 0;
	if (err == -EAGAIN && clock_now_ns() - e->began_ns <= READER_NS)
		return err;
	return end_naming(s, e, err);
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
	uint64_t until_ns = clock_now_ns() + symbolize_left_ns(s) / END_PART;
	struct early *e = s->early;

	if (!e)
		return;
	while (e->is_naming && e->naming.is_asked && clock_now_ns() < until_ns) {
		int err = work(s, e, WAIT_NS);

		if (err && err != -EAGAIN && !s->early_err)
			s->early_err = err;
	}
	if (e->is_naming)
		e->at += naming_give_up(&e->naming);
	e->is_naming = false;
	for (; e->at < e->n; e->at++) {
		if (!GROW(s->frames, s->n_frames, s->cap_frames))
			break;
		s->frames[s->n_frames++] = e->frames[e->at];
	}
	e->file = e->n_files = 0;
	e->n = e->at = 0;
}

/* ---- without names --------------------------------------------------------------------------- */

/* What a file in memory takes. */
static uint64_t bytes_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? 0 : (uint64_t)st.st_blocks * 512;
}

/* Returns a descriptor of the copy, or a negative errno. */
static int copy_tables(struct symbolizer *s, int from, uint64_t left)
{
	struct statx st;
	int to, err = 0;

	if (s->late_copies >= COPIES_LATE_MAX)
		return -ETIMEDOUT;
	/* The file system is not asked: it may not answer. */
	if (statx(from, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_SIZE, &st))
		return -errno;
	if (!st.stx_size || st.stx_size > FILE_MAX_BYTES)
		return -EFBIG;
	to = memfd_create("names", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (to < 0)
		return -errno;
	if (ftruncate(to, (off_t)st.stx_size) ||
	    fcntl(to, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL))
		err = -errno;
	if (!err)
		err = reader_copy(s->readers, from, to, COPY_MAX_BYTES, COPY_NS);
	s->late_copies += err == -EAGAIN;
	/* The reader that wrote it is not trusted. */
	if (!err && (bytes_of(to) > COPY_MAX_BYTES + (1u << 20) || bytes_of(to) > left))
		err = -EFBIG;
	if (!err)
		return to;
	close(to);
	return err;
}

void early_detach(struct symbolizer *s)
{
	struct code_files *files = s->files;
	uint32_t id = code_files_unused(files);
	uint64_t used;
	int fd;

	if (!id || !code_files_is_pinning(files, id))
		return;
	used = code_files_copied(files);
	fd = copy_tables(s, code_files_open(files, id),
			 used < COPIES_MAX_BYTES ? COPIES_MAX_BYTES - used : 0);
	code_files_detach(files, id, fd, fd < 0 ? 0 : bytes_of(fd));
}
