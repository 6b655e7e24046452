/* SPDX-License-Identifier: GPL-2.0-or-later */
/* chainwire_record.h - the kinds of records, and how each begins. Part of chainwire.h. */
#pragma once

#include "chainvalues.h"

enum wire_kind {
	WIRE_SWITCH,
	WIRE_WAKING,
	WIRE_WAKING_NEW,
	WIRE_FORK,
	WIRE_EXEC,
	WIRE_RENAME,
	WIRE_EXIT,
	WIRE_EVENT_KINDS, /* above: events of EVENTS blocks; below: of AUX_EVENTS blocks. */
	/* Events of the two sorts of blocks are counted and accounted for separately. */
	WIRE_BEFORE_AUX = WIRE_EVENT_KINDS - 1, /* the first of these is WIRE_EVENT_KINDS */
#define EVENT(NAME, number, record, slices, shown, key, fields) WIRE_##NAME,
#define RECORD_OF(NAME, record, event) WIRE_##NAME,
#include "events.def"
	WIRE_COUNTED_KINDS,
	WIRE_STACK = WIRE_COUNTED_KINDS,
	WIRE_LOST,
	WIRE_STACK_LAYOUT_SAMPLE,
	WIRE_COPY,
	WIRE_OBJECT,
	WIRE_CODE,
	WIRE_HEADERS,
	/* A struct wire_switch, or a struct wire_waking, that the collector makes of words. */
	WIRE_SWITCH_EDGE,
	WIRE_WAKING_EDGE,
	WIRE_KINDS,
};

struct wire_record {
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u8 kind;     /* enum wire_kind */
	__u8 seq[3];   /* events: number on this CPU among those of its kind, modulo 2^24 */
	__u32 cpu;
};
