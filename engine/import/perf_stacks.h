/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_stacks.h - turns the call chains of perf's samples, which are addresses, into the stacks of
 * a trace: kernel functions by name, user code as offsets in mapped files, whose functions are
 * named later (symbols/). It owns the memory of earlier call chains: nearly all of them repeat.
 */
#pragma once

#include "import_chain.h"
#include "perf_kernel.h"
#include "perf_maps.h"

/* The user part of a call chain, until it comes. */
struct perf_deferred {
	uint32_t stack; /* id in the trace; 0: it has come */
	uint32_t tgid;
	bool is_exact; /* its leaf was interrupted */
};

/* All zero, but for the pointers, is ready for use. */
struct perf_stacks {
	struct encoder *enc;
	const struct perf_file *file;
	struct perf_kernel *kernel;
	struct perf_maps *maps;
	struct perf_modules *modules;
	struct intern chains;	    /* with what was mapped */
	struct import_stack *known; /* by the id of a chain - 1 */
	struct intern frames;
	struct import_frame *seen; /* by the id of a frame - 1 */
	/*
	 * Of perf record --call-graph fp,defer: a cookie (lower, upper half) stands for the user
	 * part of a chain, which comes later.
	 */
	struct pairs cookies;
	struct perf_deferred *deferred; /* by number of the cookie */
	size_t cap_deferred;
	struct pairs spaces; /* (tgid, 0): code of processes that is in no file */
	uint32_t *space_of;
	size_t cap_known, cap_seen, cap_spaces;
	uint64_t *key; /* of the chain at hand */
	size_t cap_key;
	bool any_kernel, any_user;
	struct import_chain chain;
};

/*
 * The stacks of a chain of 8 bytes an address, of a thread of process tgid. interrupted: it begins
 * with an instruction that was interrupted, as a sample's does and a tracepoint's does not. 0 or
 * -ENOMEM.
 */
int perf_stacks_read(struct perf_stacks *s, uint32_t tgid, bool interrupted,
		     struct perf_bytes chain, struct import_stack *stack);
/* The user part of the chains that have this cookie has come. 0 or a negative errno. */
int perf_stacks_deferred(struct perf_stacks *s, uint64_t cookie, struct perf_bytes chain);
void perf_stacks_free(struct perf_stacks *s);
