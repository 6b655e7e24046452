/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kallsyms.h - the kernel's functions by address, from /proc/kallsyms (core, modules, BPF programs)
 * and from the records of BPF programs that are loaded later.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kallsyms;

struct kallsyms_symbol {
	uint64_t start;	    /* address of its first byte */
	const char *name;   /* valid until the next load, add or free */
	const char *module; /* as kallsyms has it, without brackets; NULL: the core kernel */
	bool is_tracer;	    /* part of the tracing machinery, see symbolizer_is_tracer_frame() */
};

/* Makes an empty table. Returns 0 or -ENOMEM. */
int kallsyms_new(struct kallsyms **out);
void kallsyms_free(struct kallsyms *k);

/*
 * Reads path ("/proc/kallsyms"), replacing what was read before. Returns 0; -EPERM if the kernel
 * shows no addresses (kptr_restrict, or CAP_SYSLOG is missing); another negative errno. After an
 * error the table is unchanged.
 */
int kallsyms_load(struct kallsyms *k, const char *path);

/* Adds len bytes of code at addr (a BPF program, a trampoline), replacing what it overlaps. */
int kallsyms_add(struct kallsyms *k, uint64_t addr, uint32_t len, const char *name);

/* Takes out what was added, as far as it overlaps the code from start up to end. */
void kallsyms_remove(struct kallsyms *k, uint64_t start, uint64_t end);

/*
 * The function of the return address addr: the byte before it decides. False: none is known there.
 */
bool kallsyms_find(const struct kallsyms *k, uint64_t addr, struct kallsyms_symbol *out);
/* Likewise, among what was added only. */
bool kallsyms_find_added(const struct kallsyms *k, uint64_t addr, struct kallsyms_symbol *out);

/* The core kernel's own code, which is never replaced. *end is 0 if none was read. */
void kallsyms_core(const struct kallsyms *k, uint64_t *start, uint64_t *end);
/* Where functions of a module lie, from the first to the end of the last. False: it has none. */
bool kallsyms_module(const struct kallsyms *k, const char *module, uint64_t *start, uint64_t *end);
/*
 * Calls fn for each function outside of the core kernel that overlaps the code from start up to
 * end, with the address where it ends at the latest.
 */
void kallsyms_each(const struct kallsyms *k, uint64_t start, uint64_t end,
		   void (*fn)(void *ctx, const struct kallsyms_symbol *sym, uint64_t sym_end),
		   void *ctx);
/* Whether a function of this name is part of the tracing machinery. */
bool kallsyms_is_tracer(const char *name);

/*
 * Calls fn for each run of adjacent core kernel functions whose names wants() accepts, from its
 * first byte up to the next function.
 */
void kallsyms_each_run(const struct kallsyms *k, bool (*wants)(const char *name),
		       void (*fn)(void *ctx, uint64_t start, uint64_t end), void *ctx);

/*
 * Reads the kernel's build ID from path ("/sys/kernel/notes"). Returns its length in bytes; 0:
 * none.
 */
#define KALLSYMS_BUILD_ID_MAX 64
size_t kallsyms_build_id(const char *path, uint8_t id[KALLSYMS_BUILD_ID_MAX]);
