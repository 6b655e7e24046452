// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the stacks lack of processes that compile code while they run, or that call a library
 * without call frame information. Of code it is found out when the first such frame is seen: at the
 * end the process may be gone.
 */
#include "symbolize_private.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/process_status.h"
#include "kernel/clock.h"
#include "kernel/host_proc.h"

/*
 * A reader that takes longer has failed; it takes some 20 ms. What is waited for at the end, and
 * the part of what is left then: programs of others want names, too.
 */
#define ANSWER_NS 5000000000u
#define END_NS 3000000000u
#define END_PART 4u

/*
 * For the perf maps of all JVMs, and for those that are asked at a time. One with a hundred
 * thousand compiled methods takes a second.
 */
#define MAPS_NS 5000000000u
#define MAPS_PART 2u
#define TURN_PART 2u

/* ---- what runs the code --------------------------------------------------------------------- */

static const struct mapping *find_runtime(const struct symbolizer *s, const struct image *i,
					  const struct runtime **runtime)
{
	for (uint32_t k = 0; i->maps && k < i->maps->n; k++) {
		const struct mapping *m = &i->maps->list[k];

		if (code_files_kind(s->files, m->file) != CODE_FILE)
			continue;
		*runtime = runtime_of(code_files_path(s->files, m->file));
		if (*runtime)
			return m;
	}
	*runtime = NULL;
	return NULL;
}

void runtimes_find(struct symbolizer *s, struct generated *g, const struct image *i)
{
	const struct mapping *m = NULL;

	g->runtime = NULL;
	if (!s->limit.later)
		m = find_runtime(s, i, &g->runtime);

	notes_program(i, g->program);
	g->runtime_file = 0;
	g->map_result = JAVA_MAP_RESULTS;
	g->takes_commands = false;
	g->has_code = i->has_code;
	g->is_unasked = g->lacks_callers = g->has_interpreted = g->is_noted = false;
	g->lacks_interpreted = m && g->runtime->interpreted_option &&
			       !runtime_has_option(i->tgid, g->runtime->interpreted_option);
	if (!m || !g->runtime->is_jvm)
		return;
	g->runtime_file = m->file;
	g->runtime_at = m->start - m->pgoff;
	code_files_hold(s->files, m->file);
	g->is_unasked = true;
	g->owner = owners_find(&s->jvms.owners, process_owner_key(g->tgid));
	owners_add(&s->jvms.owners, g->owner, 1);
}

/* ---- code of JVMs ---------------------------------------------------------------------------- */

/* So long after the recording or the process began it may not be known yet that this is a JVM. */
#define JVM_FOUND_NS 10000000000u

void symbolizer_read_java(struct symbolizer *s, struct jvms *jvms)
{
	s->jvms.code = jvms;
	s->jvms.code_ns = clock_now_ns();
}

struct jvms *symbolizer_jvms(const struct symbolizer *s)
{
	return s->jvms.code;
}

static bool may_be_jvm(const struct symbolizer *s, const struct image *i)
{
	uint64_t since_ns = i->start_ns > s->jvms.code_ns ? i->start_ns : s->jvms.code_ns;
	const struct runtime *r;

	return clock_now_ns() < since_ns + JVM_FOUND_NS && find_runtime(s, i, &r) && r->is_jvm;
}

uint32_t symbolizer_java_process(const struct symbolizer *s, uint32_t space, bool *is_likely)
{
	const struct image *i = s->images ? images_of_space(s->images, space) : NULL;

	if (!i || i->ended)
		return 0;
	*is_likely = may_be_jvm(s, i);
	return i->tgid;
}

/* ---- asking JVMs for their options ---------------------------------------------------------- */

/* Nothing more is to be asked. */
static void settle(struct symbolizer *s, struct generated *g)
{
	if (g->is_unasked)
		owners_give(&s->jvms.owners, g->owner, 1);
	g->is_unasked = false;
	if (g->runtime_file)
		code_files_put(s->files, g->runtime_file);
	g->runtime_file = 0;
}

static void end_reading(struct symbolizer *s)
{
	owners_spend(&s->jvms.owners, s->generated[s->jvms.of].owner,
		     clock_now_ns() + ANSWER_NS - s->jvms.until_ns);
	reader_close(s->jvms.reader);
	s->jvms.reader = NULL;
}

void runtimes_forget(struct symbolizer *s, struct generated *g)
{
	if (s->jvms.reader && g == &s->generated[s->jvms.of])
		end_reading(s);
	settle(s, g);
}

static int begin_reading(struct symbolizer *s, struct generated *g)
{
	int fd = code_files_open(s->files, g->runtime_file);
	int err = fd < 0 ? fd : reader_open(&s->jvms.reader, s->readers, HELPER_USUAL, fd);

	s->jvms.of = (uint32_t)(g - s->generated);
	s->jvms.is_asked = false;
	s->jvms.until_ns = clock_now_ns() + ANSWER_NS;
	return err;
}

static int ask(struct symbolizer *s, const struct generated *g)
{
	int memory = runtime_memory(g->tgid);
	int err = memory < 0 ? memory : reader_ask_jvm(s->jvms.reader, memory, g->runtime_at);

	if (memory >= 0)
		close(memory);
	s->jvms.is_asked = true;
	return err ? err : -EAGAIN;
}

static void go_on(struct symbolizer *s, struct generated *g, uint64_t wait_ns)
{
	struct jvm_flags flags;
	struct reader_file file;
	int err;

	if (s->jvms.is_asked) {
		err = reader_jvm(s->jvms.reader, &flags, wait_ns);
		g->lacks_callers = !err && flags.compiles && !flags.frame_pointers;
		g->takes_commands = !err && !flags.is_deaf;
		g->map_result = err ? JAVA_MAP_RESULTS : JAVA_MAP_REFUSED;
	} else {
		err = reader_file(s->jvms.reader, &file, wait_ns);
		if (!err)
			err = ask(s, g);
	}
	if (err == -EAGAIN && clock_now_ns() < s->jvms.until_ns)
		return;
	end_reading(s);
	settle(s, g);
}

void runtimes_step(struct symbolizer *s, uint64_t wait_ns)
{
	uint32_t owner;

	if (s->jvms.reader) {
		go_on(s, &s->generated[s->jvms.of], wait_ns);
		return;
	}
	for (uint32_t i = 0; owners_next(&s->jvms.owners, &owner) && i < s->n_generated; i++) {
		struct generated *g = &s->generated[i];

		if (!g->tgid || !g->is_unasked || g->owner != owner)
			continue;
		if (begin_reading(s, g))
			settle(s, g);
		return;
	}
}

bool runtimes_is_busy(const struct symbolizer *s)
{
	return s->jvms.owners.held;
}

static uint64_t at_most(uint64_t ns, uint64_t left_ns)
{
	return ns < left_ns ? ns : left_ns;
}

void runtimes_end(struct symbolizer *s)
{
	uint64_t end_ns = clock_now_ns() + at_most(END_NS, symbolize_left_ns(s) / END_PART);

	while (runtimes_is_busy(s) && clock_now_ns() < end_ns)
		runtimes_step(s, END_NS / 10);
}

/* ---- asking them for their perf maps --------------------------------------------------------- */

/* Whose JVMs are asked: one of each owner after the other. */
struct jvm_turns {
	struct owners owners;	    /* hold those that are not asked yet */
	uint32_t at[OWNERS_MAX];    /* where to look for the next one of each */
	bool is_silent[OWNERS_MAX]; /* one of them did not answer: no more are asked */
	uint32_t next;		    /* whose turn it is */
	struct generated *g[JAVA_MAPS_MAX];
	uint32_t tgids[JAVA_MAPS_MAX];
	enum java_map results[JAVA_MAPS_MAX];
	size_t n;
};

static bool is_to_be_asked(const struct generated *g)
{
	return g->tgid && !g->has_ended && g->takes_commands && g->frames;
}

static void list_jvms(struct symbolizer *s, struct jvm_turns *a)
{
	for (uint32_t i = 0; i < s->n_generated; i++) {
		struct generated *g = &s->generated[i];

		if (!is_to_be_asked(g))
			continue;
		g->map_result = JAVA_MAP_SILENT; /* as others of its owner's */
		g->owner = owners_find(&a->owners, process_owner_key(g->tgid));
		owners_add(&a->owners, g->owner, 1);
	}
}

/* Adds the owner's next one. False: there is none. */
static bool add_next(struct symbolizer *s, struct jvm_turns *a, uint32_t owner)
{
	if (a->is_silent[owner] || !a->owners.list[owner].held)
		return false;
	for (uint32_t *at = &a->at[owner]; *at < s->n_generated; ++*at) {
		struct generated *g = &s->generated[*at];

		if (!is_to_be_asked(g) || g->owner != owner)
			continue;
		a->tgids[a->n] = g->tgid;
		a->g[a->n++] = g;
		++*at;
		owners_give(&a->owners, owner, 1);
		return true;
	}
	return false;
}

/* Those that are asked together next. */
static void choose_jvms(struct symbolizer *s, struct jvm_turns *a)
{
	uint32_t had_none = 0, n = a->owners.n;

	a->n = 0;
	while (a->n < JAVA_MAPS_MAX && had_none < n) {
		had_none = add_next(s, a, a->next % n) ? 0 : had_none + 1;
		a->next++;
	}
}

void runtimes_write_maps(struct symbolizer *s)
{
	uint64_t end_ns = clock_now_ns() + at_most(MAPS_NS, symbolize_left_ns(s) / MAPS_PART);
	struct jvm_turns *a = s->jvms.helpers ? calloc(1, sizeof(*a)) : NULL;

	if (!a)
		return;
	list_jvms(s, a);
	while (choose_jvms(s, a), a->n) {
		uint64_t now_ns = clock_now_ns();

		java_maps_write(s->jvms.helpers, a->tgids, a->n, a->results,
				now_ns < end_ns ? (end_ns - now_ns) / TURN_PART : 0);
		for (size_t i = 0; i < a->n; i++) {
			a->g[i]->map_result = a->results[i];
			a->is_silent[a->g[i]->owner] |= a->results[i] == JAVA_MAP_SILENT;
		}
	}
	free(a);
}

/* ---- notes ---------------------------------------------------------------------------------- */

static int note_generated(struct symbolizer *s, const struct generated *g,
			  const struct runtime_lack *lack)
{
	return notes_put(s, g->tgid, g->program, lack);
}

/* Without a perf map. */
static const struct runtime_lack *no_names(const struct symbolizer *s, const struct generated *g)
{
	if (g->runtime->is_jvm && !host_proc_lives(g->tgid))
		return &runtime_java_map[JAVA_MAP_GONE];
	if (s->jvms.helpers && g->map_result < JAVA_MAP_RESULTS &&
	    g->map_result != JAVA_MAP_WRITTEN)
		return &runtime_java_map[g->map_result];
	return &g->runtime->names;
}

int runtimes_note(struct symbolizer *s, struct generated *g, bool has_map)
{
	const struct runtime *r = g->runtime;
	int err = 0;

	if (g->is_noted)
		return 0;
	g->is_noted = true;
	if (r && g->lacks_callers && !g->has_code)
		err = note_generated(s, g, &r->callers);
	if (!err && g->fd == -ESTALE)
		err = note_generated(s, g, &runtime_stale_map);
	if (!err && r && !has_map && !g->has_code)
		err = note_generated(s, g, no_names(s, g));
	if (!err && r && has_map && !g->has_code && g->lacks_interpreted && !g->has_interpreted)
		err = note_generated(s, g, &r->interpreted);
	return err;
}

/* ---- processes in whose stacks no generated code is ------------------------------------------ */

void runtimes_take_name(struct symbolizer *s, uint32_t file, const char *name)
{
	const struct runtime *r;

	if (file > s->n_file_sources || s->file_sources[file - 1].interprets)
		return;
	r = runtime_of(code_files_path(s->files, file));
	s->file_sources[file - 1].interprets =
		r && r->interpreter && (!name || !strcmp(name, r->interpreter));
}

struct noting {
	struct symbolizer *s;
	int err;
};

/* A file may be mapped several times. */
static bool is_its_first(const struct image *i, const struct mapping *m)
{
	uint32_t k = 0;

	while (k < i->maps->n && i->maps->list[k].file != m->file)
		k++;
	return k < i->maps->n && i->maps->list[k].start == m->start;
}

static void note_interpreter(void *noting, uint32_t tgid, const struct mapping *m)
{
	struct noting *n = noting;
	struct symbolizer *s = n->s;
	const struct runtime *r;
	const struct image *i;

	if (n->err || m->file > s->n_file_sources || !s->file_sources[m->file - 1].interprets)
		return;
	/* Stacks were recorded of those with a space. */
	i = images_find(s->images, tgid, UINT64_MAX);
	r = runtime_of(code_files_path(s->files, m->file));
	if (!i || !i->space || i->generated || i->has_code || !i->maps || !is_its_first(i, m) ||
	    runtime_has_option(tgid, r->interpreted_option))
		return;
	n->err = notes_put_image(
		s, i, runtime_has_option(tgid, r->map_option) ? &r->interpreted : &r->names);
}

void symbolizer_lacks_rule(struct symbolizer *s, uint32_t space, uint32_t file)
{
	const struct runtime_lack *lack = runtime_bare_library(code_files_path(s->files, file));
	struct image *i = lack && s->images ? images_of_space(s->images, space) : NULL;

	if (i)
		i->lack = lack;
}

void symbolizer_has_code(struct symbolizer *s, uint32_t space)
{
	struct image *i = s->images ? images_of_space(s->images, space) : NULL;

	if (!i || i->has_code)
		return;
	i->has_code = true;
	if (i->generated)
		s->generated[i->generated - 1].has_code = true;
}

void symbolizer_is_32bit(struct symbolizer *s, uint32_t space)
{
	struct image *i = s->images ? images_of_space(s->images, space) : NULL;

	if (i)
		i->lack = &runtime_32bit;
}

static void note_image(void *noting, const struct image *i)
{
	static const struct runtime_lack too_much = { "mapped more code than is kept",
						      "functions have no names" };
	static const struct runtime_lack shared = {
		"shares its memory with another process, and one of them mapped code",
		"functions have no names"
	};
	struct noting *n = noting;

	if (n->err || !i->space)
		return;
	if (i->overflowed)
		n->err = notes_put_image(n->s, i, i->memory ? &shared : &too_much);
	if (!n->err && i->lack)
		n->err = notes_put_image(n->s, i, i->lack);
}

int runtimes_note_others(struct symbolizer *s)
{
	struct noting n = { .s = s };

	if (s->images) {
		images_each_mapping(s->images, note_interpreter, &n);
		images_each(s->images, note_image, &n);
	}
	return n.err;
}
