// SPDX-License-Identifier: GPL-2.0-or-later
#include "remarks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MARK "[note] "
#define MARK_LEN (sizeof(MARK) - 1)
#define PROCESS "process;"
#define PROCESS_LEN (sizeof(PROCESS) - 1)
#define TITLE "title: "
#define TITLE_LEN (sizeof(TITLE) - 1)

static int take_title(struct remarks *r, const char *text, size_t len)
{
	if (!r->title)
		r->title = strndup(text, len);
	return r->title ? 1 : -ENOMEM;
}

/* text: PROCESS;THREAD;FRAME... Of a process alone it says nothing; what does not fit is left out.
 */
static int take_process(struct remarks *r, const char *text, size_t len)
{
	const char *thread = memchr(text, ';', len);
	size_t at = r->processes_len, need = at + len + 2; /* with a newline before it and a 0 */
	char *all;

	if (!thread || need > REMARKS_PROCESSES)
		return 1;
	all = realloc(r->processes, need);
	if (!all)
		return -ENOMEM;
	r->processes = all;
	if (at)
		all[at++] = '\n';
	memcpy(all + at, text, len);
	all[at + (size_t)(thread - text)] = '\n';
	r->processes_len = at + len;
	all[r->processes_len] = '\0';
	return 1;
}

int remarks_take(struct remarks *r, const struct folded_line *line)
{
	const char *text = line->stack + MARK_LEN;
	size_t len = line->one_len - MARK_LEN;

	if (line->count != 0 || line->one_len <= MARK_LEN || memcmp(line->stack, MARK, MARK_LEN))
		return 0;
	if (len > TITLE_LEN && !memcmp(text, TITLE, TITLE_LEN))
		return take_title(r, text + TITLE_LEN, len - TITLE_LEN);
	if (len > PROCESS_LEN && !memcmp(text, PROCESS, PROCESS_LEN))
		return take_process(r, text + PROCESS_LEN, len - PROCESS_LEN);
	for (unsigned i = 0; i < r->n; i++)
		if (strlen(r->text[i]) == len && !memcmp(r->text[i], text, len))
			return 1;
	r->more = r->n == REMARKS_MAX;
	if (r->more)
		return 1;
	r->text[r->n] = strndup(text, len);
	return r->text[r->n] ? r->n++, 1 : -ENOMEM;
}

void remarks_free(struct remarks *r)
{
	for (unsigned i = 0; i < r->n; i++)
		free(r->text[i]);
	r->n = 0;
	free(r->title);
	r->title = NULL;
	free(r->processes);
	r->processes = NULL;
	r->processes_len = 0;
}
