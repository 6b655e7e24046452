/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_changes.h - when code of the kernel was replaced: BPF programs, trampolines and modules
 * come and go, and what comes may lie where something else was. So an address outside of the core
 * kernel has generations, each from one change of the code there up to the next, and names of its
 * own in each of them. Times are CLOCK_MONOTONIC nanoseconds.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/kallsyms.h"

struct kernel_changes;

/* Just then it was changing: it is not known which code that is. */
#define KERNEL_GENERATION_UNKNOWN UINT32_MAX

/* Returns 0 or -ENOMEM. */
int kernel_changes_new(struct kernel_changes **out);
void kernel_changes_free(struct kernel_changes *c);

/*
 * The code from start up to end was replaced, or went, or came, at some time after from_ns and not
 * after until_ns. Out of memory, and of what is kept, old changes are forgotten: then a generation
 * is younger than it need be.
 */
void kernel_changes_note(struct kernel_changes *c, uint64_t start, uint64_t end, uint64_t from_ns,
			 uint64_t until_ns);

/* The generation of addr at time_ns, and that of now; *since_ns: when it had begun at the latest.
 */
uint32_t kernel_changes_at(const struct kernel_changes *c, uint64_t addr, uint64_t time_ns);
uint32_t kernel_changes_latest(const struct kernel_changes *c, uint64_t addr, uint64_t *since_ns);
/* Whether anything may have changed between these times, in whatever order. */
bool kernel_changes_between(const struct kernel_changes *c, uint64_t a_ns, uint64_t b_ns);

/* Remembers what was at addr, up to end, in that generation. Strings are copied. */
void kernel_changes_keep_name(struct kernel_changes *c, uint64_t addr, uint64_t end,
			      uint32_t generation, const char *name, const char *module);
/* As kallsyms_find(), in an earlier generation. */
bool kernel_changes_find(const struct kernel_changes *c, uint64_t addr, uint32_t generation,
			 struct kallsyms_symbol *out);
