/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * files.h - the rules of the files that stacks were unwound through recently, as processes without
 * rights read them (rules.h). It holds a reference to each of these files. It drops files that were
 * not used for a minute, and if there are too many the least recently used ones of the owner who
 * has most.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "files/codefile.h"
#include "helper/helper.h"
#include "rule.h"

struct unwinder_stats {
	uint64_t stacks;    /* completed */
	uint64_t looked_up; /* addresses looked up in a file */
	uint32_t files;	    /* whose call frame information is in memory */
	size_t bytes;	    /* memory for it, in the processes that read it */
	uint64_t restarts;  /* of such processes */
	uint64_t late;	    /* answers that they did not give in time */
};

/* The bytes [from, to) of a file. */
struct unwind_extent {
	uint64_t from, to;
};

struct unwind_files;

/* code and helpers are borrowed. Returns 0 or -ENOMEM. */
int unwind_files_new(struct unwind_files **out, struct code_files *code, struct helpers *helpers);
void unwind_files_free(struct unwind_files *f);

/* Drops the files that were not used for a minute. Call it now and then. */
void unwind_files_forget_idle(struct unwind_files *f, uint64_t now_ns);

/*
 * The rule for the byte at this offset of a file (CODE_FILE or CODE_VDSO), used at now_ns.
 * UNWIND_UNKNOWN if the file cannot be read, or not in time. *known, unless NULL: the bytes around
 * it, in the same aligned RULES_WINDOW, that are known to have it too.
 */
struct unwind_rule unwind_files_rule(struct unwind_files *f, uint32_t file, uint64_t offset,
				     uint64_t now_ns, struct unwind_extent *known);

/* Whether the instruction before this offset of a file (CODE_FILE) is a call. */
bool unwind_files_is_call(struct unwind_files *f, uint32_t file, uint64_t offset, uint64_t now_ns);

/* Takes answers that were late. Call it before those above are asked again. */
void unwind_files_poll(struct unwind_files *f);
/*
 * Whether the file was not read in time in one of the calls above since the last call of this
 * one: then it can be asked again.
 */
bool unwind_files_late(struct unwind_files *f);
/* Whose the file was that was late last: code_files_owner_key(). */
uint64_t unwind_files_late_key(const struct unwind_files *f);

/* Sets all but the number of stacks. */
void unwind_files_stats(const struct unwind_files *f, struct unwinder_stats *out);
