// SPDX-License-Identifier: GPL-2.0-or-later
#include "mapped_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/grow.h"
#include "kernel/clock.h"

/* Mappings of files that were not looked at yet. */
#define WAITING_MAX 65536u
#define WAITING_OF_OWNER (WAITING_MAX / 4)
/* Owners of files are told apart so far; the others share what the last one gets. */
#define OWNERS_MAX 1024u
/* What has waited for so long at the end is told to be missing. */
#define LATE_NS 2000000000u
/*
 * A helper that takes more CPU time for a file has failed, or more time in all: on a busy machine
 * it may wait for a CPU for seconds. Few files take 10 ms.
 */
#define ANSWER_CPU_NS 1000000000u
#define ANSWER_NS 10000000000u

enum file_state {
	FILE_NEW,
	FILE_WAITS, /* to be looked at */
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
	bool is_likely; /* by its name to have something */
	uint32_t owner; /* of owners, once it waits; and since when it does */
	uint64_t since_ns;
	struct found *found; /* NULL: nothing, or not known yet */
};

/* Who owns files, in one root directory: those in a container may all be root's. */
struct owner {
	uint64_t key;
	uint64_t spent_ns; /* on looking at its files, or when it came as much as others had then */
	uint32_t n_waiting;
};

/* A file that a process has mapped and that is still to be looked at. */
struct waiting {
	uint32_t tgid, file;
	uint64_t start, end, pgoff;
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
	struct waiting *waiting;
	size_t n_waiting, cap_waiting;
	uint64_t count, forgot_ns;
	struct owner *owners;
	uint32_t n_owners;
	uint64_t turn_ns; /* spent_ns of the owner whose turn it was last */
	uint64_t missed;  /* mappings that are not waiting, and were not looked at */

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

/* One of those in the list is in it no more. */
static void drop_waiting(struct mapped_files *f, const struct waiting *w)
{
	f->owners[f->files[w->file].owner].n_waiting--;
}

static bool is_unused(const struct mapped_files *f, uint32_t id)
{
	return f->files[id].state != FILE_NEW && !code_files_is_mapped(f->code, id) &&
	       !(f->reader && f->of == id);
}

/* Ids are used again when nobody holds the file. */
static void forget_unmapped(struct mapped_files *f, uint64_t now_ns)
{
	size_t n = 0;

	if (now_ns - f->forgot_ns < 1000000000)
		return;
	f->forgot_ns = now_ns;
	for (size_t i = 0; i < f->n_waiting; i++)
		if (is_unused(f, f->waiting[i].file))
			drop_waiting(f, &f->waiting[i]);
		else
			f->waiting[n++] = f->waiting[i];
	f->n_waiting = n;
	for (uint32_t i = 1; i < f->n_files; i++)
		if (is_unused(f, i))
			forget_file(f, i);
}

/* ---- processes ------------------------------------------------------------------------------ */

/* The file, which has something, is mapped there. */
static void tell_mapped(const struct mapped_files *f, const struct found *found,
			const struct waiting *w)
{
	for (uint32_t i = 0; i < found->n_segments; i++) {
		const struct elfsym_segment *s = &found->segments[i];

		/* A segment is mapped from the beginning of its first page on. */
		if (s->offset >= w->pgoff + (w->end - w->start) || s->offset + s->bytes <= w->pgoff)
			continue;
		for (unsigned int u = 0; u < f->n_users; u++)
			f->users[u].fn->mapped(f->users[u].ctx, w->tgid,
					       w->start - w->pgoff + s->offset - s->vaddr,
					       &found->parts);
		return;
	}
}

static uint32_t owner_of(struct mapped_files *f, uint32_t file)
{
	uint64_t key =
		(uint64_t)code_files_owner(f->code, file) << 32 | code_files_root_id(f->code, file);
	uint32_t i = 0;

	while (i < f->n_owners && f->owners[i].key != key)
		i++;
	if (i < f->n_owners)
		return i;
	if (i == OWNERS_MAX)
		return i - 1;
	f->owners[f->n_owners++] = (struct owner) { .key = key };
	return i;
}

static bool add_waiting(struct mapped_files *f, struct waiting w, uint32_t owner)
{
	struct owner *o = &f->owners[owner];

	if (f->n_waiting >= WAITING_MAX || o->n_waiting >= WAITING_OF_OWNER ||
	    !GROW(f->waiting, f->n_waiting, f->cap_waiting)) {
		f->missed++;
		return false;
	}
	/* Nobody saves up turns. */
	if (o->spent_ns < f->turn_ns)
		o->spent_ns = f->turn_ns;
	o->n_waiting++;
	f->waiting[f->n_waiting++] = w;
	return true;
}

static bool is_likely(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return strstr(name, "python") || strstr(name, "php");
}

static void mapped(void *ctx, uint32_t tgid, const struct mapping *m)
{
	struct waiting w = { tgid, m->file, m->start, m->end, m->pgoff };
	struct mapped_files *f = ctx;
	struct file *of;

	if (code_files_kind(f->code, m->file) != CODE_FILE || m->end - m->start < f->least_bytes)
		return;
	of = file_at(f, m->file);
	if (of && of->found)
		tell_mapped(f, of->found, &w);
	if (!of || of->state == FILE_OTHER || of->state == FILE_FOUND)
		return;
	if (of->state == FILE_NEW)
		of->owner = owner_of(f, m->file);
	if (!add_waiting(f, w, of->owner))
		return;
	if (of->state == FILE_NEW) {
		code_files_hold(f->code, m->file);
		of->is_likely = is_likely(code_files_path(f->code, m->file));
		of->since_ns = clock_now_ns();
	}
	of->state = FILE_WAITS;
}

static void gone(void *ctx, uint32_t tgid)
{
	struct mapped_files *f = ctx;
	size_t n = 0;

	for (size_t i = 0; i < f->n_waiting; i++)
		if (f->waiting[i].tgid != tgid)
			f->waiting[n++] = f->waiting[i];
		else
			drop_waiting(f, &f->waiting[i]);
	f->n_waiting = n;
	for (unsigned int u = 0; u < f->n_users; u++)
		f->users[u].fn->gone(f->users[u].ctx, tgid);
}

static void forked(void *ctx, uint32_t tgid, uint32_t parent)
{
	struct mapped_files *f = ctx;
	size_t n;

	gone(f, tgid);
	n = f->n_waiting;
	for (size_t i = 0; i < n; i++) {
		struct waiting w = f->waiting[i];

		if (w.tgid != parent)
			continue;
		w.tgid = tgid;
		(void)add_waiting(f, w, f->files[w.file].owner);
	}
	for (unsigned int u = 0; u < f->n_users; u++)
		f->users[u].fn->forked(f->users[u].ctx, tgid, parent);
}

static const struct process_watch watch = { mapped, forked, gone };

/* ---- looking at files ----------------------------------------------------------------------- */

/* The file was looked at: what waited for it is over. found: what it has; NULL: nothing. */
static void settle_file(struct mapped_files *f, uint32_t id, struct found *found)
{
	struct owner *o = &f->owners[f->files[id].owner];
	size_t n = 0;

	o->spent_ns += clock_now_ns() - f->from_ns;
	f->files[id].state = found ? FILE_FOUND : FILE_OTHER;
	f->files[id].found = found;
	f->count++;
	for (size_t i = 0; i < f->n_waiting; i++) {
		struct waiting w = f->waiting[i];

		if (w.file != id) {
			f->waiting[n++] = w;
			continue;
		}
		drop_waiting(f, &w);
		if (found)
			tell_mapped(f, found, &w);
	}
	f->n_waiting = n;
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
 * them, he delays his own.
 */
static uint32_t next_file(const struct mapped_files *f)
{
	uint32_t next = f->waiting[0].file;

	for (size_t i = 1; i < f->n_waiting; i++) {
		const struct file *a = &f->files[f->waiting[i].file], *b = &f->files[next];

		if (a->owner == b->owner
			    ? a->is_likely && !b->is_likely
			    : f->owners[a->owner].spent_ns < f->owners[b->owner].spent_ns)
			next = f->waiting[i].file;
	}
	return next;
}

static void look_at_file(struct mapped_files *f)
{
	uint32_t id = next_file(f);
	int fd = code_files_open(f->code, id);

	f->from_ns = clock_now_ns();
	f->turn_ns = f->owners[f->files[id].owner].spent_ns;
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
		f->missed++;
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
	forget_unmapped(f, clock_now_ns());
	if (f->n_waiting)
		look_at_file(f);
}

void mapped_files_step(struct mapped_files *f)
{
	step(f, 0);
}

bool mapped_files_is_busy(const struct mapped_files *f)
{
	return f->reader || f->n_waiting;
}

uint64_t mapped_files_count(const struct mapped_files *f)
{
	return f->count;
}

uint64_t mapped_files_missed(const struct mapped_files *f)
{
	uint64_t n = f->missed, now_ns = clock_now_ns();

	for (size_t i = 0; i < f->n_waiting; i++)
		n += now_ns - f->files[f->waiting[i].file].since_ns > LATE_NS;
	return n;
}

/* ---- beginning and end ---------------------------------------------------------------------- */

int mapped_files_new(struct mapped_files **out, struct symbolizer *sym, struct helpers *helpers,
		     uint64_t least_bytes)
{
	struct mapped_files *f = *out = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->owners = calloc(OWNERS_MAX, sizeof(*f->owners));
	if (!f->owners)
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
	free(f->waiting);
	free(f->owners);
	free(f);
}
