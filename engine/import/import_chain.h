/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_chain.h - frames one after another, leaf first, become the stacks of a trace. It owns what
 * belongs to the tracing and is cut off, and what the functions say of the whole.
 */
#pragma once

#include "common/encoder.h"

/* Of an import's call chain. */
struct import_stack {
	uint32_t kstack, ustack; /* ids in the trace, 0: none */
	bool kthread;		 /* only kernel threads have such a stack */
	bool ipi; /* a wakeup that was passed to the wakee's CPU: the waker is not in the chain */
	uint32_t bad_lines; /* of a text: lines that are no frames */
	uint32_t first_bad; /* the first of them, from 0 */
	uint32_t lines;
};

enum import_frame_class {
	IMPORT_FRAME_USER,
	IMPORT_FRAME_KERNEL,
	IMPORT_FRAME_INLINED, /* on the side of the one that it was inlined into: the next */
	IMPORT_FRAME_NONE,    /* the line is no frame */
};

struct import_frame {
	uint32_t id;   /* in the trace */
	uint8_t class; /* enum import_frame_class */
	bool nameless;
	bool is_entry;	/* of an interrupt or an exception: what that has interrupted follows */
	uint32_t flags; /* enum kernel_function, or-ed */
};

struct import_frames {
	uint32_t id[CHAINLOG_STACK_MAX];
	size_t n;
	bool cut;
};

/* A call chain in the making. */
struct import_chain {
	struct import_frames kernel, user;
	uint32_t inlined[CHAINLOG_STACK_MAX]; /* not known yet on which side */
	size_t n_inlined, n;
	bool in_leaf;
	struct import_stack stack;
};

void import_chain_begin(struct import_chain *c);
void import_chain_add(struct import_chain *c, const struct import_frame *f);
/* The chain is whole: c->stack says which stacks it is. The encoder keeps its errors. */
void import_chain_end(struct import_chain *c, struct encoder *enc);
