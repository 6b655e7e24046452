// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "synth_script.h"
#include "synth_skeleton.h"

#define MAX_FRAMES 1024
#define MAX_LINES 256

static bool is_listed(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = list; (p = strstr(p, word)); p += len)
		if ((p == list || p[-1] == ' ') && (!p[len] || p[len] == ' '))
			return true;
	return false;
}

struct lines {
	char *text[MAX_LINES];
	unsigned long long ns[MAX_LINES];
	size_t n;
};

/* Takes text over. */
static void add_line(struct lines *l, char *text, unsigned long long ns)
{
	size_t i = 0;

	while (i < l->n && strcmp(l->text[i], text))
		i++;
	if (i == l->n) {
		assert_true(l->n < MAX_LINES);
		l->text[l->n] = text;
		l->ns[l->n++] = 0;
	} else {
		free(text);
	}
	l->ns[i] += ns;
}

/* An end that stands above an interrupt's stack, and not above a thread's name. */
static bool is_interrupt(const char *end)
{
	return !strcmp(end, "[interrupt]") || !strcmp(end, "[timer]") || !strcmp(end, "[network]");
}

/* One folded line without its weight: what is kept of it, or NULL if its wait is in no function. */
static char *reduce(char *line, const char *thread, const char *functions)
{
	char *frames[MAX_FRAMES], *text;
	bool in_function = false;
	size_t n = 0, links = 0, end_at = 0, len;
	FILE *out;

	for (char *f; (f = strsep(&line, ";"));) {
		assert_true(n < MAX_FRAMES);
		/* Where it ran may stand above. */
		if (!end_at && (!strcmp(f, "[running]") || !strcmp(f, "[on-CPU]")))
			end_at = n;
		frames[n++] = f;
	}
	/* The socket to which packets came, too. */
	if (!end_at && n > 2 && !strcmp(frames[n - 2], "[network]"))
		end_at = n - 2;
	end_at = end_at ? end_at : n - 1;
	if (strcmp(frames[0], thread))
		return NULL;
	out = open_memstream(&text, &len);
	fputs(frames[0], out);
	for (size_t i = 1; i < n; i++) {
		bool link = !strcmp(frames[i], "--"), end = i == end_at;
		bool waker = links && i < end_at &&
			     (!strcmp(frames[i + 1], "--") ||
			      (i == end_at - 1 && !is_interrupt(frames[end_at])));
		bool listed = is_listed(functions, frames[i]);

		if (listed && !links)
			in_function = true;
		if (link || end || waker || listed)
			fprintf(out, ";%s", frames[i]);
		links += link;
	}
	fclose(out);
	if (in_function)
		return text;
	free(text);
	return NULL;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char *trace_skeleton(const struct trace *t, const char *thread, const char *functions)
{
	struct lines l = { .n = 0 };
	char *folded, *rest, *line, *text, *sorted[MAX_LINES];
	struct options o;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	options_init(&o);
	o.parts = PART_BLOCKED | PART_RUNNABLE | PART_PREEMPTED;
	o.unit = UNIT_NS;
	rest = folded = trace_folded(t, &o);
	while ((line = strsep(&rest, "\n")) && *line) {
		char *weight = strrchr(line, ' ');

		*weight++ = '\0';
		line = reduce(line, thread, functions);
		if (line)
			add_line(&l, line, strtoull(weight, NULL, 10));
	}
	for (size_t i = 0; i < l.n; i++) {
		sorted[i] = malloc(strlen(l.text[i]) + 32);
		sprintf(sorted[i], "%s %llu\n", l.text[i], l.ns[i]);
		free(l.text[i]);
	}
	qsort(sorted, l.n, sizeof(sorted[0]), by_text);
	for (size_t i = 0; i < l.n; i++) {
		fputs(sorted[i], out);
		free(sorted[i]);
	}
	fclose(out);
	free(folded);
	return text;
}
