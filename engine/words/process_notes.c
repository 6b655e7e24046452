// SPDX-License-Identifier: GPL-2.0-or-later
#include "process_notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "common/xalloc.h"

/* A recorder has about ten; a forged trace may have any number. */
#define LINES_MAX 64u
#define PROCESSES_MAX 256

struct group {
	const char *what, *cure;
	FILE *f; /* who, into text */
	char *text;
	size_t len;
	uint64_t n; /* processes */
};

/* NULL: there are too many. */
static struct group *group_of(struct group *groups, size_t *n, const char *what, const char *cure)
{
	struct group *g;

	for (size_t i = 0; i < *n; i++)
		if (!strcmp(groups[i].what, what) && !strcmp(groups[i].cure, cure))
			return &groups[i];
	if (*n == LINES_MAX)
		return NULL;
	g = &groups[*n];
	*g = (struct group) { .what = what, .cure = cure };
	g->f = xmemstream(&g->text, &g->len);
	++*n;
	return g;
}

/* Returns the line, to be freed. */
static char *end_line(struct group *g, uint64_t named)
{
	if (g->n > named)
		fprintf(g->f, " and %" PRIu64 " more", g->n - named);
	fprintf(g->f, ": %s%s%s", g->what, *g->cure ? ": " : "", g->cure);
	xmemstream_close(g->f, &g->text);
	return g->text;
}

static bool is_in(const struct process_list *list, uint32_t tgid, const char *name)
{
	if (id_list_has(&list->ids, tgid))
		return true;
	for (size_t i = 0; i < list->names.n; i++)
		if (!strcmp(list->names.paths[i], name))
			return true;
	return false;
}

void process_notes_of(struct process_notes *out, const struct trace *t,
		      const struct process_list *only, uint64_t named)
{
	struct group *groups = xcalloc(LINES_MAX, sizeof(*groups));
	size_t n_notes, n = 0;
	const struct trace_note *notes = trace_notes(t, &n_notes);

	*out = (struct process_notes) { .line = xcalloc(LINES_MAX, sizeof(*out->line)) };
	for (size_t i = 0; i < n_notes; i++) {
		const char *program = trace_string(t, notes[i].program);
		struct group *g = NULL;

		if (!only || is_in(only, notes[i].tgid, program))
			g = group_of(groups, &n, trace_string(t, notes[i].what),
				     trace_string(t, notes[i].cure));
		if (!g)
			continue;
		if (g->n++ < named)
			fprintf(g->f, "%s%s/%" PRIu32, g->n > 1 ? ", " : "", program,
				notes[i].tgid);
	}
	for (size_t i = 0; i < n; i++)
		out->line[out->n++] = end_line(&groups[i], named);
	free(groups);
}

static int compare_ids(const void *a, const void *b)
{
	return compare_numbers(*(const uint32_t *)a, *(const uint32_t *)b);
}

/* The processes of which the trace has notes, sorted, to be freed. */
static uint32_t *noted_processes(const struct trace *t, size_t *n)
{
	const struct trace_note *notes = trace_notes(t, n);
	uint32_t *ids = xmalloc((*n + 1) * sizeof(*ids));

	for (size_t i = 0; i < *n; i++)
		ids[i] = notes[i].tgid;
	if (*n)
		qsort(ids, *n, sizeof(*ids), compare_ids);
	return ids;
}

void process_notes_find(struct process_list *list, const struct timelines *tl, struct names *names,
			const struct word_list *told)
{
	size_t n;
	uint32_t *noted = noted_processes(timelines_trace(tl), &n), name;

	for (uint32_t i = 0; i < timelines_threads(tl) && n; i++) {
		const struct thread *th = timelines_thread(tl, i);
		uint32_t tgid = th->tgid ? th->tgid : th->tid;

		if (list->ids.n == PROCESSES_MAX || timelines_is_client(tl, i) ||
		    !bsearch(&tgid, noted, n, sizeof(*noted), compare_ids) ||
		    id_list_has(&list->ids, tgid))
			continue;
		name = names_thread(names, i, th->end_ns);
		if (word_list_has(told, names_text(names, name)))
			id_list_add(&list->ids, tgid);
	}
	free(noted);
}

void process_notes_free(struct process_notes *notes)
{
	for (size_t i = 0; i < notes->n; i++)
		free(notes->line[i]);
	free(notes->line);
	*notes = (struct process_notes) { 0 };
}
