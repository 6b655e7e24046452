// SPDX-License-Identifier: GPL-2.0-or-later
#include "publishers.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/grow.h"
#include "files/process_context.h"
#include "kernel/clock.h"
#include "names/reader.h"

/* Mappings of files that were not looked at yet. */
#define WAITING_MAX 65536u
/* For how long the processes that run at the beginning are waited for. */
#define BEGIN_NS 1000000000u
/* A helper that takes longer for a file has failed. */
#define ANSWER_NS 1000000000u
/* Keys may be published later: the process is asked again, each time after twice as long. */
#define AGAIN_NS 250000000u
#define AGAIN_FIRST_NS 1u
#define AGAIN_MAX_NS 8000000000u

enum file_state {
	FILE_NEW,
	FILE_WAITS, /* to be looked at */
	FILE_OTHER, /* does not publish */
	FILE_PUBLISHES,
};

/* By code_files id. All but new ones are held, so that the id stays theirs. */
struct file {
	enum file_state state;
	struct elftls variable;
	uint32_t n_segments;
	struct elfsym_segment segments[READER_SEGMENTS_MAX]; /* of code */
};

/* A file that a process has mapped and that is still to be looked at. */
struct waiting {
	uint32_t tgid, file;
	uint64_t start, end, pgoff;
};

struct process {
	uint32_t tgid;
	struct wire_publisher at;
	uint64_t again_ns, pause_ns; /* when its keys are looked for; again_ns 0: they are known */
};

enum asked { ASKED_NOTHING, ASKED_FILE, ASKED_VARIABLE, ASKED_KEYS };

struct publishers {
	struct symbolizer *sym;
	struct code_files *code;
	struct helpers *helpers;
	publishers_fn fn;
	void *ctx;
	struct file *files;
	uint32_t n_files; /* room in files */
	struct waiting *waiting;
	size_t n_waiting, cap_waiting;
	struct process *processes;
	size_t n_processes, cap_processes;
	struct publishers_count count;
	uint64_t forgot_ns;

	struct reader *reader; /* NULL: none is at work */
	enum asked asked;
	uint32_t of; /* file, or process */
	uint64_t until_ns;
};

/* ---- files ---------------------------------------------------------------------------------- */

/* NULL: out of memory. */
static struct file *file_at(struct publishers *p, uint32_t id)
{
	uint32_t n = id + 64;
	struct file *files;

	if (id < p->n_files)
		return &p->files[id];
	files = realloc(p->files, n * sizeof(*files));
	if (!files)
		return NULL;
	for (uint32_t i = p->n_files; i < n; i++)
		files[i] = (struct file) { .state = FILE_NEW };
	p->files = files;
	p->n_files = n;
	return &files[id];
}

static void forget_file(struct publishers *p, uint32_t id)
{
	if (p->files[id].state == FILE_NEW)
		return;
	p->files[id] = (struct file) { .state = FILE_NEW };
	code_files_put(p->code, id);
}

/* Ids are used again when nobody holds the file. */
static void forget_unmapped(struct publishers *p, uint64_t now_ns)
{
	if (now_ns - p->forgot_ns < 1000000000)
		return;
	p->forgot_ns = now_ns;
	for (uint32_t i = 1; i < p->n_files; i++)
		if (p->files[i].state != FILE_NEW && !code_files_is_mapped(p->code, i) &&
		    !(p->reader && p->asked != ASKED_KEYS && p->of == i))
			forget_file(p, i);
}

/* ---- processes ------------------------------------------------------------------------------ */

static struct process *find_process(struct publishers *p, uint32_t tgid)
{
	for (size_t i = 0; i < p->n_processes; i++)
		if (p->processes[i].tgid == tgid)
			return &p->processes[i];
	return NULL;
}

static void tell(struct publishers *p, const struct process *of)
{
	p->fn(p->ctx, of->tgid, &of->at);
}

/* The process publishes as that says; a variable found before counts no more. */
static void add_process(struct publishers *p, uint32_t tgid, const struct wire_publisher *at)
{
	struct process *of = find_process(p, tgid);

	if (!of && (p->n_processes >= WIRE_PUBLISHERS ||
		    !GROW(p->processes, p->n_processes, p->cap_processes)))
		return;
	if (!of) {
		of = &p->processes[p->n_processes++];
		p->count.processes++;
	}
	*of = (struct process) {
		.tgid = tgid, .at = *at, .again_ns = AGAIN_FIRST_NS, .pause_ns = AGAIN_NS
	};
	tell(p, of);
}

/* The file, which publishes, is mapped there. */
static void add_mapping(struct publishers *p, const struct file *f, const struct waiting *w)
{
	struct wire_publisher at = {
		.offset = f->variable.offset,
		.tls = f->variable.tls,
		.route = WIRE_NO_KEY,
	};

	for (uint32_t i = 0; i < f->n_segments; i++) {
		const struct elfsym_segment *s = &f->segments[i];

		/* A segment is mapped from the beginning of its first page on. */
		if (s->offset >= w->pgoff + (w->end - w->start) || s->offset + s->bytes <= w->pgoff)
			continue;
		at.slot = w->start - w->pgoff + s->offset - s->vaddr + f->variable.slot;
		add_process(p, w->tgid, &at);
		return;
	}
}

static void mapped(void *ctx, uint32_t tgid, const struct mapping *m)
{
	struct waiting w = { tgid, m->file, m->start, m->end, m->pgoff };
	struct publishers *p = ctx;
	struct file *f;

	if (code_files_kind(p->code, m->file) != CODE_FILE)
		return;
	f = file_at(p, m->file);
	if (f && f->state == FILE_PUBLISHES)
		add_mapping(p, f, &w);
	if (!f || f->state == FILE_OTHER || f->state == FILE_PUBLISHES ||
	    p->n_waiting >= WAITING_MAX || !GROW(p->waiting, p->n_waiting, p->cap_waiting))
		return;
	p->waiting[p->n_waiting++] = w;
	if (f->state == FILE_NEW)
		code_files_hold(p->code, m->file);
	f->state = FILE_WAITS;
}

static void gone(void *ctx, uint32_t tgid)
{
	struct publishers *p = ctx;
	struct process *of = find_process(p, tgid);
	size_t n = 0;

	for (size_t i = 0; i < p->n_waiting; i++)
		if (p->waiting[i].tgid != tgid)
			p->waiting[n++] = p->waiting[i];
	p->n_waiting = n;
	if (!of)
		return;
	*of = p->processes[--p->n_processes];
	p->fn(p->ctx, tgid, NULL);
}

static void forked(void *ctx, uint32_t tgid, uint32_t parent)
{
	struct publishers *p = ctx;
	size_t n = p->n_waiting;
	const struct process *of;

	gone(p, tgid);
	for (size_t i = 0; i < n && i < p->n_waiting; i++) {
		struct waiting w = p->waiting[i];

		if (w.tgid != parent || p->n_waiting >= WAITING_MAX ||
		    !GROW(p->waiting, p->n_waiting, p->cap_waiting))
			continue;
		w.tgid = tgid;
		p->waiting[p->n_waiting++] = w;
	}
	of = find_process(p, parent);
	if (of) {
		struct wire_publisher at = of->at;

		add_process(p, tgid, &at);
	}
}

static const struct process_watch watch = { mapped, forked, gone };

/* ---- looking at files ----------------------------------------------------------------------- */

/* The file was looked at: what waited for it is over. */
static void settle_file(struct publishers *p, uint32_t id, bool publishes)
{
	struct file *f = &p->files[id];
	size_t n = 0;

	f->state = publishes ? FILE_PUBLISHES : FILE_OTHER;
	p->count.files++;
	for (size_t i = 0; i < p->n_waiting; i++) {
		struct waiting w = p->waiting[i];

		if (w.file != id)
			p->waiting[n++] = w;
		else if (publishes)
			add_mapping(p, f, &w);
	}
	p->n_waiting = n;
}

static void end_reading(struct publishers *p)
{
	reader_close(p->reader);
	p->reader = NULL;
	p->asked = ASKED_NOTHING;
}

static void begin_reading(struct publishers *p, enum asked asked, uint32_t of)
{
	p->asked = asked;
	p->of = of;
	p->until_ns = clock_now_ns() + ANSWER_NS;
}

/* Begins with the file that somebody has waited for longest. */
static void look_at_file(struct publishers *p)
{
	uint32_t id = p->waiting[0].file;
	int fd = code_files_open(p->code, id);

	if (fd < 0 || reader_open(&p->reader, p->helpers, HELPER_USUAL, fd)) {
		settle_file(p, id, false);
		return;
	}
	begin_reading(p, ASKED_FILE, id);
}

static int take_file(struct publishers *p, uint64_t wait_ns)
{
	struct file *f = &p->files[p->of];
	struct reader_file file;
	int err = reader_file(p->reader, &file, wait_ns);

	if (err)
		return err;
	f->n_segments = file.n_segments;
	for (uint32_t i = 0; i < file.n_segments; i++)
		f->segments[i] = file.segments[i];
	p->asked = ASKED_VARIABLE;
	err = reader_ask_context(p->reader);
	return err ? err : -EAGAIN;
}

/* ---- keys ----------------------------------------------------------------------------------- */

/* Begins with a process whose keys are to be looked for, if there is one. */
static void look_for_keys(struct publishers *p, uint64_t now_ns)
{
	for (size_t i = 0; i < p->n_processes; i++) {
		struct process *of = &p->processes[i];
		int fd;

		if (!of->again_ns || of->again_ns > now_ns)
			continue;
		of->again_ns = now_ns + of->pause_ns;
		if (of->pause_ns < AGAIN_MAX_NS)
			of->pause_ns *= 2;
		fd = process_context_copy(of->tgid);
		if (fd < 0)
			return;
		if (!reader_open_keys(&p->reader, p->helpers, fd))
			begin_reading(p, ASKED_KEYS, of->tgid);
		close(fd);
		return;
	}
}

static int take_keys(struct publishers *p, uint64_t wait_ns)
{
	struct process *of = find_process(p, p->of);
	int route = reader_route(p->reader, wait_ns);

	if (route < 0)
		return route;
	if (!of || route == (int)WIRE_NO_KEY)
		return 0;
	of->at.route = (uint32_t)route;
	of->again_ns = 0;
	p->count.routes++;
	tell(p, of);
	return 0;
}

/* ---- steps ---------------------------------------------------------------------------------- */

static void take_answer(struct publishers *p, uint64_t wait_ns)
{
	int err = 0;

	if (p->asked == ASKED_FILE)
		err = take_file(p, wait_ns);
	if (p->asked == ASKED_VARIABLE && (!err || err == -EAGAIN))
		err = reader_context(p->reader, &p->files[p->of].variable, wait_ns);
	else if (p->asked == ASKED_KEYS)
		err = take_keys(p, wait_ns);
	if (err == -EAGAIN && clock_now_ns() < p->until_ns)
		return;
	if (p->asked != ASKED_KEYS)
		settle_file(p, p->of, !err);
	end_reading(p);
}

static void step(struct publishers *p, uint64_t wait_ns)
{
	uint64_t now_ns;

	if (p->reader)
		take_answer(p, wait_ns);
	if (p->reader)
		return;
	now_ns = clock_now_ns();
	forget_unmapped(p, now_ns);
	if (p->n_waiting)
		look_at_file(p);
	else
		look_for_keys(p, now_ns);
}

void publishers_step(struct publishers *p)
{
	step(p, 0);
}

bool publishers_is_busy(const struct publishers *p)
{
	return p && (p->reader || p->n_waiting);
}

struct publishers_count publishers_count(const struct publishers *p)
{
	return p->count;
}

/* Whether a process was not asked for its keys yet. */
static bool is_key_wanted(const struct publishers *p)
{
	for (size_t i = 0; i < p->n_processes; i++)
		if (p->processes[i].again_ns == AGAIN_FIRST_NS)
			return true;
	return false;
}

/* ---- beginning and end ---------------------------------------------------------------------- */

int publishers_new(struct publishers **out, struct symbolizer *sym, struct helpers *helpers,
		   publishers_fn fn, void *ctx)
{
	struct publishers *p = *out = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->sym = sym;
	p->code = symbolizer_files(sym);
	p->helpers = helpers;
	p->fn = fn;
	p->ctx = ctx;
	symbolizer_watch(sym, &watch, p);
	for (uint64_t end_ns = clock_now_ns() + BEGIN_NS;
	     (publishers_is_busy(p) || is_key_wanted(p)) && clock_now_ns() < end_ns;)
		step(p, BEGIN_NS / 10);
	return 0;
}

void publishers_free(struct publishers *p)
{
	if (!p)
		return;
	end_reading(p);
	for (uint32_t i = 1; i < p->n_files; i++)
		forget_file(p, i);
	free(p->files);
	free(p->waiting);
	free(p->processes);
	free(p);
}
