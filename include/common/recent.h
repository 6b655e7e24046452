/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recent.h - gives keys ids that ascend from 1, and recognizes those keys that came lately, in
 * bounded memory. A key that was forgotten is a new one when it comes again. It owns copies of the
 * keys, in two tables: when the young one is half of what may be kept, the old one is cleared, and
 * they change places. A key that is found in the old one becomes young again.
 */
#ifndef RECENT_H
#define RECENT_H

#include "intern.h"

struct recent_half {
	struct intern keys;
	uint32_t *ids; /* by the number of the key - 1 */
	size_t cap;
};

/* All zero is an empty table. */
struct recent {
	struct recent_half young, old;
	uint32_t last; /* id given; the caller may give the next ones, too, which have no key */
};

/*
 * Returns the id of the len bytes at key, given now if they are not known any more; *is_new says
 * so. What is kept takes max_bytes, about, the same in each call; SIZE_MAX: all is kept. 0: out of
 * memory or of ids.
 */
uint32_t recent_id(struct recent *r, size_t max_bytes, const void *key, size_t len, bool *is_new);
void recent_free(struct recent *r);

#endif /* RECENT_H */
