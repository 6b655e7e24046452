// SPDX-License-Identifier: GPL-2.0-or-later
#include "remarks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MARK "[note] "
#define MARK_LEN (sizeof(MARK) - 1)
#define TITLE "title: "
#define TITLE_LEN (sizeof(TITLE) - 1)

static int take_title(struct remarks *r, const char *text, size_t len)
{
	if (!r->title)
		r->title = strndup(text, len);
	return r->title ? 1 : -ENOMEM;
}

int remarks_take(struct remarks *r, const struct folded_line *line)
{
	const char *text = line->stack + MARK_LEN;
	size_t len = line->one_len - MARK_LEN;

	if (line->count != 0 || line->one_len <= MARK_LEN || memcmp(line->stack, MARK, MARK_LEN))
		return 0;
	if (len > TITLE_LEN && !memcmp(text, TITLE, TITLE_LEN))
		return take_title(r, text + TITLE_LEN, len - TITLE_LEN);
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
}
