// SPDX-License-Identifier: GPL-2.0-or-later
#include "event.h"

#include <stddef.h>

#define AT(type, member) { type, offsetof(struct event, member) },
#define TID(record, f) AT(FIELD_TID, tid)
#define OTHER(record, f) AT(FIELD_TID, other)
#define SMALL(record, f) AT(FIELD_SMALL, other)
#define KSTACK(record) AT(FIELD_STACK, kstack)
#define USTACK(record) AT(FIELD_STACK, ustack)
#define OBJECT(record, f) AT(FIELD_OBJECT, record.f)
#define NUMBER(record, f) AT(FIELD_NUMBER, record.f)
#define SINCE(record, f) AT(FIELD_SINCE, record.f)
#define AGO(record, f) AT(FIELD_AGO, record.f)
#define FIRST(record, f) AT(FIELD_FIRST, record.f)
#define UNTIL(record, f) AT(FIELD_UNTIL, record.f)
#define EVENT(NAME, number, record, slices, shown, key, fields) [number] = { fields },
#define UNRECORDED(NAME, number, shown, key, fields) [number] = { fields },

static const struct event_field fields[CHAINLOG_AUX_KINDS + 1][EVENT_FIELDS + 1] = {
#include "events.def"
};

_Static_assert(sizeof(struct event) <= UINT8_MAX, "offsets of fields");

const struct event_field *event_fields(uint32_t kind)
{
	bool known = kind >= CHAINLOG_AUX && kind < CHAINLOG_KINDS;

	return fields[known ? kind - CHAINLOG_AUX : CHAINLOG_AUX_KINDS];
}

static bool has(uint32_t kind, size_t at)
{
	for (const struct event_field *f = event_fields(kind); f->type; f++)
		if (f->type == FIELD_TID && f->at == at)
			return true;
	return false;
}

bool event_has_tid(uint32_t kind)
{
	return kind < CHAINLOG_EVENT_KINDS || has(kind, offsetof(struct event, tid));
}

bool event_has_other(uint32_t kind)
{
	return kind <= EVENT_FORK || has(kind, offsetof(struct event, other));
}
