// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Naming the frames of one file, which may have several names, or of the generated code of one
 * process.
 */
#include "symbolize_private.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/clock.h"

/* While recording, when the rings have to be drained: for a debug file to be taken or refused. */
#define CALL_NS 100000000u

static int by_source_and_place(const void *a, const void *b)
{
	const struct user_frame *x = a, *y = b;

	if (x->source != y->source)
		return x->source < y->source ? -1 : 1;
	if (x->ret != y->ret)
		return x->ret < y->ret ? -1 : 1;
	return x->frame < y->frame ? -1 : x->frame > y->frame;
}

void symbolize_sort(struct user_frame *frames, size_t n)
{
	if (n)
		qsort(frames, n, sizeof(*frames), by_source_and_place);
}

size_t symbolize_run(const struct user_frame *frames, size_t max)
{
	size_t n = 0;

	while (n < max && frames[n].source == frames[0].source)
		n++;
	return n;
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
	return n->source & GENERATED;
}

static struct generated *generated_of(const struct naming *n)
{
	return &n->s->generated[n->source & ~GENERATED];
}

/* Code of the kernel's, of which there is no file. */
static bool is_special(const struct naming *n)
{
	return !is_generated(n) && code_files_kind(n->s->files, n->source) != CODE_FILE;
}

/* Of the file of the i-th frame. */
static const char *path_of(const struct naming *n, size_t i)
{
	return code_files_name(n->s->files, n->frames[i].source);
}

static uint32_t module_of(const struct naming *n, size_t i)
{
	return is_generated(n) ? n->module : n->s->file_sources[n->frames[i].source - 1].module;
}

static void take_generated(struct generated *g, const char *name)
{
	const char *mark = g->runtime ? g->runtime->interpreted_mark : NULL;

	if (mark && !strncmp(name + strcspn(name, ":"), mark, strlen(mark)))
		g->has_interpreted = true;
}

/* A reader_take_fn. */
static int take_name(void *naming, size_t i, const struct reader_answer *a, const char *name)
{
	struct naming *n = naming;
	struct symbolizer_stats *stats = &n->s->stats;
	uint64_t value = a->value ? a->value - n->frames[i].is_exact : 0;

	n->n_named = i + 1;
	if (name && is_generated(n))
		take_generated(generated_of(n), name);
	else if (!is_generated(n) && (name || !(a->flags & READER_BOUNDED)))
		runtimes_take_name(n->s, n->frames[i].source, name);
	if (name)
		stats->user_named++;
	else
		stats->no_symbol++;
	/* Of the vDSO of 32-bit programs no more than what it is. */
	if (!(a->flags & READER_MAPPED) && n->frames[i].ret == OFFSET_UNKNOWN)
		value = 0;
	else if (!(a->flags & READER_MAPPED))
		return 0;
	if (!name && a->flags & READER_BOUNDED) {
		stats->bounded++;
		name = bounded_name(path_of(n, i), a->start, n->buf);
	} else if (!name && is_generated(n)) {
		value = 0;
	}
	n->err = encoder_name(n->s->enc, n->frames[i].frame, encoder_text(n->s->enc, name),
			      module_of(n, i), value);
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
		q[i].value = n->frames[i].ret - is_generated(n);
		q[i].time_ns = n->frames[i].time_ns;
	}
	err = reader_find(n->reader, q, n->n);
	free(q);
	n->is_asked = !err;
	return err;
}

/* A debugfile_offer_fn. */
static bool offer_debug(void *naming, int fd)
{
	struct naming *n = naming;
	uint64_t now_ns = clock_now_ns(), wait_ns = CALL_NS;

	if (!n->is_early)
		wait_ns = n->until_ns > now_ns ? n->until_ns - now_ns : 0;
	return reader_add_debug(n->reader, fd, wait_ns);
}

/*
 * Defines the file by each of its names, with what it takes to name its frames later on another
 * machine; or without that, if nothing is known.
 */
static int define_modules(struct naming *n, const struct reader_file *file)
{
	struct encoder *enc = n->s->enc;
	int err = 0;

	for (size_t i = 0; !err && i < n->n; i++) {
		uint32_t *module = &n->s->file_sources[n->frames[i].source - 1].module;

		if (*module)
			continue;
		*module = encoder_module(enc, encoder_text(enc, path_of(n, i)),
					 file ? file->wanted.build_id : NULL,
					 file ? file->wanted.build_id_len : 0);
		for (uint32_t k = 0; !err && file && k < file->n_segments; k++)
			err = encoder_segment(enc, *module, file->segments[k].offset,
					      file->segments[k].bytes, file->segments[k].vaddr);
	}
	n->is_defined = true;
	return err;
}

/* The reader has opened the file. While recording, debug files are the recorder's own alone. */
static int take_file(struct naming *n, const struct reader_file *file)
{
	struct code_files *files = n->s->files;
	bool looks_around = !n->is_early && code_files_kind(files, n->source) == CODE_FILE;
	int program = looks_around ? code_files_open(files, n->source) : -1;
	int root = n->is_early || n->has_roots ? -1 : code_files_root(files, n->source);

	if (!file->has_symtab &&
	    !debugfile_search(&file->wanted, program, root, code_files_path(files, n->source),
			      offer_debug, n))
		reader_add_minidebug(n->reader);
	return ask(n);
}

/* ---- one after the other ------------------------------------------------------------------- */

static int begin_file(struct naming *n, enum helper_priority priority)
{
	struct symbolizer *s = n->s;
	int fd;

	if (helpers_hang(s->readers, code_files_call_key(s->files, n->source)))
		return -EAGAIN;
	fd = code_files_open(s->files, n->source);
	return fd < 0 ? fd : reader_open(&n->reader, s->readers, priority, fd);
}

static int begin_generated(struct naming *n, enum helper_priority priority)
{
	struct symbolizer *s = n->s;
	struct generated *p = generated_of(n);
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

void naming_init(struct naming *n, struct symbolizer *s, uint32_t source,
		 const struct user_frame *frames, size_t count)
{
	*n = (struct naming) { .s = s, .source = source, .frames = frames, .n = count };
}

int naming_begin(struct naming *n, enum helper_priority priority)
{
	n->s->stats.files++;
	if (!is_generated(n))
		return begin_file(n, priority);
	return n->aim == NAMING_ID ? -ENOENT : begin_generated(n, priority);
}

static int step(struct naming *n, uint64_t wait_ns)
{
	struct reader_file file;
	bool is_first = !n->n_named;
	int err;

	if (!n->is_asked) {
		err = reader_file(n->reader, &file, wait_ns);
		if (err)
			return err;
		n->s->stats.files_read++;
		n->err = define_modules(n, &file);
		if (n->err || n->aim == NAMING_ID)
			return n->err;
		err = take_file(n, &file);
		return err ? err : 1;
	}
	err = reader_found(n->reader, take_name, n, wait_ns);
	n->s->stats.files_read += is_generated(n) && is_first && n->n_named;
	return err;
}

int naming_step(struct naming *n, uint64_t wait_ns)
{
	int err = step(n, wait_ns);

	n->owes = err == -EAGAIN;
	return err;
}

bool naming_was_late(const struct naming *n, int err)
{
	return err == -EAGAIN || (!is_generated(n) && !n->is_defined &&
				  (err == -EPIPE || err == -ETIMEDOUT || err == -EBUSY));
}

size_t naming_give_up(struct naming *n)
{
	reader_close_late(n->reader, n->owes && !is_generated(n)
					     ? code_files_call_key(n->s->files, n->source)
					     : 0);
	n->reader = NULL;
	return n->n_named;
}

/* Why the rest has no names, as the symbolizer counts it. */
static uint64_t *count_of(struct naming *n)
{
	struct symbolizer_stats *stats = &n->s->stats;

	n->is_late |= n->aim == NAMING_ID && (n->is_defined || is_generated(n));
	if (is_special(n))
		return &stats->no_symbol;
	stats->late_files += n->is_late;
	if (n->is_late)
		return &stats->late;
	return is_generated(n) ? &stats->no_perf_map
	       : n->is_defined ? &stats->no_symbol
			       : &stats->no_file;
}

/* The frames that the reader has not named get none: in the trace they have file and offset. */
int naming_end(struct naming *n)
{
	uint64_t *count = count_of(n);
	struct symbolizer *s = n->s;

	(void)naming_give_up(n);
	if (!n->err && !n->is_defined && !is_generated(n))
		n->err = define_modules(n, NULL);
	*count += n->n - n->n_named;
	n->is_late &= !is_special(n);
	if (n->is_late && is_generated(n))
		generated_of(n)->late += (uint32_t)(n->n - n->n_named);
	for (size_t i = n->n_named; !n->err && i < n->n; i++) {
		const struct user_frame *f = &n->frames[i];

		if (n->is_late && !is_generated(n))
			s->file_sources[f->source - 1].late++;
		n->err = encoder_name(s->enc, f->frame, 0, module_of(n, i),
				      f->ret == OFFSET_UNKNOWN ? 0 : f->ret - f->is_exact);
	}
	if (!n->err && is_generated(n) && !n->is_late)
		n->err = runtimes_note(s, generated_of(n), n->n_named);
	return n->err;
}
