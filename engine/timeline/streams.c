// SPDX-License-Identifier: GPL-2.0-or-later
#include "streams.h"

#include <errno.h>
#include <stdlib.h>

#include "common/grow.h"

int streams_add(struct streams *s, const struct stream_point *p)
{
	if (!GROW(s->at, s->n, s->cap))
		return -ENOMEM;
	s->at[s->n++] = *p;
	return 0;
}

void streams_free(struct streams *s)
{
	free(s->at);
	*s = (struct streams) { .at = NULL };
}
