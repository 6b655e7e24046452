// SPDX-License-Identifier: GPL-2.0-or-later
#include "mapped_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "files/owners.h"
#include "kernel/clock.h"

/* What has waited for so long at the end is told to be missing. */
#define LATE_NS 2000000000u
/* Of the files of one owner that nobody maps any more, so many are passed over at a time. */
#define PASSED_OVER_MAX 64u
/* Telling who maps what was found may take this part of the time. */
#define TELL_PART 10u
/*
 * A helper that takes more CPU time for a file has failed, or more time in all: on a busy machine
 * it may wait for a CPU for seconds. Few files take 10 ms.
 */
#define ANSWER_CPU_NS 1000000000u
#define ANSWER_NS 10000000000u

enum file_state {
	FILE_NEW,
	FILE_WAITS, /* to be looked at */
	FILE_ASKED, /* it is being looked at */
	FILE_OTHER, /* has nothing that is asked for */
	FILE_FOUND,
};

/* What is known of a file that has something. */
struct found {
	struct reader_parts parts;
	uint32_t n_segments;
	struct elfsym_segment segments[READER_SEGMENTS_MAX]; /* of code */
};

/* By code_files id. All but new ones are held, so that the id stays theirs. */
struct file {
	enum file_state state;
	bool is_late;	     /* it is counted as missed */
	bool is_unreported;  /* who maps it was not told yet what was found */
	uint32_t owner;	     /* of owners, while it waits, */
	uint32_t next;	     /* the next one of its queue; 0: it is the last, */
	uint64_t since_ns;   /* and since when it does */
	struct found *found; /* NULL: nothing, or not known yet */
};

/* Files of one owner that wait: first those that by their names are likely to have something. */
struct queue {
	uint32_t first[2], last[2]; /* 0: there is none */
};

enum asked { ASKED_FILE, ASKED_PARTS };

struct mapped_files {
	struct symbolizer *sym;
	struct code_files *code;
	struct helpers *helpers;
	uint64_t least_bytes;
	struct {
		const struct mapped_files_user *fn;
		void *ctx;
	} users[MAPPED_FILES_USERS];
	unsigned int n_users;
	struct file *files;
	uint32_t n_files; /* room in files */
	uint64_t count, forgot_ns;
	struct owners owners; /* of files that wait, or are being looked at */
	struct queue queues[OWNERS_MAX];
	uint64_t missed;     /* files that took too long, or waited for so long */
	uint32_t unreported; /* files */
	bool is_telling;
	uint64_t tell_at_ns; /* not before that */

	struct reader *reader; /* NULL: none is at work */
	enum asked asked;
	uint32_t of; /* the file that it reads */
	struct found *found;
	uint64_t from_ns, until_ns;
};

/* ---- files ---------------------------------------------------------------------------------- */

/* NULL: out of memory. */
static struct file *file_at(struct mapped_files *f, uint32_t id)
{
	uint32_t n = id + 64;
	struct file *files;

	if (id < f->n_files)
		return &f->files[id];
	files = realloc(f->files, n * sizeof(*files));
	if (!files)
		return NULL;
	for (uint32_t i = f->n_files; i < n; i++)
		files[i] = (struct file) { .state = FILE_NEW };
	f->files = files;
	f->n_files = n;
	return &files[id];
}

static void forget_file(struct mapped_files *f, uint32_t id)
{
	if (f->files[id].state == FILE_NEW)
		return;
	free(f->files[id].found);
	f->files[id] = (struct file) { .state = FILE_NEW };
	code_files_put(f->code, id);
}

/* Those that wait go when it is their turn. */
static bool is_unused(const struct mapped_files *f, uint32_t id)
{
	return (f->files[id].state == FILE_OTHER || f->files[id].state == FILE_FOUND) &&
	       !code_files_is_mapped(f->code, id);
}

/* Ids are used again when nobody holds the file. */
static void forget_unmapped(struct mapped_files *f, uint64_t now_ns)
{
	if (now_ns - f->forgot_ns < 1000000000)
		return;
	f->forgot_ns = now_ns;
	for (uint32_t i = 1; i < f->n_files; i++)
		if (is_unused(f, i))
			forget_file(f, i);
}

/* ---- processes ------------------------------------------------------------------------------ */

/* The file, which has something, is mapped there. */
static void tell_mapped(const struct mapped_files *f, const struct found *found, uint32_t tgid,
			const struct mapping *m)
{
	for (uint32_t i = 0; i < found->n_segments; i++) {
		const struct elfsym_segment *s = &found->segments[i];

		/* A segment is mapped from the beginning of its first page on. */
		if (s->offset >= m->pgoff + (m->end - m->start) || s->offset + s->bytes <= m->pgoff)
			continue;
		for (unsigned int u = 0; u < f->n_users; u++)
			f->users[u].fn->mapped(f->users[u].ctx, tgid,
					       m->start - m->pgoff + s->offset - s->vaddr,
					       &found->parts);
		return;
	}
}

static bool is_likely(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return strstr(name, "python") || strstr(name, "php") || strstr(name, "ruby") ||
	       strstr(name, "node") || strstr(name, "libjvm");
}

/* The file is to be looked at. */
static void add_waiting(struct mapped_files *f, struct file *of, uint32_t id)
{
	uint32_t owner = owners_find(&f->owners, code_files_owner_key(f->code, id));
	bool is_other = !is_likely(code_files_path(f->code, id));
	struct queue *q = &f->queues[owner];

	code_files_hold(f->code, id);
	owners_add(&f->owners, owner, 1);
	*of = (struct file) { .state = FILE_WAITS, .owner = owner, .since_ns = clock_now_ns() };
	if (q->first[is_other])
		f->files[q->last[is_other]].next = id;
	else
		q->first[is_other] = id;
	q->last[is_other] = id;
}

/* Takes the first file out of the queue; 0: there is none. Its owner still holds it. */
static uint32_t take_waiting(struct mapped_files *f, struct queue *q)
{
	bool is_other = !q->first[0];
	uint32_t id = q->first[is_other];

	if (id)
		q->first[is_other] = f->files[id].next;
	return id;
}

/* Also once more for who maps a file in which something was found meanwhile. */
static void mapped(void *ctx, uint32_t tgid, const struct mapping *m)
{
	struct mapped_files *f = ctx;
	struct file *of;

	if (code_files_kind(f->code, m->file) != CODE_FILE || m->end - m->start < f->least_bytes)
		return;
	of = file_at(f, m->file);
	if (of && of->state == FILE_NEW)
		add_waiting(f, of, m->file);
	if (of && of->found && of->is_unreported == f->is_telling)
		tell_mapped(f, of->found, tgid, m);
}

static void gone(void *ctx, uint32_t tgid)
{
	const struct mapped_files *f = ctx;

	for (unsigned int u = 0; u < f->n_users; u++)
		f->users[u].fn->gone(f->users[u].ctx, tgid);
}

static void forked(void *ctx, uint32_t tgid, uint32_t parent)
{
	const struct mapped_files *f = ctx;

	gone(ctx, tgid);
	for (unsigned int u = 0; u < f->n_users; u++)
		f->users[u].fn->forked(f->users[u].ctx, tgid, parent);
}

static const struct process_watch watch = { mapped, forked, gone };

/* ---- looking at files ----------------------------------------------------------------------- */

static bool is_unreported(const void *ctx, const struct mapping *m)
{
	const struct mapped_files *f = ctx;

	return m->file < f->n_files && f->files[m->file].is_unreported;
}

/* Who maps it is looked for among all mappings, of which there may be millions. */
static void tell_all(struct mapped_files *f)
{
	uint64_t from_ns = clock_now_ns();

	if (!f->unreported || from_ns < f->tell_at_ns)
		return;
	f->is_telling = true;
	symbolizer_tell_mapped(f->sym, is_unreported);
	f->is_telling = false;
	for (uint32_t i = 1; i < f->n_files; i++)
		f->files[i].is_unreported = false;
	f->unreported = 0;
	f->tell_at_ns = clock_now_ns();
	f->tell_at_ns += (f->tell_at_ns - from_ns) * TELL_PART;
}

/* The file was looked at. found: what it has; NULL: nothing. */
static void settle_file(struct mapped_files *f, uint32_t id, struct found *found)
{
	struct file *of = &f->files[id];

	owners_spend(&f->owners, of->owner, clock_now_ns() - f->from_ns);
	owners_give(&f->owners, of->owner, 1);
	of->state = found ? FILE_FOUND : FILE_OTHER;
	of->found = found;
	of->is_unreported = found;
	f->unreported += of->is_unreported;
	f->count++;
}

static void end_reading(struct mapped_files *f)
{
	reader_close(f->reader);
	free(f->found);
	f->reader = NULL;
	f->found = NULL;
}

/*
 * The file to look at: of the owner on whose files the least time was spent one that is likely to
 * have something, else that waited for longest. Whatever files somebody has, and however he calls
 * them, he delays his own. 0: there is none now.
 */
static uint32_t next_file(struct mapped_files *f)
{
	uint32_t owner, id;

	if (!owners_next(&f->owners, &owner))
		return 0;
	for (unsigned int n = 0; n < PASSED_OVER_MAX; n++) {
		id = take_waiting(f, &f->queues[owner]);
		if (!id || code_files_is_mapped(f->code, id))
			return id;
		owners_give(&f->owners, owner, 1);
		forget_file(f, id);
	}
	return 0;
}

static void look_at_file(struct mapped_files *f)
{
	uint32_t id = next_file(f);
	int fd;

	if (!id)
		return;
	f->from_ns = clock_now_ns();
	f->files[id].state = FILE_ASKED;
	fd = code_files_open(f->code, id);
	f->found = calloc(1, sizeof(*f->found));
	if (!f->found || fd < 0 || helpers_hang(f->helpers, code_files_call_key(f->code, id)) ||
	    reader_open(&f->reader, f->helpers, HELPER_USUAL, fd)) {
		settle_file(f, id, NULL);
		end_reading(f);
		return;
	}
	f->asked = ASKED_FILE;
	f->of = id;
	f->until_ns = clock_now_ns() + ANSWER_NS;
}

static int take_file(struct mapped_files *f, uint64_t wait_ns)
{
	struct reader_file file;
	int err = reader_file(f->reader, &file, wait_ns);

	if (err)
		return err;
	f->found->n_segments = file.n_segments;
	for (uint32_t i = 0; i < file.n_segments; i++)
		f->found->segments[i] = file.segments[i];
	f->asked = ASKED_PARTS;
	return reader_ask_parts(f->reader);
}

static void take_answer(struct mapped_files *f, uint64_t wait_ns)
{
	struct found *found = f->found;
	int err = 0;

	if (f->asked == ASKED_FILE)
		err = take_file(f, wait_ns);
	if (!err)
		err = reader_parts(f->reader, &found->parts, wait_ns);
	if (err == -EAGAIN && clock_now_ns() < f->until_ns &&
	    reader_cpu_ns(f->reader) < ANSWER_CPU_NS)
		return;
	if (err || !(found->parts.has_context || found->parts.has_interpreter))
		found = NULL;
	else
		f->found = NULL;
	if (err == -EAGAIN) {
		f->missed += !f->files[f->of].is_late;
		reader_close_late(f->reader, code_files_call_key(f->code, f->of));
		f->reader = NULL;
	}
	settle_file(f, f->of, found);
	end_reading(f);
}

static void step(struct mapped_files *f, uint64_t wait_ns)
{
	if (f->reader)
		take_answer(f, wait_ns);
	if (f->reader)
		return;
	tell_all(f);
	forget_unmapped(f, clock_now_ns());
	look_at_file(f);
}

void mapped_files_step(struct mapped_files *f)
{
	step(f, 0);
}

bool mapped_files_is_busy(const struct mapped_files *f)
{
	return f->reader || f->owners.held || f->unreported;
}

uint64_t mapped_files_count(const struct mapped_files *f)
{
	return f->count;
}

uint64_t mapped_files_missed(struct mapped_files *f)
{
	uint64_t now_ns = clock_now_ns();

	for (uint32_t i = 1; i < f->n_files; i++) {
		struct file *of = &f->files[i];

		if (of->state != FILE_WAITS || of->is_late || now_ns - of->since_ns <= LATE_NS)
			continue;
		of->is_late = true;
		f->missed++;
	}
	return f->missed;
}

/* ---- beginning and end ---------------------------------------------------------------------- */

int mapped_files_new(struct mapped_files **out, struct symbolizer *sym, struct helpers *helpers,
		     uint64_t least_bytes)
{
	struct mapped_files *f = *out = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->sym = sym;
	f->code = symbolizer_files(sym);
	f->helpers = helpers;
	f->least_bytes = least_bytes;
	return 0;
}

void mapped_files_tell(struct mapped_files *f, const struct mapped_files_user *user, void *ctx)
{
	f->users[f->n_users].fn = user;
	f->users[f->n_users++].ctx = ctx;
}

void mapped_files_begin(struct mapped_files *f, uint64_t wait_ns)
{
	uint64_t end_ns = clock_now_ns() + wait_ns;

	symbolizer_watch(f->sym, &watch, f);
	while (mapped_files_is_busy(f) && clock_now_ns() < end_ns)
		step(f, wait_ns / 10);
}

void mapped_files_free(struct mapped_files *f)
{
	if (!f)
		return;
	end_reading(f);
	for (uint32_t i = 1; i < f->n_files; i++)
		forget_file(f, i);
	free(f->files);
	free(f);
}
