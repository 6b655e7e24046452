// SPDX-License-Identifier: GPL-2.0-or-later
#include "work_events.h"

#include <errno.h>
#include <stdlib.h>

#include "common/grow.h"

int work_events_add(struct work_events *w, const struct work_event *ev)
{
	if (!GROW(w->at, w->n, w->cap))
		return -ENOMEM;
	w->at[w->n++] = *ev;
	return 0;
}

void work_events_free(struct work_events *w)
{
	free(w->at);
	free(w->losses);
	*w = (struct work_events) { .at = NULL };
}
