// SPDX-License-Identifier: GPL-2.0-or-later
#include "synth_folded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sums {
	char **lines;
	size_t n;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char *folded_as(const char *text, char *(*of_line)(const char *line, size_t len))
{
	struct sums s = { 0 };
	char *out;
	size_t len;
	FILE *f = open_memstream(&out, &len);

	/* "LINE NS" becomes "LINE\0NS", so that sorting goes by line and keeps the weight. */
	for (const char *line = text, *next; *line; line = next) {
		const char *end = strchr(line, '\n'),
			   *space = memrchr(line, ' ', (size_t)(end - line));
		char *m = of_line(line, (size_t)(space - line));
		size_t n = strlen(m);

		next = end + 1;
		s.lines = realloc(s.lines, (s.n + 1) * sizeof(*s.lines));
		s.lines[s.n] = malloc(n + 32);
		memcpy(s.lines[s.n], m, n + 1);
		memcpy(s.lines[s.n] + n + 1, space + 1, (size_t)(next - space - 1));
		s.n++;
		free(m);
	}
	if (s.n)
		qsort(s.lines, s.n, sizeof(*s.lines), by_text);
	for (size_t i = 0, k; i < s.n; i = k) {
		unsigned long long ns = 0;

		for (k = i; k < s.n && !strcmp(s.lines[i], s.lines[k]); k++)
			ns += strtoull(s.lines[k] + strlen(s.lines[k]) + 1, NULL, 10);
		fprintf(f, "%s %llu\n", s.lines[i], ns);
	}
	for (size_t i = 0; i < s.n; i++)
		free(s.lines[i]);
	free(s.lines);
	fclose(f);
	return out;
}
