/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate.h - from the records of the BPF side (include/chainwire.h) to the encoder: events with
 * their stacks (id_map.h), threads, losses. It keeps no events.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "chainwire.h"
#include "common/encoder.h"
#include "names/symbolize.h"
#include "id_map.h"

struct translator;

/*
 * Takes a sample of a kernel stack whose first `first` frames are the tracer's own. Returns the
 * number of the stack's layout if it has one from now on, else 0.
 */
typedef uint32_t (*translator_sample_fn)(void *ctx, const struct wire_layout_sample *s,
					 uint32_t first);

/*
 * store is copied; NULL: the trace that enc writes. Samples go to fn(ctx, ...); fn may be NULL. enc
 * and sym are borrowed until translator_free(). Returns 0 or -ENOMEM.
 */
int translator_new(struct translator **out, struct encoder *enc, struct symbolizer *sym,
		   const struct definition_store *store, translator_sample_fn fn, void *ctx);
void translator_free(struct translator *t);

/*
 * Encodes one record of len bytes, of any kind (ctx is the translator: this is a bpf_record_fn).
 * Returns 0, -EBADMSG for a malformed record, or the encoder's or store's negative errno.
 */
int translator_record(void *ctx, const struct wire_record *r, size_t len);
/* Encodes one thread of the list (a bpf_thread_fn). Returns 0 or a negative errno, likewise. */
int translator_thread(void *ctx, const struct wire_thread *w);

/* The id of a listed process in its own PID namespace; 0: it is that of the machine, or no process.
 */
uint32_t translator_own_id(const struct wire_thread *w);

/* Encodes who has the lock at which a listed thread sleeps. Returns as translator_thread(). */
int translator_holder(void *ctx, uint32_t tid, uint32_t holder);

/* 0 if the len bytes at r can be a record of its kind, else -EBADMSG. */
int translator_check(const struct wire_record *r, size_t len);

/* The map of ids, which stays the translator's. */
struct id_map *translator_ids(struct translator *t);

/* Events without their stacks. */
struct event translator_switch(const struct wire_switch *ev);
struct event translator_waking(const struct wire_waking *ev);

/* The letter that ps shows for task state bits (include/linux/sched.h; 0 is 'R'). */
char translator_state_letter(uint32_t bits);
