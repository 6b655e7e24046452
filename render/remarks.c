// SPDX-License-Identifier: GPL-2.0-or-later
#include "remarks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MARK "[note] "
#define MARK_LEN (sizeof(MARK) - 1)

int remarks_take(struct remarks *r, const struct folded_line *line)
{
	const char *text = line->stack + MARK_LEN;
	size_t len = line->one_len - MARK_LEN;

	if (line->count != 0 || line->one_len <= MARK_LEN || memcmp(line->stack, MARK, MARK_LEN))
		return 0;
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
}
