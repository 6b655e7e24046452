/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chainlog_more.h - writes and reads MORE_EVENTS blocks (chainlog.h): events of kinds that a reader
 * may skip. A table says which fields a kind has; a new kind is its number in chainlog.h and a line
 * in that table. Events are those of chainlog_read.h, with CHAINLOG_MORE added to their kind.
 * OBJECT and WOKEN_READY are written in their short form.
 */
#ifndef CHAINLOG_MORE_H
#define CHAINLOG_MORE_H

#include "chainlog_block.h"
#include "chainlog_read.h"

/* The fields of a kind in their order, and where they are in struct chainlog_fields. */
enum chainlog_more_field {
	CHAINLOG_FIELD_NONE,
	CHAINLOG_FIELD_TID,
	CHAINLOG_FIELD_OTHER, /* below 2^22 */
	CHAINLOG_FIELD_KSTACK,
	CHAINLOG_FIELD_USTACK,
	CHAINLOG_FIELD_NUMBER, /* number[0] */
	CHAINLOG_FIELD_NUMBER2,
	CHAINLOG_FIELD_NUMBER3,
	CHAINLOG_FIELD_NUMBER4,
};
#define CHAINLOG_MORE_FIELDS 5u

/* Returns the fields of a kind; of one that is not known, the first is NONE. */
static inline const uint8_t *chainlog_more_fields(uint64_t kind)
{
	static const uint8_t fields[CHAINLOG_MORE_KINDS + 1][CHAINLOG_MORE_FIELDS] = {
		[CHAINLOG_SAMPLE] = { CHAINLOG_FIELD_TID, CHAINLOG_FIELD_KSTACK,
				      CHAINLOG_FIELD_USTACK },
		[CHAINLOG_QUEUE] = { CHAINLOG_FIELD_TID, CHAINLOG_FIELD_NUMBER },
		[CHAINLOG_THROTTLED] = { CHAINLOG_FIELD_TID },
		[CHAINLOG_OBJECT] = { CHAINLOG_FIELD_NUMBER },
		[CHAINLOG_DISK_REQUEST] = { CHAINLOG_FIELD_TID, CHAINLOG_FIELD_KSTACK,
					    CHAINLOG_FIELD_USTACK },
		[CHAINLOG_DISK_DONE] = { CHAINLOG_FIELD_TID, CHAINLOG_FIELD_NUMBER,
					 CHAINLOG_FIELD_NUMBER2, CHAINLOG_FIELD_NUMBER3,
					 CHAINLOG_FIELD_NUMBER4 },
		[CHAINLOG_INTERRUPTS] = { CHAINLOG_FIELD_NUMBER },
		[CHAINLOG_STEAL] = { CHAINLOG_FIELD_NUMBER },
		[CHAINLOG_READY] = { CHAINLOG_FIELD_TID, CHAINLOG_FIELD_NUMBER },
		[CHAINLOG_WOKEN_READY] = { CHAINLOG_FIELD_NUMBER },
		[CHAINLOG_MORE_LOST] = { CHAINLOG_FIELD_OTHER, CHAINLOG_FIELD_NUMBER,
					 CHAINLOG_FIELD_NUMBER2 },
	};

	return fields[kind < CHAINLOG_MORE_KINDS ? kind : CHAINLOG_MORE_KINDS];
}

/* Whether number[0] of a kind, with CHAINLOG_MORE added, is an object's id. */
static inline bool chainlog_more_has_object(uint32_t kind)
{
	switch (kind) {
	case CHAINLOG_MORE + CHAINLOG_OBJECT:
	case CHAINLOG_MORE + CHAINLOG_READY:
	case CHAINLOG_MORE + CHAINLOG_WOKEN_READY:
	case CHAINLOG_MORE + CHAINLOG_DISK_DONE:
		return true;
	default:
		return false;
	}
}

/* ---- writing ------------------------------------------------------------------------------- */

/* The longest event: kind, length, time, fields. */
#define CHAINLOG_MORE_MAX \
	(1 + CHAINLOG_VARINT_MAX + (1 + CHAINLOG_MORE_FIELDS) * CHAINLOG_VARINT_MAX)

/* A block of events of one CPU in the making. */
struct chainlog_more_writer {
	struct chainlog_events made;
	uint8_t front[CHAINLOG_FRONT];
	uint8_t events[CHAINLOG_BLOCK_TARGET + CHAINLOG_MORE_MAX];
};

static inline void chainlog_more_init(struct chainlog_more_writer *w, uint32_t cpu)
{
	w->made = (struct chainlog_events) { .cpu = cpu };
}

/* True if the block has to be finished before an event at time_ns. */
static inline bool chainlog_more_is_full(const struct chainlog_more_writer *w, uint64_t time_ns)
{
	return chainlog_events_full(&w->made, time_ns);
}

/* Completes the block; the next event begins another. NULL: there are no events. */
static inline uint8_t *chainlog_more_finish(struct chainlog_more_writer *w, size_t *block_len)
{
	return chainlog_finish_events(&w->made, CHAINLOG_BLOCK_MORE_EVENTS, w->events, block_len);
}

static inline uint64_t chainlog_more_value(const struct chainlog_fields *ev,
					   enum chainlog_more_field field)
{
	switch (field) {
	case CHAINLOG_FIELD_TID:
		return ev->tid;
	case CHAINLOG_FIELD_OTHER:
		return ev->other;
	case CHAINLOG_FIELD_KSTACK:
		return ev->kstack;
	case CHAINLOG_FIELD_USTACK:
		return ev->ustack;
	default:
		return ev->number[field - CHAINLOG_FIELD_NUMBER];
	}
}

/* Adds an event of the block's CPU and of a known kind; the block must not be full. */
static inline void chainlog_more_write(struct chainlog_more_writer *w,
				       const struct chainlog_fields *ev)
{
	uint64_t kind = ev->kind - CHAINLOG_MORE;
	const uint8_t *fields = chainlog_more_fields(kind);
	uint8_t *p = w->events + w->made.len, *len;

	if (!w->made.count)
		w->made.first_ns = w->made.last_ns = ev->time_ns;
	if (kind == CHAINLOG_OBJECT || kind == CHAINLOG_WOKEN_READY) {
		fields = chainlog_more_fields(CHAINLOG_MORE_KINDS); /* none */
		kind = CHAINLOG_MORE_SHORT + 2 * ev->number[0] + (kind == CHAINLOG_WOKEN_READY);
	}
	p = chainlog_put_varint(p, kind);
	p = chainlog_put_varint(p, ev->time_ns - w->made.last_ns);
	/* All fields together have less than 128 bytes: their length takes one. */
	len = p++;
	for (size_t i = 0; i < CHAINLOG_MORE_FIELDS && fields[i]; i++)
		p = chainlog_put_varint(p, chainlog_more_value(ev, fields[i]));
	*len = (uint8_t)(p - len - 1);
	w->made.last_ns = ev->time_ns;
	w->made.len = (size_t)(p - w->events);
	w->made.count++;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* As chainlog_reader_begin(), for the payload of a MORE_EVENTS block. It allocates nothing. */
static inline int chainlog_more_begin(struct chainlog_reader *r, const uint8_t *p,
				      const uint8_t *end)
{
	struct chainlog_events_head head;

	p = chainlog_get_head(p, end, &head);
	if (!p)
		return -EBADMSG;
	chainlog_reader_start(r, &head, p, end);
	return 0;
}

/* Sets a field; false if its value is not possible. */
static inline bool chainlog_more_set(struct chainlog_fields *ev, enum chainlog_more_field field,
				     uint64_t v)
{
	switch (field) {
	case CHAINLOG_FIELD_TID:
		ev->tid = (uint32_t)v;
		return v < CHAINLOG_TID_LIMIT;
	case CHAINLOG_FIELD_OTHER:
		ev->other = (uint32_t)v;
		return v < CHAINLOG_TID_LIMIT;
	case CHAINLOG_FIELD_KSTACK:
		ev->kstack = (uint32_t)v;
		return v <= UINT32_MAX;
	case CHAINLOG_FIELD_USTACK:
		ev->ustack = (uint32_t)v;
		return v <= UINT32_MAX;
	default:
		ev->number[field - CHAINLOG_FIELD_NUMBER] = v;
		return true;
	}
}

/*
 * Reads the known fields of a kind off [p, end); false if one is impossible. Those that an older
 * writer did not write are 0.
 */
static inline bool chainlog_more_read_fields(const uint8_t *fields, const uint8_t *p,
					     const uint8_t *end, struct chainlog_fields *ev)
{
	uint64_t v;

	for (size_t i = 0; i < CHAINLOG_MORE_FIELDS && fields[i] && p != end; i++) {
		p = chainlog_get_varint(p, end, &v);
		if (!p || !chainlog_more_set(ev, fields[i], v))
			return false;
	}
	return true;
}

/*
 * Reads the next event of a known kind. Returns 1; 0 at the end of the block; -EBADMSG if it is
 * malformed.
 */
static inline int chainlog_more_read(struct chainlog_reader *r, struct chainlog_fields *ev)
{
	uint64_t kind, delta, len;
	const uint8_t *fields, *p;

	while (r->left) {
		p = chainlog_get_varint(r->p, r->end, &kind);
		if (p)
			p = chainlog_get_varint(p, r->end, &delta);
		if (p)
			p = chainlog_get_varint(p, r->end, &len);
		if (!p || delta > r->last_ns - r->time_ns || len > (uint64_t)(r->end - p))
			return -EBADMSG;
		r->time_ns += delta;
		r->left--;
		r->p = p + len;
		*ev = (struct chainlog_fields) { .time_ns = r->time_ns, .cpu = r->cpu };
		if (kind >= CHAINLOG_MORE_SHORT) {
			kind -= CHAINLOG_MORE_SHORT;
			ev->number[0] = kind / 2;
			ev->kind =
				CHAINLOG_MORE + (kind & 1 ? CHAINLOG_WOKEN_READY : CHAINLOG_OBJECT);
			return 1;
		}
		fields = chainlog_more_fields(kind);
		if (fields[0] == CHAINLOG_FIELD_NONE)
			continue;
		ev->kind = (uint8_t)(CHAINLOG_MORE + kind);
		return chainlog_more_read_fields(fields, p, r->p, ev) ? 1 : -EBADMSG;
	}
	return r->p == r->end && r->time_ns == r->last_ns ? 0 : -EBADMSG;
}

/* The same for blocks of both types. */
static inline int chainlog_begin_any(struct chainlog_reader *r, bool more, const uint8_t *p,
				     const uint8_t *end)
{
	return more ? chainlog_more_begin(r, p, end) : chainlog_reader_begin(r, p, end);
}

static inline int chainlog_read_any(struct chainlog_reader *r, bool more,
				    struct chainlog_fields *ev)
{
	return more ? chainlog_more_read(r, ev) : chainlog_read_event(r, ev);
}

#endif /* CHAINLOG_MORE_H */
