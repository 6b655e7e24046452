/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_stack.h - call chains as perf script prints them, a frame a line, turned into the stacks
 * of a log. It owns which frames are the kernel's, which are the tracing's own and are cut off, and
 * the memory of stacks that have come before, for nearly all of them have.
 *
 *     <tab>ADDRESS [SYMBOL[+0xOFFSET]] [(DSO)] [(inlined)]
 */
#ifndef ENGINE_IMPORT_STACK_H
#define ENGINE_IMPORT_STACK_H

#include "logmaker.h"
#include "memo.h"

struct import_stack {
	uint32_t kstack, ustack; /* ids in the log, 0: none */
	bool kthread;		 /* only kernel threads have such a stack */
	bool ipi; /* a wakeup that was passed on to the target's CPU: the waker is not here */
	uint32_t bad_lines; /* that are no frames */
	uint32_t first_bad; /* the first of them: which line, from 0 */
	uint32_t lines;	    /* in all */
};

#define IMPORT_STACK_GUESSES 4096u

/* All zero, but for the log, is ready for use. */
struct import_stacks {
	struct logmaker *log;
	struct memo texts;   /* whole call chains: place in known[] plus one */
	struct memo frames;  /* lines: place in seen[] plus one */
	struct memo stacks;  /* frame ids and whether it is cut: stack id */
	struct memo strings; /* symbols and modules' paths: string id */
	struct memo modules; /* paths: module id */
	/* Where in known[] a call chain may be found, plus one, by import_stack_key(). */
	uint32_t guesses[IMPORT_STACK_GUESSES];
	struct import_stack *known;
	size_t n_known, cap_known;
	struct import_frame *seen;
	size_t n_seen, cap_seen;
	bool any_kernel, any_user;
};

/*
 * The usual case first, without even looking for the end of a call chain: one that has come before
 * stands at p, where there is len to look at, and an empty line follows. Returns its length, and
 * sets *stack; 0: it is none of those that were guessed at. who may be any number: call chains of
 * the same who tend to be the same.
 */
size_t import_stack_guess(const struct import_stacks *s, uint32_t who, const char *p, size_t len,
			  struct import_stack *stack);
/*
 * Reads the lines of [p, p + len), where there is more to be looked at, len_there in all, and
 * remembers them. Returns 0 or -ENOMEM.
 */
int import_stack_read(struct import_stacks *s, uint32_t who, const char *p, size_t len,
		      size_t len_there, struct import_stack *stack);
/* True if a line that does not begin with a tab is still part of a call chain. */
bool import_stack_goes_on(const char *line, size_t len);
void import_stacks_free(struct import_stacks *s);

#endif /* ENGINE_IMPORT_STACK_H */
