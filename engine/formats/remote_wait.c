// SPDX-License-Identifier: GPL-2.0-or-later
#include "remote_wait.h"

bool remote_wait_find(struct remote_wait *w, const struct joined_host *hosts, uint32_t n,
		      const struct timelines *above, uint32_t part)
{
	struct remote_part p = remote_answers_part_at(above->remote, part);
	const struct remote_answer *a = &above->remote->at[p.answer];

	*w = (struct remote_wait) { .host = a->host,
				    .wait.shown = { .blocked_from_ns = p.from_ns,
						    .blocked_to_ns = p.to_ns,
						    .off_from_ns = p.to_ns,
						    .off_to_ns = p.to_ns,
						    .whole_ns = p.to_ns - p.from_ns } };
	if (a->host >= n)
		return false;
	w->wait.wait = timelines_wait_for(hosts[a->host].timelines, a->request, &w->wait.thread);
	return w->wait.wait;
}
