/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind.h - completes the user stacks that the BPF side could not unwind
 * (include/chainwire_stacks.h explains how), from the registers and the piece of stack that it
 * sent. The rules come from the files that the symbolizer knows. Recently used rules are kept in a
 * table of fixed size, the call frame information of a bounded number of files.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "chainwire.h"
#include "names/symbolize.h"
#include "unwind/files.h"

struct unwinder;

/* A rule that the BPF side can use: key as from wire_rule_key(), rule as from wire_rule(). */
typedef void (*unwinder_teach_fn)(void *ctx, uint64_t key, uint64_t rule);

/*
 * sym and helpers are borrowed; helpers NULL: all stacks are cut. fn(ctx, ...) gets the rules that
 * were found; may be NULL. Returns 0 or -ENOMEM.
 */
int unwinder_new(struct unwinder **out, struct symbolizer *sym, struct helpers *helpers,
		 unwinder_teach_fn fn, void *ctx);
void unwinder_free(struct unwinder *u);

/* Whether the lengths in a record of len bytes are consistent. */
bool unwinder_takes(const struct wire_copy *c, size_t len);
/* *word: what was at an address of the program that c copied. False: c does not have it. */
bool unwinder_copy_word(const struct wire_copy *c, uint64_t addr, uint64_t *word);
/*
 * Completes the stack of a record of len bytes, and fills *out as a WIRE_STACK record for the same
 * event. Returns 0; -EAGAIN if a rule is not known yet, in which case *out is cut there; or
 * -EBADMSG if unwinder_takes() refuses the record.
 */
int unwinder_complete(struct unwinder *u, const struct wire_copy *c, size_t len,
		      struct wire_stack *out);

/*
 * After -EAGAIN: whose file has the rule (code_files_owner_key()), or one key for all processes of
 * which it is not known yet what they map.
 */
uint64_t unwinder_late_key(const struct unwinder *u);

/* Drops the files that were not used for a minute. Call it now and then. */
void unwinder_forget_idle(struct unwinder *u, uint64_t now_ns);

void unwinder_stats(const struct unwinder *u, struct unwinder_stats *out);
