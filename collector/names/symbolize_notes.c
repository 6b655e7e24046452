// SPDX-License-Identifier: GPL-2.0-or-later
/* Notes in the trace, and what the closing lines have of them: what the stacks of which processes
 * lack. */
#include "symbolize_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/grow.h"
#include "files/process_status.h"
#include "files/runtimes.h"
#include "kernel/clock.h"
#include "kernel/host_proc.h"

/* In a recording: a build may run a JVM for each of its thousands of steps. */
#define NOTES_MAX 1024u
/* For finding out whose the processes are that lack names or stacks, at most. */
#define WHOSE_NS 500000000u

static const struct runtime_lack late_names = {
	"functions in files that were not looked up in time have no names",
	"chainwalk --debug-dir or --debuginfod"
};
static const struct runtime_lack cut_stacks = {
	"stacks were cut, as there was no room to copy them or no time to find their rules",
	"callers are missing"
};

/* ---- one note ------------------------------------------------------------------------------- */

void notes_program(const struct image *i, char program[SYMBOLIZER_PROGRAM_MAX])
{
	const char *exe = image_name(i), *slash = strrchr(exe, '/');

	/* The path went with the mappings of who had too many. */
	snprintf(program, SYMBOLIZER_PROGRAM_MAX, "%s",
		 !i->maps ? i->comm
		 : slash  ? slash + 1
			  : exe);
	if (!*program)
		(void)process_comm(program, i->tgid);
}

static void count(struct symbolizer_stats *stats, uint32_t tgid, const char *program,
		  const struct runtime_lack *lack)
{
	struct symbolizer_lack *l = stats->lacks;

	while (l < stats->lacks + stats->n_lacks && l->lack != lack)
		l++;
	if (l == stats->lacks + SYMBOLIZER_LACKS_MAX)
		return;
	if (l == stats->lacks + stats->n_lacks) {
		stats->n_lacks++;
		*l = (struct symbolizer_lack) { .lack = lack };
	}
	if (l->processes < SYMBOLIZER_LACKS_NAMED) {
		l->named[l->processes].tgid = tgid;
		snprintf(l->named[l->processes].program, SYMBOLIZER_PROGRAM_MAX, "%s", program);
	}
	l->processes++;
}

static int put(struct symbolizer *s, uint64_t owner, uint32_t tgid, const char *program,
	       const struct runtime_lack *lack)
{
	count(&s->stats, tgid, program, lack);
	if (!owners_take(&s->noted, owners_find(&s->noted, owner), 1, NOTES_MAX))
		return 0;
	return encoder_process_note(s->enc, tgid, program, lack->what, lack->cure);
}

int notes_put(struct symbolizer *s, uint32_t tgid, const char *program,
	      const struct runtime_lack *lack)
{
	return put(s, process_owner_key(tgid), tgid, program, lack);
}

int notes_put_image(struct symbolizer *s, const struct image *i, const struct runtime_lack *lack)
{
	char program[SYMBOLIZER_PROGRAM_MAX];

	notes_program(i, program);
	return notes_put(s, i->tgid, program, lack);
}

/* ---- of many processes ---------------------------------------------------------------------- */

struct listing {
	struct symbolizer *s;
	struct lacking *list;
	size_t n, cap;
};

/* What is told of one process comes together. */
static void add(struct listing *l, uint32_t tgid, uint64_t amount)
{
	if (!l->n || l->list[l->n - 1].tgid != tgid) {
		if (!GROW(l->list, l->n, l->cap))
			return;
		l->list[l->n++] = (struct lacking) { .tgid = tgid };
	}
	l->list[l->n - 1].amount += amount;
}

static bool is_late(const void *listing, const struct mapping *m)
{
	const struct symbolizer *s = ((const struct listing *)listing)->s;

	return m->file <= s->n_file_sources && s->file_sources[m->file - 1].late;
}

static void add_mapping(void *listing, const struct image *i, const struct mapping *m)
{
	struct listing *l = listing;

	/* Stacks were recorded of those with a space. */
	if (i->space)
		add(l, i->tgid, l->s->file_sources[m->file - 1].late);
}

static int by_amount(const void *pa, const void *pb)
{
	const struct lacking *a = pa, *b = pb;

	if (a->amount != b->amount)
		return a->amount < b->amount ? 1 : -1;
	return a->tgid < b->tgid ? -1 : a->tgid > b->tgid;
}

/* Sorts the list. */
static int put_list(struct symbolizer *s, struct lacking *list, size_t n,
		    const struct runtime_lack *lack)
{
	uint64_t until_ns = clock_now_ns() + WHOSE_NS;
	char program[SYMBOLIZER_PROGRAM_MAX];
	int err = 0;

	if (n)
		qsort(list, n, sizeof(*list), by_amount);
	for (size_t i = 0; !err && i < n; i++) {
		uint32_t tgid = list[i].tgid;
		const struct image *image =
			s->images ? images_find(s->images, tgid, UINT64_MAX) : NULL;

		if (image)
			notes_program(image, program);
		else
			*program = '\0';
		/* The rest is only counted. */
		if (clock_now_ns() < until_ns)
			err = notes_put(s, tgid, program, lack);
		else
			count(&s->stats, tgid, program, lack);
	}
	return err;
}

static int put_late_names(struct symbolizer *s)
{
	struct listing l = { .s = s };
	char what[80];
	int err;

	if (s->images && !s->limit.later)
		images_each_mapping_of(s->images, is_late, add_mapping, &l);
	for (uint32_t i = 0; i < s->n_generated && !s->limit.later; i++)
		if (s->generated[i].tgid && s->generated[i].late)
			add(&l, s->generated[i].tgid, s->generated[i].late);
	err = put_list(s, l.list, l.n, &late_names);
	if (err || l.n) {
		free(l.list);
		return err;
	}
	/* Of all processes, or of such as have ended. */
	if (s->limit.later)
		snprintf(what, sizeof(what), "user functions were not looked up");
	else
		snprintf(what, sizeof(what),
			 "user functions in %u files were not looked up in time",
			 s->stats.late_files);
	return encoder_process_note(s->enc, host_proc_own_id(), "chaincap", what, late_names.cure);
}

void symbolizer_cut_stacks(struct symbolizer *s, uint32_t tgid, uint64_t n)
{
	if (GROW(s->cut, s->n_cut, s->cap_cut))
		s->cut[s->n_cut++] = (struct lacking) { tgid, n };
}

void symbolizer_forget_cut(struct symbolizer *s)
{
	s->n_cut = 0;
}

int notes_put_late(struct symbolizer *s)
{
	int err = put_list(s, s->cut, s->n_cut, &cut_stacks);

	return err || !s->stats.late_files ? err : put_late_names(s);
}
