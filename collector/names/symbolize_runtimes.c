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
#include <string.h>
#include <unistd.h>

#include "kernel/clock.h"
#include "kernel/host_proc.h"

/* A reader that takes longer has failed; it takes some 20 ms. What is waited for at the end. */
#define ANSWER_NS 5000000000u
#define END_NS 3000000000u

/* For the perf maps of all JVMs. One with a hundred thousand compiled methods takes a second. */
#define MAPS_NS 5000000000u

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
	g->is_unasked = g->lacks_callers = g->has_interpreted = g->is_noted = false;
	g->lacks_interpreted = m && g->runtime->interpreted_option &&
			       !runtime_has_option(i->tgid, g->runtime->interpreted_option);
	if (!m || !g->runtime->is_jvm)
		return;
	g->runtime_file = m->file;
	g->runtime_at = m->start - m->pgoff;
	code_files_hold(s->files, m->file);
	g->is_unasked = true;
	s->jvms.waiting++;
}

/* ---- asking JVMs for their options ---------------------------------------------------------- */

/* Nothing more is to be asked. */
static void settle(struct symbolizer *s, struct generated *g)
{
	if (g->is_unasked)
		s->jvms.waiting--;
	g->is_unasked = false;
	if (g->runtime_file)
		code_files_put(s->files, g->runtime_file);
	g->runtime_file = 0;
}

static void end_reading(struct symbolizer *s)
{
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
	if (s->jvms.reader) {
		go_on(s, &s->generated[s->jvms.of], wait_ns);
		return;
	}
	for (uint32_t i = 0; s->jvms.waiting && i < s->n_generated; i++) {
		struct generated *g = &s->generated[i];

		if (!g->tgid || !g->is_unasked)
			continue;
		if (begin_reading(s, g))
			settle(s, g);
		return;
	}
}

bool runtimes_is_busy(const struct symbolizer *s)
{
	return s->jvms.waiting;
}

static uint64_t at_most(uint64_t ns, uint64_t left_ns)
{
	return ns < left_ns ? ns : left_ns;
}

void runtimes_end(struct symbolizer *s)
{
	uint64_t end_ns = clock_now_ns() + at_most(END_NS, symbolize_left_ns(s));

	while (s->jvms.waiting && clock_now_ns() < end_ns)
		runtimes_step(s, END_NS / 10);
}

/* ---- asking them for their perf maps --------------------------------------------------------- */

/* The next ones from *at on, at most JAVA_MAPS_MAX. */
static size_t next_jvms(struct symbolizer *s, uint32_t *at, struct generated **g, uint32_t *tgids)
{
	size_t n = 0;

	for (; *at < s->n_generated && n < JAVA_MAPS_MAX; ++*at) {
		struct generated *jvm = &s->generated[*at];

		if (!jvm->tgid || jvm->has_ended || !jvm->takes_commands || !jvm->frames)
			continue;
		tgids[n] = jvm->tgid;
		g[n++] = jvm;
	}
	return n;
}

void runtimes_write_maps(struct symbolizer *s)
{
	uint64_t end_ns = clock_now_ns() + at_most(MAPS_NS, symbolize_left_ns(s)), now_ns;
	enum java_map results[JAVA_MAPS_MAX];
	struct generated *g[JAVA_MAPS_MAX];
	uint32_t tgids[JAVA_MAPS_MAX], at = 0;
	size_t n;

	while (s->jvms.askers && (n = next_jvms(s, &at, g, tgids))) {
		now_ns = clock_now_ns();
		java_maps_write(s->jvms.askers, tgids, n, results,
				now_ns < end_ns ? end_ns - now_ns : 0);
		for (size_t i = 0; i < n; i++)
			g[i]->map_result = results[i];
	}
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
	if (s->jvms.askers && g->map_result < JAVA_MAP_RESULTS && g->map_result != JAVA_MAP_WRITTEN)
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
	if (r && g->lacks_callers)
		err = note_generated(s, g, &r->callers);
	if (!err && g->fd == -ESTALE)
		err = note_generated(s, g, &runtime_stale_map);
	if (!err && r && !has_map)
		err = note_generated(s, g, no_names(s, g));
	if (!err && r && has_map && g->lacks_interpreted && !g->has_interpreted)
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
	if (!i || !i->space || i->generated || !i->maps || !is_its_first(i, m) ||
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
