/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event.h - an event in memory, and which fields the kinds of events.def have: for the encoder, the
 * reader, and all who handle fields without knowing the kind.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "chainlog.h"

/* What kind of event; the first ones are the log's own numbers. */
enum event_kind {
	EVENT_SWITCH = CHAINLOG_SWITCH,
	EVENT_WAKING = CHAINLOG_WAKING,
	EVENT_WAKING_NEW = CHAINLOG_WAKING_NEW,
	EVENT_FORK = CHAINLOG_FORK,
	EVENT_EXEC = CHAINLOG_EXEC,
	EVENT_RENAME = CHAINLOG_RENAME,
	EVENT_EXIT = CHAINLOG_EXIT,
	EVENT_LOST = CHAINLOG_EVENT_KINDS, /* lost.n (0: not known) may be missing until last_ns */
	EVENT_AUX = CHAINLOG_AUX,	   /* from here on: of AUX_EVENTS blocks, see events.def */
#define EVENT(NAME, number, record, slices, shown, key, fields) \
	EVENT_##NAME = CHAINLOG_AUX + CHAINLOG_##NAME,
#define UNRECORDED(NAME, number, shown, key, fields) EVENT(NAME, number, , , , , )
#include "events.def"
	EVENT_KINDS = CHAINLOG_KINDS,
};

#define EVENT_CPU_UNKNOWN UINT32_MAX

/* Fields that its kind does not have are 0; of SWITCH and WAKING the union is not set. */
struct event {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint32_t cpu;	  /* LOST: may be EVENT_CPU_UNKNOWN */
	uint8_t kind;	  /* enum event_kind */
	char state;	  /* SWITCH: prev's, as ps shows it; 'R' still runnable */
	uint8_t flags;	  /* WAKING*: CHAINLOG_F_OFF_QUEUE, _NO_WAKER: then tid has no meaning */
	uint32_t tid;	  /* who acts: prev, waker, parent; else the thread */
	/* next, wakee, child; EXEC: the thread's tid before; WAITS_FOR: the switch's pair, once a
	 * cursor has joined them */
	uint32_t other;
	uint32_t kstack, ustack; /* of who acts; 0: none */
	/* Both of them, 0: none. A block's reader has references inside the block, a cursor ids of
	 * trace_cursor_pairs(). */
	uint32_t pair;
	uint32_t string; /* FORK: child's name; RENAME: new name; EXEC: file name */
	uint32_t tgid;	 /* FORK: child's process */
	union {
		struct {
			uint64_t n, last_ns;
		} lost; /* LOST, AUX_LOST */
#define OBJECT(record, f) uint32_t f;
#define NUMBER(record, f) uint64_t f;
#define EVENT_AS(NAME, number, record, slices, shown, key, fields)
#define EVENT(NAME, number, record, slices, shown, key, fields) \
	struct {                                                \
		fields                                          \
	} record;
#include "events.def"
	};
};

/* ---- fields of the kinds of events.def ------------------------------------------------------ */

/* What a field is. All but numbers and times are uint32_t in struct event, these uint64_t. */
enum event_field_type {
	FIELD_NONE,
	FIELD_TID,    /* a thread */
	FIELD_SMALL,  /* a number below CHAINLOG_TID_LIMIT */
	FIELD_STACK,  /* the id of one */
	FIELD_OBJECT, /* likewise; 0: none, or not known */
	FIELD_NUMBER,
	FIELD_SINCE, /* times: see events.def */
	FIELD_AGO,
	FIELD_FIRST,
	FIELD_UNTIL,
};

struct event_field {
	uint8_t type; /* enum event_field_type */
	uint8_t at;   /* offset in struct event */
};
#define EVENT_FIELDS 13u /* of one kind, at most */

/* The fields of a kind as they stand in the trace, up to FIELD_NONE; a kind that is not known, or
 * not one of events.def, has none. */
const struct event_field *event_fields(uint32_t kind);
/* Whether one of its fields is event.tid; event.other as a thread. */
bool event_has_tid(uint32_t kind);
bool event_has_other(uint32_t kind);

static inline uint32_t *event_id(struct event *ev, const struct event_field *f)
{
	return (uint32_t *)(void *)((char *)ev + f->at);
}

/* The value of a field. */
static inline uint64_t event_value(const struct event *ev, const struct event_field *f)
{
	const void *at = (const char *)ev + f->at;

	return f->type >= FIELD_NUMBER ? *(const uint64_t *)at : *(const uint32_t *)at;
}
