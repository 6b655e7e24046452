// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/files.h"

#include <errno.h>
#include <stdlib.h>
#include <linux/types.h>

#include "files/owners.h"
#include "unwind/cfi.h"
#include "chainwire.h"
#include "unwind/rules.h"

/* With the file that is opened then: RULES_BYTES_MAX. */
#define BYTES_MAX (RULES_BYTES_MAX - CFI_MAX_BYTES)
/* A file unused for this long is dropped: it may be deleted, or its disk unmounted. */
#define IDLE_NS 60000000000u
/* What a file counts at least when room is made. */
#define FILE_BYTES (BYTES_MAX / RULES_FILES_MAX)
#define WINDOWS (1u << 14)
#define ANSWERS (1u << 12)

struct file {
	uint32_t id;	 /* code_files id, of which it holds a reference; 0: free */
	uint32_t serial; /* never reused */
	uint32_t owner;	 /* of owners */
	struct rules_file rules;
	bool is_missing; /* it cannot be opened: its rules are not known */
	uint64_t used_ns;
};

/* Recently used rules: of the file with this serial, around this offset. */
struct cached {
	uint64_t offset; /* a multiple of RULES_WINDOW */
	uint32_t serial;
	struct rules_window window;
};

/* What the code at an offset without a rule is. */
struct answer {
	uint64_t offset;
	uint32_t serial;
	bool of_call; /* whether a call ends before it; else whether signal handlers return to it */
	bool is_it;
};

struct unwind_files {
	struct code_files *code;
	struct rules *rules;
	uint32_t last_serial;
	uint32_t last; /* index of the file used last */
	uint64_t searched;
	bool is_late;
	uint64_t late_key;    /* the owner's of the file that was late */
	struct owners owners; /* of files */
	struct file files[RULES_FILES_MAX];
	struct cached windows[WINDOWS];
	struct answer answers[ANSWERS];
};

static void keep(void *files, struct rules_file *rules, uint64_t offset,
		 const struct rules_window *w, bool is_it);

int unwind_files_new(struct unwind_files **out, struct code_files *code, struct helpers *helpers)
{
	struct unwind_files *f = calloc(1, sizeof(*f));

	*out = NULL;
	if (!f)
		return -ENOMEM;
	f->code = code;
	for (uint32_t i = 0; i < RULES_FILES_MAX; i++)
		f->files[i].rules.index = i;
	if (rules_new(&f->rules, helpers, &rules_kind, keep, f)) {
		free(f);
		return -ENOMEM;
	}
	*out = f;
	return 0;
}

static void drop(struct unwind_files *f, struct file *file)
{
	uint32_t index = file->rules.index;

	if (!file->id)
		return;
	rules_close(f->rules, &file->rules);
	code_files_put(f->code, file->id);
	owners_give(&f->owners, file->owner, 1);
	*file = (struct file) { .rules.index = index };
}

void unwind_files_free(struct unwind_files *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < RULES_FILES_MAX; i++)
		drop(f, &f->files[i]);
	rules_free(f->rules);
	free(f);
}

void unwind_files_forget_idle(struct unwind_files *f, uint64_t now_ns)
{
	for (uint32_t i = 0; i < RULES_FILES_MAX; i++)
		if (f->files[i].id && (now_ns > f->files[i].used_ns + IDLE_NS ||
				       !code_files_is_mapped(f->code, f->files[i].id)))
			drop(f, &f->files[i]);
}

static size_t bytes_of(const struct unwind_files *f)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < RULES_FILES_MAX; i++)
		bytes += f->files[i].rules.bytes;
	return bytes;
}

/*
 * The file to drop for one of this owner: the least recently used one of the owner whose files take
 * most, so that who has many takes room from himself. NULL: there is none.
 */
static struct file *to_drop(struct unwind_files *f, uint32_t owner)
{
	uint64_t takes[OWNERS_MAX] = { 0 };
	struct file *drop = NULL;

	takes[owner] = FILE_BYTES;
	for (struct file *file = f->files; file < f->files + RULES_FILES_MAX; file++)
		if (file->id)
			takes[file->owner] +=
				file->rules.bytes > FILE_BYTES ? file->rules.bytes : FILE_BYTES;
	for (struct file *file = f->files; file < f->files + RULES_FILES_MAX; file++)
		if (file->id &&
		    (!drop || takes[file->owner] > takes[drop->owner] ||
		     (takes[file->owner] == takes[drop->owner] && file->used_ns < drop->used_ns)))
			drop = file;
	return drop;
}

/* A free place for a file of the owner, made by dropping another one if need be. */
static struct file *make_room(struct unwind_files *f, uint32_t owner)
{
	for (;;) {
		struct file *free_place = NULL, *dropped;

		for (uint32_t i = 0; i < RULES_FILES_MAX && !free_place; i++)
			if (!f->files[i].id)
				free_place = &f->files[i];
		if (free_place && bytes_of(f) <= BYTES_MAX)
			return free_place;
		dropped = to_drop(f, owner);
		if (!dropped)
			return free_place;
		drop(f, dropped);
	}
}

static struct file *find(struct unwind_files *f, uint32_t id, uint64_t now_ns)
{
	struct file *file = &f->files[f->last];

	if (file->id != id) {
		for (file = f->files; file < f->files + RULES_FILES_MAX && file->id != id; file++)
			;
	}
	/* Another container has mapped it meanwhile: what was read beside others' files is gone. */
	if (file < f->files + RULES_FILES_MAX &&
	    file->rules.root != code_files_root_id(f->code, id)) {
		drop(f, file);
		file = f->files + RULES_FILES_MAX;
	}
	if (file == f->files + RULES_FILES_MAX) {
		uint32_t owner = owners_find(&f->owners, code_files_owner_key(f->code, id));

		owners_add(&f->owners, owner, 1);
		file = make_room(f, owner);
		code_files_hold(f->code, id);
		file->id = id;
		file->owner = owner;
		file->serial = ++f->last_serial;
		file->rules.root = code_files_root_id(f->code, id);
	}
	file->used_ns = now_ns;
	f->last = (uint32_t)(file - f->files);
	return file;
}

/* ---- asking -------------------------------------------------------------------------------- */

/* Late is not missing: it is asked for again. */
static bool is_late(int err)
{
	return err == -ETIMEDOUT || err == -EBUSY || err == -EPIPE;
}

static int open_file(struct unwind_files *f, struct file *file)
{
	int fd = code_files_open(f->code, file->id);

	file->is_missing = fd < 0 && !is_late(fd);
	return fd < 0 ? fd : rules_open(f->rules, &file->rules, fd);
}

/* ---- answers ------------------------------------------------------------------------------- */

static uint64_t hash(uint32_t serial, uint64_t offset)
{
	return ((offset ^ (uint64_t)serial << 40) * 0x9e3779b97f4a7c15u) >> 40;
}

static struct answer *answer_at(struct unwind_files *f, uint32_t serial, uint64_t offset,
				bool of_call)
{
	return &f->answers[(hash(serial, offset) ^ of_call) % ANSWERS];
}

static bool is_answer(const struct answer *a, const struct file *file, uint64_t offset,
		      bool of_call)
{
	return a->serial == file->serial && a->offset == offset && a->of_call == of_call;
}

/* The row for byte at of a window; w->n: it has none. */
static uint32_t row_at(const struct rules_window *w, uint64_t at)
{
	uint32_t i = w->n;

	if (w->n && at >= w->from && at < w->to)
		while (i-- && w->starts[i] > at)
			;
	return i < w->n ? i : w->n;
}

/* UNWIND_NONE: the window has none, and more is to be asked. */
static struct unwind_rule rule_in(const struct rules_window *w, uint64_t offset)
{
	uint32_t i = row_at(w, offset % RULES_WINDOW);

	return i < w->n ? w->rules[i] : (struct unwind_rule) { .kind = UNWIND_NONE };
}

/* A rules_answer_fn. */
static void keep(void *files, struct rules_file *rules, uint64_t offset,
		 const struct rules_window *w, bool is_it)
{
	struct unwind_files *f = files;
	uint32_t serial = f->files[rules->index].serial;
	uint64_t base = offset - offset % RULES_WINDOW;

	f->searched++;
	if (w && w->n)
		f->windows[hash(serial, base) % WINDOWS] = (struct cached) { base, serial, *w };
	if (!w || rule_in(w, offset).kind == UNWIND_NONE)
		*answer_at(f, serial, offset, !w) = (struct answer) { offset, serial, !w, is_it };
}

/* Asks, and opens the file if need be. Returns 0: the answer is kept; or a negative errno. */
static int ask(struct unwind_files *f, struct file *file, uint64_t offset, bool of_call)
{
	int err = -ENOTCONN;

	for (int tries = 0; err == -ENOTCONN && tries < 3; tries++) {
		int opened = 0;

		err = rules_ask(f->rules, &file->rules, offset, of_call);
		if (err == -ENOTCONN)
			opened = open_file(f, file);
		if (opened < 0)
			err = is_late(opened) ? -EAGAIN : -EIO;
	}
	if (err == -EAGAIN) {
		f->is_late = true;
		f->late_key = f->owners.list[file->owner].key;
	}
	return err;
}

void unwind_files_poll(struct unwind_files *f)
{
	rules_poll(f->rules);
}

bool unwind_files_late(struct unwind_files *f)
{
	bool is_late = f->is_late;

	f->is_late = false;
	return is_late;
}

uint64_t unwind_files_late_key(const struct unwind_files *f)
{
	return f->late_key;
}

bool unwind_files_is_call(struct unwind_files *f, uint32_t id, uint64_t offset, uint64_t now_ns)
{
	struct file *file = find(f, id, now_ns);
	const struct answer *a = answer_at(f, file->serial, offset, true);

	if (!is_answer(a, file, offset, true) && ask(f, file, offset, true))
		return false;
	return is_answer(a, file, offset, true) && a->is_it;
}

/* False: it is to be asked for. */
static bool find_known(struct unwind_files *f, const struct file *file, uint64_t offset,
		       struct unwind_rule *r)
{
	uint64_t base = offset - offset % RULES_WINDOW;
	const struct cached *c = &f->windows[hash(file->serial, base) % WINDOWS];
	const struct answer *a = answer_at(f, file->serial, offset, false);

	*r = (struct unwind_rule) { .kind = UNWIND_NONE };
	if (c->serial == file->serial && c->offset == base)
		*r = rule_in(&c->window, offset);
	if (r->kind != UNWIND_NONE)
		return true;
	if (!is_answer(a, file, offset, false))
		return false;
	r->kind = a->is_it ? UNWIND_SIGNAL : UNWIND_NONE;
	return true;
}

/* The bytes of the row of its window that the offset is in; none if the window is not known. */
static struct unwind_extent row_extent(const struct unwind_files *f, const struct file *file,
				       uint64_t offset)
{
	uint64_t at = offset % RULES_WINDOW, base = offset - at;
	const struct cached *c = &f->windows[hash(file->serial, base) % WINDOWS];
	const struct rules_window *w = &c->window;
	uint32_t row;

	if (c->serial != file->serial || c->offset != base)
		return (struct unwind_extent) { offset, offset };
	row = row_at(w, at);
	if (row >= w->n || w->rules[row].kind == UNWIND_NONE)
		return (struct unwind_extent) { offset, offset };
	return (struct unwind_extent) { base + w->starts[row],
					base + (row + 1 < w->n ? w->starts[row + 1] : w->to) };
}

struct unwind_rule unwind_files_rule(struct unwind_files *f, uint32_t id, uint64_t offset,
				     uint64_t now_ns, struct unwind_extent *known)
{
	struct file *file = find(f, id, now_ns);
	struct unwind_rule r;
	bool is_known = find_known(f, file, offset, &r);

	/* Another process may have mapped it meanwhile. */
	if (file->is_missing && code_files_is_open(f->code, id))
		file->is_missing = false;
	if (!is_known && !file->is_missing && !ask(f, file, offset, false))
		is_known = find_known(f, file, offset, &r);
	/* If the file could not be opened, nothing is guessed, because most files have rules. */
	if (!is_known)
		r.kind = file->is_missing ? UNWIND_HARD : UNWIND_UNKNOWN;
	if (known)
		*known = is_known ? row_extent(f, file, offset)
				  : (struct unwind_extent) { offset, offset };
	return r;
}

/* ---- figures ------------------------------------------------------------------------------- */

void unwind_files_stats(const struct unwind_files *f, struct unwinder_stats *out)
{
	out->looked_up = f->searched;
	out->bytes = bytes_of(f);
	out->files = 0;
	for (uint32_t i = 0; i < RULES_FILES_MAX; i++)
		out->files += f->files[i].id != 0;
	rules_trouble(f->rules, &out->restarts, &out->late);
}
