/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * later.h - a queue of copied stacks that wait for a rule. Bounded by LATER_MAX_BYTES.
 */
#ifndef UNWIND_LATER_H
#define UNWIND_LATER_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

#include "chainwire.h"

#define LATER_MAX_BYTES (48u << 20)

struct later;

/* NULL when out of memory. */
struct later *later_new(void);
void later_free(struct later *l);

/*
 * Appends a copy of the record of len bytes. If that has the first bytes of the stack only, more of
 * them are read now, if the thread has not run since; the copy has no thread then, so that it is
 * not looked at again. False: the queue is full, or out of memory.
 */
bool later_add(struct later *l, const struct wire_copy *c, size_t len);
/* The number of records. */
size_t later_left(const struct later *l);
/* The first record, and its length in bytes; NULL: there is none. Valid until it is dropped. */
const struct wire_copy *later_first(const struct later *l, size_t *len);
/* Drops the first record, or makes it the last one. */
void later_drop(struct later *l);
void later_rotate(struct later *l);

#endif /* UNWIND_LATER_H */
