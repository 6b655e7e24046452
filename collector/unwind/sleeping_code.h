/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sleeping_code.h - the frames of interpreted code of a thread that sleeps since before the
 * recording. Its code objects get ids of the recorder's own: while it sleeps it keeps them, so an
 * address stands for one of them.
 */
#pragma once

#include <stdint.h>

#include <linux/types.h>

#include "chainwire.h"
#include "sleeping_memory.h"

struct sleeping_code;

/* Takes a code object that is new. 0 or a negative errno. */
typedef int (*sleeping_code_fn)(void *ctx, const struct wire_code *code, size_t len);

/* Returns 0 or -ENOMEM. */
int sleeping_code_new(struct sleeping_code **out);
/* NULL is allowed. */
void sleeping_code_free(struct sleeping_code *s);

/*
 * Fills in c's frames of interpreted code, if it has slept there all the time; fn takes the code
 * objects that are new. Returns 0; -EAGAIN: its process did not answer in time; or fn's negative
 * errno.
 */
int sleeping_code_find(struct sleeping_code *s, const struct sleeping_thread *who,
		       uint64_t thread_pointer, const struct wire_interpreter *in,
		       struct wire_copy *c, sleeping_code_fn fn, void *ctx);
