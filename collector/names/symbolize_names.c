// SPDX-License-Identifier: GPL-2.0-or-later
/* Naming the frames of one file, or of the generated code of one process. */
#include "symbolize_private.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* While recording, when the rings have to be drained: for a debug file to be taken or refused. */
#define CALL_NS 100000000u
/* How long a reader is waited for at the end. It takes seconds at most, on a loaded machine. */
#define ANSWER_NS 60000000000u

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

/* ---- answers ------------------------------------------------------------------------------- */

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

static bool is_generated(const struct naming *n)
{
	return n->frames[0].source & GENERATED;
}

/* Code of the kernel's, of which there is no file. */
static bool is_special(const struct naming *n)
{
	return !is_generated(n) && code_files_kind(n->s->files, n->frames[0].source) != CODE_FILE;
}

/* A reader_take_fn. */
static int take_name(void *naming, size_t i, const struct reader_answer *a, const char *name)
{
	struct naming *n = naming;
	struct symbolizer_stats *stats = &n->s->stats;
	uint64_t value = a->value;

	n->n_named = i + 1;
	if (name)
		stats->user_named++;
	else
		stats->no_symbol++;
	if (!(a->flags & READER_MAPPED))
		return 0;
	if (!name && a->flags & READER_BOUNDED) {
		stats->bounded++;
		name = bounded_name(n->path, a->start, n->buf);
	} else if (!name && is_generated(n)) {
		value = 0;
	}
	n->err = encoder_name(n->s->enc, n->frames[i].frame, encoder_text(n->s->enc, name),
			      n->module, value);
	return n->err;
}

/* ---- asking -------------------------------------------------------------------------------- */

/* Asks for the names of all frames. */
static int ask(struct naming *n)
{
	struct reader_question *q = malloc(n->n * sizeof(*q));
	int err;

	if (!q)
		return -ENOMEM;
	for (size_t i = 0; i < n->n; i++) {
		/* The byte before a return address belongs to the call. */
		q[i].value = n->frames[i].offset - is_generated(n);
		q[i].time_ns = n->frames[i].time_ns;
	}
	err = reader_find(n->reader, q, n->n);
	free(q);
	n->is_asked = !err;
	return err;
}

/* A debugfile_offer_fn. */
static bool offer_debug(void *naming, int fd, enum debugfile_claim claim)
{
	struct naming *n = naming;

	return reader_add_debug(n->reader, fd, claim, n->is_early ? CALL_NS : ANSWER_NS);
}

/* Defines the file, with what it takes to name its frames later on another machine. */
static int define_module(struct naming *n, const struct reader_file *file)
{
	struct encoder *enc = n->s->enc;
	int err = 0;

	n->module = encoder_module(enc, encoder_text(enc, n->path), file->wanted.build_id,
				   file->wanted.build_id_len);
	for (uint32_t i = 0; !err && i < file->n_segments; i++)
		err = encoder_segment(enc, n->module, file->segments[i].offset,
				      file->segments[i].bytes, file->segments[i].vaddr);
	n->is_defined = true;
	return err;
}

/* The reader has opened the file. While recording, debug files are the recorder's own alone. */
static int take_file(struct naming *n, const struct reader_file *file)
{
	struct code_files *files = n->s->files;
	bool looks_around =
		!n->is_early && code_files_kind(files, n->frames[0].source) == CODE_FILE;
	int program = looks_around ? code_files_open(files, n->frames[0].source) : -1;
	int root = n->is_early ? -1 : code_files_root(files, n->frames[0].source);

	n->s->stats.files_read++;
	n->err = define_module(n, file);
	if (n->err)
		return n->err;
	if (!file->has_symtab &&
	    !debugfile_search(&file->wanted, program, root, n->path, offer_debug, n))
		reader_add_minidebug(n->reader);
	return ask(n);
}

/* ---- one after the other ------------------------------------------------------------------- */

static int begin_file(struct naming *n, enum helper_priority priority)
{
	struct symbolizer *s = n->s;
	uint32_t id = n->frames[0].source;
	int fd = code_files_open(s->files, id);

	n->path = code_files_path(s->files, id);
	return fd < 0 ? fd : reader_open(&n->reader, s->readers, priority, fd);
}

static int begin_generated(struct naming *n, enum helper_priority priority)
{
	struct symbolizer *s = n->s;
	struct generated *p = &s->generated[n->frames[0].source & ~GENERATED];
	int jitdump = p->jitdump ? code_files_open(s->files, p->jitdump) : -1, err;
	char path[40];

	if (p->fd < 0)
		p->fd = perfmap_open(&p->place); /* many are written when the process ends */
	snprintf(path, sizeof(path), p->fd < 0 ? "//anon" : "/tmp/perf-%u.map", p->place.ns_pid);
	n->module = encoder_module(
		s->enc,
		encoder_text(s->enc, jitdump >= 0 ? code_files_path(s->files, p->jitdump) : path),
		NULL, 0);
	n->is_defined = true;
	if (p->fd < 0 && jitdump < 0)
		return -ENOENT;
	err = reader_open_code(&n->reader, s->readers, priority, p->fd, jitdump);
	return err ? err : ask(n);
}

int naming_begin(struct naming *n, struct symbolizer *s, const struct user_frame *frames,
		 size_t max, bool is_early)
{
	enum helper_priority priority = is_early ? HELPER_USUAL : HELPER_FOLLOWS;

	*n = (struct naming) { .s = s, .frames = frames, .is_early = is_early };
	while (n->n < max && frames[n->n].source == frames[0].source)
		n->n++;
	s->stats.files++;
	return is_generated(n) ? begin_generated(n, priority) : begin_file(n, priority);
}

int naming_step(struct naming *n, uint64_t wait_ns)
{
	struct reader_file file;
	bool is_first = !n->n_named;
	int err;

	if (!n->is_asked) {
		err = reader_file(n->reader, &file, wait_ns);
		if (!err)
			err = take_file(n, &file);
		return err ? err : 1;
	}
	err = reader_found(n->reader, take_name, n, wait_ns);
	n->s->stats.files_read += is_generated(n) && is_first && n->n_named;
	return err;
}

/* The frames that the reader has not named get none: in the trace they have file and offset. */
int naming_end(struct naming *n)
{
	struct symbolizer *s = n->s;
	uint64_t *count = is_generated(n)		   ? &s->stats.no_perf_map
			  : n->is_defined || is_special(n) ? &s->stats.no_symbol
							   : &s->stats.no_file;

	reader_close(n->reader);
	n->reader = NULL;
	if (n->err)
		return n->err;
	if (!n->is_defined)
		n->module = encoder_module(s->enc, encoder_text(s->enc, n->path), NULL, 0);
	*count += n->n - n->n_named;
	for (size_t i = n->n_named; !n->err && i < n->n; i++) {
		uint64_t offset = n->frames[i].offset;

		n->err = encoder_name(s->enc, n->frames[i].frame, 0, n->module,
				      offset == OFFSET_UNKNOWN ? 0 : offset);
	}
	return n->err;
}

/* ---- at the end ---------------------------------------------------------------------------- */

static void close_source(struct symbolizer *s, uint32_t source)
{
	struct generated *p;

	if (!(source & GENERATED)) {
		code_files_close(s->files, source);
		return;
	}
	p = &s->generated[source & ~GENERATED];
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}

int symbolize_user_frames(struct symbolizer *s)
{
	struct naming *n = malloc(sizeof(*n));
	int err = n ? 0 : -ENOMEM;

	symbolize_sort(s->frames, s->n_frames);
	for (size_t i = 0; !err && i < s->n_frames; i += n->n) {
		int step = naming_begin(n, s, &s->frames[i], s->n_frames - i, false);

		for (step = step ? step : 1; step > 0;)
			step = naming_step(n, ANSWER_NS);
		err = naming_end(n);
		close_source(s, s->frames[i].source);
	}
	free(n);
	return err;
}
