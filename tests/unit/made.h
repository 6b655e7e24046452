/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * made.h - traces made in memory by the collector's own encoder, for tests that state events and
 * look at what the engine makes of them. Anything that goes wrong in here aborts the test.
 *
 * Times are ns. The trace begins at 0 unless made_info() says something else.
 */
#ifndef TESTS_MADE_H
#define TESTS_MADE_H

#include <stddef.h>
#include <stdint.h>

#include "../../collector/encode.h"
#include "../../engine/trace.h"

struct made;

/* An empty trace, its INFO block (2 CPUs, start 0) still to be written with the first call. */
struct made *made_new(void);
void made_free(struct made *m);
/* Says what the INFO block holds; to be called before anything else. */
void made_info(struct made *m, const struct encoder_info *info);

/*
 * Stacks as text, LEAF first, frames joined by ';': "wake;send;work". Equal names are one frame.
 * "" is no stack. A stack that begins with '+' is marked as cut at its root's end.
 */
uint32_t made_kstack(struct made *m, const char *frames);
uint32_t made_ustack(struct made *m, const char *frames);

/* A thread that was there at the start: tgid is its own tid unless made_thread_full() says more. */
void made_thread(struct made *m, uint32_t tid, const char *name);
void made_thread_full(struct made *m, const struct encoder_thread *t);

/* Events; stacks as above, kernel only (made_kstack) unless the _full forms are used. */
void made_switch(struct made *m, uint32_t cpu, uint64_t ns, uint32_t prev, char state,
		 uint32_t next, const char *kstack);
void made_switch_full(struct made *m, uint32_t cpu, uint64_t ns, uint32_t prev, char state,
		      uint32_t next, const char *kstack, const char *ustack);
void made_waking(struct made *m, uint32_t cpu, uint64_t ns, uint32_t waker, uint32_t target,
		 const char *kstack);
void made_waking_full(struct made *m, uint32_t cpu, uint64_t ns, enum chainlog_event kind,
		      uint32_t waker, uint32_t target, const char *kstack, const char *ustack);
void made_lost(struct made *m, int cpu, uint64_t n, uint64_t first_ns, uint64_t last_ns);
/* For everything else: the encoder itself. */
struct encoder *made_encoder(struct made *m);
/* Ends all blocks that are open, so that the next event begins a new one. */
void made_flush(struct made *m);
/* Ends the trace at ns; without it the trace is one that was cut off after its last flush. */
void made_end(struct made *m, uint64_t ns);

/* What has been made so far, for looking at or for damaging. */
uint8_t *made_bytes(struct made *m, size_t *len);
/* Offset of the i-th block of a type, from 0, and its length with the header; aborts if none. */
size_t made_block(struct made *m, enum chainlog_block type, size_t i, size_t *len);
/* Cuts len bytes out at offset. */
void made_cut_out(struct made *m, size_t offset, size_t len);
/* Adds a block of a type with any payload, CRC right. */
void made_add_block(struct made *m, unsigned int type, const void *payload, size_t len);

/* Reads it as chainwalk would; m has to outlive the trace. To be closed with trace_close(). */
struct trace *made_open(struct made *m);

/*
 * Two CPUs with two blocks of events each, all kinds of events, definitions between them, ended at
 * 600; and what made_events_text() gives for it.
 */
struct made *made_sample(void);
extern const char made_sample_events[];

/*
 * All events in the cursor's order, a line each: "200 waking 7>8 wake;write" is time, kind, acting
 * thread, state of a switch, other thread, kernel stack, user stack. To be freed with free().
 */
char *made_events_text(const struct trace *t);

#endif /* TESTS_MADE_H */
