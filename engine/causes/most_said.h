/* SPDX-License-Identifier: GPL-2.0-or-later */
/* most_said.h - of the texts that were said of a thing, the one that holds for most of its time. */
#ifndef ENGINE_MOST_SAID_H
#define ENGINE_MOST_SAID_H

#include "base/pairs.h"
#include "words/names.h"

/* All zero is empty. */
struct most_said {
	struct pair_table table; /* ns by (thing, text) */
};

/* For ns of its time, text (an id in names, not 0) is true of thing. False: out of memory. */
bool most_said_add(struct most_said *s, uint32_t thing, uint32_t text, uint64_t ns);
/*
 * Sets text[thing], of n things, where anything was said; among equals the first one by its bytes.
 * 0 or -ENOMEM.
 */
int most_said_take(const struct most_said *s, const struct names *names, uint32_t *text, size_t n);
void most_said_free(struct most_said *s);

#endif /* ENGINE_MOST_SAID_H */
