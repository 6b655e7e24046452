/* SPDX-License-Identifier: GPL-2.0-or-later */
/* who_had.h - who had the CPU in the time of each of several things, as lines of text. */
#ifndef ENGINE_WHO_HAD_H
#define ENGINE_WHO_HAD_H

#include "base/pairs.h"
#include "words/names.h"

/* All zero is empty. */
struct who_had {
	struct pair_table table; /* ns by (thing, who): see who_ran.h */
};

/* In ns of the time of thing, who had the CPU. False: out of memory. */
bool who_had_add(struct who_had *h, uint32_t thing, uint32_t who, uint64_t ns);
/* Sets text[thing] to "61 % gzip, 39 % make" (an id in names), if anybody is known. 0 or -ENOMEM.
 */
int who_had_take(const struct who_had *h, struct names *names, uint32_t *text);
void who_had_free(struct who_had *h);

#endif /* ENGINE_WHO_HAD_H */
