/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate.h - from the records that the kernel side sends (include/chainwire.h) to the log: it
 * maps the kernel side's stack ids to the trace's, splits stacks into frames, cuts off the
 * tracer's own frames and tells the symbolizer of each new address. It keeps no events.
 */
#ifndef TRANSLATE_H
#define TRANSLATE_H

#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "chainwire.h"
#include "encode.h"
#include "symbolize.h"

struct translator;

/*
 * Takes a sample of a kernel stack whose first `first` frames are the tracer's own. Returns the
 * number of the layout if the stack has one now, by which it may be named; else 0.
 */
typedef uint32_t (*translator_sample_fn)(void *ctx, const struct wire_sample *s, uint32_t first);

/*
 * enc and sym are borrowed until translator_free(). Samples are handed to fn(ctx, ...); fn may be
 * NULL. NULL when out of memory.
 */
struct translator *translator_new(struct encoder *enc, struct symbolizer *sym,
				  translator_sample_fn fn, void *ctx);
void translator_free(struct translator *t);

/*
 * Takes one record of len bytes, of any kind (ctx is the translator: this is a bpf_record_fn).
 * Returns 0 or a negative errno: -EBADMSG for a record that is none, else the encoder's.
 */
int translator_record(void *ctx, const struct wire_record *r, size_t len);
/* Takes one thread of the list (a bpf_thread_fn). Returns 0 or the encoder's negative errno. */
int translator_thread(void *ctx, const struct wire_thread *w);

/* 0 if the len bytes at r can be a record of its kind, else -EBADMSG. */
int translator_check(const struct wire_record *r, size_t len);
/* Encodes a checked record of a kind from WIRE_FORK to WIRE_EXIT. Returns as the encoder does. */
int translator_identity(struct encoder *enc, const struct wire_record *r);

/* Stacks so far that were sent for one event only, as the kernel side's table was full. */
uint64_t translator_stacks_once(const struct translator *t);

/* The letter that ps shows for task state bits (include/linux/sched.h; 0 is 'R'). */
char translator_state_letter(uint32_t bits);

#endif /* TRANSLATE_H */
