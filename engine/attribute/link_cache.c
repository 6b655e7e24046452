// SPDX-License-Identifier: GPL-2.0-or-later
#include "link_cache.h"

uint32_t link_cache_ask(struct link_cache *x, uint32_t node, const struct wait *w,
			uint32_t links_left, bool first, enum chain_end *end)
{
	struct chains *c = x->chains;
	uint32_t link = chains_link(c, node, w, links_left, first, end);
	struct known_link key;

	/* A link may show where the wakee slept: then it is not always the same. */
	if (link && !c->options->blocked_stacks && link_cache_key(x, w, &key) &&
	    c->nodes.at[link].b < LINK_CACHE_LABELS) {
		key.label = link_cache_pack(c->nodes.at[link].b, *end);
		*link_cache_slot(x, &key) = key;
	}
	return link;
}
