// SPDX-License-Identifier: GPL-2.0-or-later
#include "work_events.h"

#include <stdlib.h>

#include "common/xalloc.h"

void work_events_add(struct work_events *w, const struct work_event *ev)
{
	XGROW(w->at, w->n, w->cap);
	w->at[w->n++] = *ev;
}

void work_events_free(struct work_events *w)
{
	free(w->at);
	free(w->losses);
	*w = (struct work_events) { .at = NULL };
}
