/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind.h - completes the user stacks that the BPF side could not unwind (include/chainwire.h has
 * how that works), from the registers and the piece of stack that it sent. The rules come from the
 * files that the symbolizer knows; those of addresses met lately are kept in a table of fixed size,
 * and the files' call frame information of a bounded number of files.
 */
#ifndef UNWIND_UNWIND_H
#define UNWIND_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "chainwire.h"
#include "names/symbolize.h"

struct unwinder;

/* A rule that the BPF side can use: key as from wire_rule_key(), rule as from wire_rule(). */
typedef void (*unwinder_teach_fn)(void *ctx, uint64_t key, uint64_t rule);

struct unwinder_stats {
	uint64_t stacks;    /* completed */
	uint64_t looked_up; /* addresses looked up in a file */
	uint32_t files;	    /* whose call frame information is in memory */
	size_t bytes;	    /* that it takes */
};

/* sym is borrowed. fn may be NULL. NULL when out of memory. */
struct unwinder *unwinder_new(struct symbolizer *sym, unwinder_teach_fn fn, void *ctx);
void unwinder_free(struct unwinder *u);

/* Whether a record of len bytes can be what it says. */
bool unwinder_takes(const struct wire_copy *c, size_t len);
/*
 * Completes the stack of a record of len bytes. *out is filled as a WIRE_STACK record for the same
 * event. Returns 0, or -EBADMSG if the record is none.
 */
int unwinder_complete(struct unwinder *u, const struct wire_copy *c, size_t len,
		      struct wire_stack *out);

void unwinder_stats(const struct unwinder *u, struct unwinder_stats *out);

#endif /* UNWIND_UNWIND_H */
