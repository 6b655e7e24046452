/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_block.h - writes and reads the payloads of EVENTS and AUX_EVENTS blocks (chainlog.h), event
 * by event. The writer owns the block in the making, the reader nothing of the block; both own what
 * the coding inside a block refers to.
 */
#pragma once

#include "event.h"
#include "id_index.h"
#include "request_short.h"

/* ---- writing ------------------------------------------------------------------------------- */

/*
 * A writer finishes a block at about this many payload bytes: a trace that is cut off loses little,
 * and the dictionaries inside a block of events still pay.
 */
#define CHAINLOG_BLOCK_TARGET (64u << 10)
/* Room kept before a payload in the making, for the block's header and the payload's head. */
#define CHAINLOG_FRONT (CHAINLOG_HEADER_SIZE + 4 * CHAINLOG_VARINT_MAX)
/* Threads, and pairs, of one block. */
#define CHAINLOG_WRITER_ROOM 8192u
#define CHAINLOG_WRITER_SLOTS (2 * CHAINLOG_WRITER_ROOM)
/* The longest event: tag, time, and at most seven numbers of 32 bits; kind, length, time, fields */
#define CHAINLOG_EVENT_MAX (1 + CHAINLOG_VARINT_MAX + 7 * 5)
#define CHAINLOG_AUX_MAX (1 + CHAINLOG_VARINT_MAX + (1 + EVENT_FIELDS) * CHAINLOG_VARINT_MAX)

/* What the head of a block of events says, in the making: all of one CPU, in the order of time. */
struct chainlog_events {
	uint32_t cpu, count;
	uint64_t first_ns, last_ns;
	size_t len; /* bytes of the events */
};

/* A block of events of one CPU in the making: some 500 kB, of which little is ever touched. */
struct chainlog_writer {
	struct chainlog_events made;
	uint32_t current; /* reference of the last switch's next; 0: none yet */
	uint32_t woken;	  /* tid of the last waking's wakee; 0: none yet */
	uint32_t n_threads, n_pairs;
	struct id_index thread_index, pair_index;
	struct chainlog_thread threads[CHAINLOG_WRITER_ROOM + 1]; /* by reference */
	struct chainlog_pair pairs[CHAINLOG_WRITER_ROOM + 1];
	uint32_t thread_slots[CHAINLOG_WRITER_SLOTS], pair_slots[CHAINLOG_WRITER_SLOTS];
	uint8_t front[CHAINLOG_FRONT];
	uint8_t events[CHAINLOG_BLOCK_TARGET + CHAINLOG_EVENT_MAX];
};

/* The same of auxiliary events, of which only requests refer to others. */
struct chainlog_aux_writer {
	struct chainlog_events made;
	struct chainlog_requests_made requests;
	uint8_t front[CHAINLOG_FRONT];
	uint8_t events[CHAINLOG_BLOCK_TARGET + CHAINLOG_AUX_MAX];
};

/* True if the block has to be finished before an event at time_ns. */
static inline bool chainlog_events_full(const struct chainlog_events *e, uint64_t time_ns)
{
	return e->count && (e->len >= CHAINLOG_BLOCK_TARGET || time_ns < e->last_ns);
}

static inline bool chainlog_writer_is_full(const struct chainlog_writer *w, uint64_t time_ns)
{
	return chainlog_events_full(&w->made, time_ns) ||
	       (w->made.count &&
		(w->n_threads > CHAINLOG_WRITER_ROOM - 2 || w->n_pairs == CHAINLOG_WRITER_ROOM));
}

void chainlog_writer_init(struct chainlog_writer *w, uint32_t cpu);
void chainlog_aux_init(struct chainlog_aux_writer *w, uint32_t cpu);
/*
 * Add an event of the block's CPU, whose kind the block has; the block must not be full. Tids are
 * below CHAINLOG_TID_LIMIT, a state is a letter, stacks and strings are ids. With NO_WAKER, waker
 * and stacks do not count. WAITS_FOR, WOKEN_READY and REQUEST are written in their short form.
 */
void chainlog_write(struct chainlog_writer *w, const struct event *ev);
void chainlog_aux_write(struct chainlog_aux_writer *w, const struct event *ev);
/* Complete the block; the next event begins another. NULL: there are no events. */
uint8_t *chainlog_writer_finish(struct chainlog_writer *w, size_t *block_len);
uint8_t *chainlog_aux_finish(struct chainlog_aux_writer *w, size_t *block_len);

/*
 * Completes a block of any type whose payload is the numbers head[0..n) and then the len bytes at
 * body, before which there are CHAINLOG_FRONT bytes of room. Returns where the block begins and its
 * length in *block_len.
 */
uint8_t *chainlog_finish_block(enum chainlog_block type, const uint64_t *head, size_t n,
			       uint8_t *body, size_t len, size_t *block_len);

/* ---- reading ------------------------------------------------------------------------------- */

/* What a block says of itself at its beginning. */
struct chainlog_events_head {
	uint32_t cpu, count;
	uint64_t first_ns, last_ns;
};

/* All zero is ready for chainlog_reader_begin(), which can be called again for further blocks. */
struct chainlog_reader {
	const uint8_t *p, *end;
	uint64_t time_ns, last_ns;
	uint32_t cpu, left;
	bool aux;	  /* the block's type is AUX_EVENTS */
	uint32_t current; /* as in the writer */
	uint32_t n_threads, n_pairs, room;
	struct chainlog_thread *threads; /* by reference */
	struct chainlog_pair *pairs;
	struct chainlog_requests *requests; /* if there was an AUX_EVENTS block */
};

/*
 * Reads the head of the payload [p, end). Returns the first event, or NULL if the head is
 * impossible: no difference of two times that it allows overflows 63 bits.
 */
const uint8_t *chainlog_get_head(const uint8_t *p, const uint8_t *end,
				 struct chainlog_events_head *head);
/*
 * Begins with the payload [p, end), of an AUX_EVENTS block or of an EVENTS block, which must stay
 * until its last event is read. Returns 0, -EBADMSG if its head is impossible, or -ENOMEM: room is
 * made here, by what the payload's bytes can name, and not when an event is read.
 */
int chainlog_reader_begin(struct chainlog_reader *r, bool aux, const uint8_t *p,
			  const uint8_t *end);
void chainlog_reader_free(struct chainlog_reader *r);
