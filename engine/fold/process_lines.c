// SPDX-License-Identifier: GPL-2.0-or-later
#include "process_lines.h"

#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "timeline/processes.h"

/* Of a text: the processes whose threads are called so, and whether threads of a process called so
 * have other names. */
struct known {
	uint32_t process; /* a text; 0: none */
	bool several;	  /* processes of different names */
	bool mixed;
};

static struct known *known_of(struct pair_table *t, uint32_t text)
{
	return pair_table_at(t, text, 0, sizeof(struct known));
}

static void meet(struct pair_table *t, uint32_t name, uint32_t process)
{
	struct known *k = known_of(t, name);

	k->several |= k->process && k->process != process;
	k->process = process;
}

static void meet_all(struct pair_table *t, const struct timelines *tl, struct names *names)
{
	struct processes *processes;

	processes_new(&processes, tl);
	for (uint32_t i = 0; i < timelines_threads(tl); i++) {
		uint32_t process = names_string(names, process_name(processes, i));

		for (uint32_t k = 0; k <= timelines_thread(tl, i)->renames; k++)
			meet(t, names_string(names, timelines_nth_name(tl, i, k)), process);
	}
	processes_free(processes);
	for (uint32_t id = 1; id <= t->keys.n; id++) {
		struct known k = *known_of(t, t->keys.at[id].a);

		if (k.process && !k.several && k.process != t->keys.at[id].a)
			known_of(t, k.process)->mixed = true;
	}
}

static int by_text(const void *pa, const void *pb)
{
	return strcmp(*(const char *const *)pa, *(const char *const *)pb);
}

static char *make_line(const char *process, const char *thread)
{
	struct text_buf line = { 0 };

	text_puts(&line, "[note] process;");
	text_puts(&line, process);
	text_puts(&line, ";");
	text_puts(&line, thread);
	text_puts(&line, " 0\n");
	return line.p;
}

/* To be freed, each of them, too. */
static char **make_lines(struct pair_table *t, struct names *names, size_t *n)
{
	char **lines = xmalloc((t->keys.n + 1) * sizeof(*lines));
	uint32_t nobody = names_clean(names, "");

	*n = 0;
	for (uint32_t id = 1; id <= t->keys.n; id++) {
		uint32_t name = t->keys.at[id].a;
		struct known k = *known_of(t, name);

		if (k.process && !k.several && k.process != nobody && name != nobody &&
		    known_of(t, k.process)->mixed)
			lines[(*n)++] =
				make_line(names_text(names, k.process), names_text(names, name));
	}
	qsort(lines, *n, sizeof(*lines), by_text);
	return lines;
}

void process_lines_put(struct text_buf *to, const struct timelines *tl, const struct options *o)
{
	struct pair_table t = { 0 };
	struct names *names;
	char **lines;
	size_t n;

	if (o->given & GIVEN_WHO || o->command)
		return;
	names_new(&names, tl, o);
	meet_all(&t, tl, names);
	lines = make_lines(&t, names, &n);
	for (size_t i = 0; i < n; i++) {
		if (n <= PROCESS_LINES_MAX)
			text_puts(to, lines[i]);
		free(lines[i]);
	}
	free(lines);
	pair_table_free(&t);
	names_free(names);
}
