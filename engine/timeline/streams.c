// SPDX-License-Identifier: GPL-2.0-or-later
#include "streams.h"

#include <stdlib.h>

#include "common/xalloc.h"

void streams_add(struct streams *s, const struct stream_point *p)
{
	XGROW(s->at, s->n, s->cap);
	s->at[s->n++] = *p;
}

void streams_free(struct streams *s)
{
	free(s->at);
	*s = (struct streams) { .at = NULL };
}
