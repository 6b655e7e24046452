/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * interpreters.h - the processes that have an interpreter, and where in their memory it keeps what
 * it runs. A process has one if it maps a file with its symbols, whatever the file is called
 * (names/mapped_files.h); of several files the first one counts, whose symbols the others use, too.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

#include "chainwire.h"
#include "names/mapped_files.h"

/* Files with less code have no interpreter: CPython has 1.8 MB, PHP 3 MB. */
#define INTERPRETERS_LEAST_BYTES (512u << 10)

struct interpreters;

/* Process tgid has an interpreter there; NULL: not any more. */
typedef void (*interpreters_fn)(void *ctx, uint32_t tgid, const struct wire_interpreter *at);

/* Only those of these languages count: bits 1 << enum wire_language. Returns 0 or -ENOMEM. */
int interpreters_new(struct interpreters **out, uint32_t languages, interpreters_fn fn, void *ctx);
/* NULL is allowed. */
void interpreters_free(struct interpreters *i);

/* For mapped_files_tell(); its ctx is a struct interpreters. */
extern const struct mapped_files_user interpreters_user;

/* Whether processes of that language count. */
bool interpreters_count_of(const struct interpreters *i, uint32_t language);
/* Where process tgid has it; NULL: it has none. Valid until the next mapped_files_step(). */
const struct wire_interpreter *interpreters_of(const struct interpreters *i, uint32_t tgid);

struct interpreters_count {
	uint64_t left_out; /* processes for which there was no room: WIRE_INTERPRETERS, shared */
	uint64_t of[WIRE_LANGUAGES]; /* the others so far, by language, */
	uint64_t unknown;	     /* and those whose version is not known, or cannot be */
	uint32_t unknown_language, unknown_version; /* of the last one; as in struct elfinterp */
};
struct interpreters_count interpreters_count(const struct interpreters *i);
