// SPDX-License-Identifier: GPL-2.0-or-later
#include "link_identity.h"

void link_identities_free(struct link_identities *j)
{
	pairs_free(&j->slept);
	pairs_free(&j->at);
}

uint32_t link_identity(struct link_identities *j, struct names *n, const struct timelines *tl,
		       const struct link *l, uint32_t text)
{
	uint32_t where, object, slept = 0;

	/* A thread that was not started yet slept nowhere. */
	if (!(l->flags & (LINK_STARTED | LINK_LABEL))) {
		where = names_off_cpu(n, l->blocked);
		object = names_object(n, timelines_pair(tl, l->blocked).object, true);
		slept = pairs_id(&j->slept, where, object);
	}
	return text ? pairs_id(&j->at, text, slept) : 0;
}
