/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * helper_private.h - what the recorder (helper.c) and the process that forks helpers (forking.c)
 * say to each other. The recorder asks; only what helpers say is hostile.
 */
#pragma once

#include <stdatomic.h>
#include <signal.h>

#include "helper.h"

/* How long a process that was killed may take to end, on a machine that is busy. */
#define END_MS 1000
#define HELPER_ENDS_NS (END_MS * UINT64_C(1000000))

enum order_what {
	ORDER_START,  /* a helper; its socket comes with the order */
	ORDER_END,    /* the helper with this id; key: what it may hang in (call_timeout.h), or 0 */
	ORDER_MEMORY, /* all helpers together may take that much from now on */
};

struct order {
	enum order_what what;
	bool is_low; /* it begins at idle priority */
	const struct helper_kind *kind;
	uint64_t id;
	uint64_t memory_bytes;
	uint64_t key;
};

/* The first message of each process. */
struct hello {
	pid_t pid;
};

/* So many helpers may have been killed and be there still, as they hang in file systems. */
#define HANGING_MAX 32u

/* What one hangs in (call_timeout.h), and when it was killed. key 0: none. */
struct hanging {
	_Atomic uint64_t key, since_ns;
};

/* Numbers that the recorder reads and the others write, each on a page of its own. */
#define TALLY_BYTES 4096u
struct tally {
	_Atomic uint32_t *given_up; /* helpers that were ended for others, or not started */
	/* Helpers that found too little memory for a file; they can change it, and not the other.
	 */
	_Atomic uint32_t *short_of;
	struct hanging *hanging; /* HANGING_MAX of them */
};

/* What the process that forks does, in a new process. memory_bytes: as in ORDER_MEMORY. */
_Noreturn void forking_run(int socket, enum helpers_rights rights, const struct tally *tally,
			   uint64_t memory_bytes);
