/* SPDX-License-Identifier: GPL-2.0-or-later */
/* chainwire_record.h - the kinds of records, and how each begins. Part of chainwire.h. */
#pragma once

#include "chainleft.h"

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
	WIRE_CPU_SAMPLE = WIRE_EVENT_KINDS,
	WIRE_QUEUE,
	WIRE_THROTTLED,
	WIRE_WAITS_FOR, /* has no record of its own: it is the object of a WIRE_SWITCH */
	WIRE_DISK_REQUEST,
	WIRE_DISK_DONE,
	WIRE_READY,
	WIRE_INTERRUPTS,
	WIRE_STEAL,
	WIRE_REQUEST,
	WIRE_REQUEST_MORE,
	WIRE_REQUEST_OPEN,
	WIRE_PROBED,
	WIRE_PROBED_OPEN,
	WIRE_CONTEXT,
	WIRE_HOLDER,
	WIRE_RECORDER,
	WIRE_GROUP,
	WIRE_OWN_ID,
	WIRE_STREAM,
	WIRE_UNTHROTTLED,
	WIRE_NOT_SENT,
	WIRE_WORK,
	WIRE_TCP_TIMER,
	WIRE_COUNTED_KINDS,
	WIRE_STACK = WIRE_COUNTED_KINDS,
	WIRE_LOST,
	WIRE_STACK_LAYOUT_SAMPLE,
	WIRE_COPY,
	WIRE_OBJECT,
	WIRE_CODE,
	WIRE_KINDS,
};

struct wire_record {
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u8 kind;     /* enum wire_kind */
	__u8 seq[3];   /* events: number on this CPU among those of its kind, modulo 2^24 */
	__u32 cpu;
};
