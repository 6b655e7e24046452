/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rules.h - reads the rules for unwinding out of files in processes without rights
 * (helper/helper.h), because these files may be hostile. One process reads all files of one owner
 * on one file system that are mapped in one root directory, so that a hostile file can change the
 * rules only of files of its own owner. A file that others may write has a process of its own, and
 * so has one that processes in several root directories map: a volume of containers.
 * Such a process has these files and a socket open, and its answers are checked. If it dies it is
 * started again. If it does not answer in time (helper/wait_budget.h) the recorder goes on, and
 * asks again later: then a stack is known later, but no event is lost.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "helper/helper.h"
#include "rule.h"

/* How many files may be open at a time; the index of a file is below this. */
#define RULES_FILES_MAX 256u
/* The most bytes that the call frame information of all files together may take. */
#define RULES_BYTES_MAX (128u << 20)

/* Rules are read for the neighbouring bytes, too: up to this many, from a multiple of it on. */
#define RULES_WINDOW 256u
#define RULES_ROWS_MAX 12u
/*
 * The rules for the bytes [from, to) of a window. rules[i] holds from starts[i] on up to the next
 * row. UNWIND_NONE: ask for these bytes separately. No row at all: the byte asked for has no rule.
 */
struct rules_window {
	uint16_t from, to;
	uint8_t n, starts[RULES_ROWS_MAX];
	struct unwind_rule rules[RULES_ROWS_MAX];
};

/* A file whose rules are wanted; zeroed at first, then rules_close(). */
struct rules_file {
	/* Set by the caller: no other open file has this index; code_files_root_id(). */
	uint32_t index, root;
	uint32_t major, minor, owner;
	uint64_t inode;	   /* 0: one process reads it and others */
	uint64_t process;  /* id of the helper that has it open; 0: none */
	uint32_t deaths;   /* of processes that were reading it */
	uint64_t bytes;	   /* that its call frame information takes */
	uint64_t again_ns; /* before this time it is not asked for */
};

struct rules;

/* What the helper does. */
extern const struct helper_kind rules_kind;

/*
 * Takes an answer to rules_ask() for the offset of the file; w is NULL if it asked of_call. A
 * window without rows: the byte has no rule. is_it: see there.
 */
typedef void (*rules_answer_fn)(void *ctx, struct rules_file *f, uint64_t offset,
				const struct rules_window *w, bool is_it);

/* helpers, which may be NULL, is borrowed; kind is rules_kind. Returns 0 or -ENOMEM. */
int rules_new(struct rules **out, struct helpers *helpers, const struct helper_kind *kind,
	      rules_answer_fn on_answer, void *ctx);
void rules_free(struct rules *r);

/*
 * Gives the file, which is at fd (it stays the caller's), to a process. Returns 0; -EBUSY: to be
 * tried again later; or another negative errno.
 */
int rules_open(struct rules *r, struct rules_file *f, int fd);
void rules_close(struct rules *r, struct rules_file *f);

/*
 * Asks for the rules around an offset of the file; is_it: there is none, but the code there is that
 * to which signal handlers return. Or with of_call only for is_it: whether a call ends before the
 * offset. Returns 0: on_answer() has got the answer; -EAGAIN: it gets it later, in rules_poll() or
 * in another call, or when it is asked again; -ENOTCONN: the file has to be opened (again); or
 * another negative errno: it has no rules.
 */
int rules_ask(struct rules *r, struct rules_file *f, uint64_t offset, bool of_call);
/* Takes answers that have come in the meantime, and ends processes that hang. */
void rules_poll(struct rules *r);

/* Processes that were started again, and answers that came too late, so far. */
void rules_trouble(const struct rules *r, uint64_t *restarts, uint64_t *late);
