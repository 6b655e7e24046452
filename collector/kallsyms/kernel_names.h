/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_names.h - the name of a kernel address at a time: the table of kallsyms, and what was
 * loaded, unloaded and replaced since by the records of the sideband. The caller passes these on in
 * their order; what is asked of a time counts all records that were passed on before.
 *
 * All but kernel_names_read() and kernel_names_record() may be called with NULL: then nothing is
 * known, and nothing changes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/kallsyms.h"
#include "kernel/sideband.h"

struct kernel_names;

/* Reads the table, which may fail: see kernel_names_error(). Returns 0 or -ENOMEM. */
int kernel_names_new(struct kernel_names **out);
void kernel_names_free(struct kernel_names *k);
/* Why there are no names, a negative errno (-EPERM: the kernel hides its addresses); or 0. */
int kernel_names_error(const struct kernel_names *k);

/* Reads the table anew, and when that last began. Returns 0, or why the old one stays. */
int kernel_names_read(struct kernel_names *k);
uint64_t kernel_names_read_ns(const struct kernel_names *k);
/* Whether nothing has changed since then. */
bool kernel_names_is_current(const struct kernel_names *k);

/* Takes a record from SIDEBAND_KSYMBOL to SIDEBAND_MODULE_GONE. */
void kernel_names_record(struct kernel_names *k, const struct sideband_record *r);
/* From now on fn is called when code from start up to end has been replaced. */
void kernel_names_on_change(struct kernel_names *k,
			    void (*fn)(void *ctx, uint64_t start, uint64_t end), void *ctx);

/* Whether code at the address may be replaced: it is not in the core kernel. */
bool kernel_names_may_change(const struct kernel_names *k, uint64_t addr);
/* Which code was there, of all that was there one after the other; 0 in the core kernel. */
uint32_t kernel_names_generation(const struct kernel_names *k, uint64_t addr, uint64_t time_ns);
/* Whether that code is there now, and may be replaced. */
bool kernel_names_is_latest(const struct kernel_names *k, uint64_t addr, uint32_t generation);
/* Whether none was replaced between these times, in whatever order. */
bool kernel_names_held(const struct kernel_names *k, uint64_t a_ns, uint64_t b_ns);

/* As kallsyms_find(), of the code in that generation. */
bool kernel_names_find(const struct kernel_names *k, uint64_t addr, uint32_t generation,
		       struct kallsyms_symbol *sym);
/* Whether a return address is in the code by which the kernel enters interrupts and exceptions. */
bool kernel_names_is_entry(const struct kernel_names *k, uint64_t addr);
/*
 * Calls fn for the code by which the kernel enters interrupts, from start up to end, where it is
 * known: if the kernel shows its addresses.
 */
void kernel_names_interrupts(const struct kernel_names *k,
			     void (*fn)(void *ctx, uint64_t start, uint64_t end), void *ctx);
