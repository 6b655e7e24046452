/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kallsyms.h - the kernel's functions by address: /proc/kallsyms (core, modules, BPF programs) and
 * what is told of BPF programs that come later. Read-only text of the running kernel in, names out.
 */
#ifndef KALLSYMS_H
#define KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kallsyms;

struct kallsyms_symbol {
	uint64_t start;	    /* address of its first byte */
	const char *name;   /* the table's; valid until the next load, add or free */
	const char *module; /* as kallsyms has it, without brackets; NULL: the core kernel */
	bool is_tracer;	    /* part of the tracing machinery, see symbolizer_is_tracer_frame() */
};

/* An empty table, or NULL when out of memory. kallsyms_free(NULL) is allowed. */
struct kallsyms *kallsyms_new(void);
void kallsyms_free(struct kallsyms *k);

/*
 * Reads path ("/proc/kallsyms") in place of what was read before. Returns 0; -EPERM if the kernel
 * shows no addresses (kptr_restrict, or CAP_SYSLOG is missing); another negative errno. On an error
 * the table is as it was.
 */
int kallsyms_load(struct kallsyms *k, const char *path);

/* Adds len bytes of code at addr (a BPF program, a trampoline); code told of before gives way. */
int kallsyms_add(struct kallsyms *k, uint64_t addr, uint32_t len, const char *name);

/*
 * The function in which addr lies, which is a return address: the byte before it counts. False if
 * none is known there.
 */
bool kallsyms_find(const struct kallsyms *k, uint64_t addr, struct kallsyms_symbol *out);
/*
 * Calls fn for each stretch of the kernel's functions, next to each other, of which wants() takes
 * every name: from its first byte up to where the next function begins.
 */
void kallsyms_stretches(const struct kallsyms *k, bool (*wants)(const char *name),
			void (*fn)(void *ctx, uint64_t start, uint64_t end), void *ctx);

/*
 * Reads the kernel's build ID from path ("/sys/kernel/notes"). Returns its length in bytes, 0 if it
 * cannot be had.
 */
#define KALLSYMS_BUILD_ID_MAX 64
size_t kallsyms_build_id(const char *path, uint8_t id[KALLSYMS_BUILD_ID_MAX]);

#endif /* KALLSYMS_H */
