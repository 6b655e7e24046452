// SPDX-License-Identifier: GPL-2.0-or-later
#include "more_events.h"

#include "chainlog_more.h"

uint32_t more_events_kind(uint32_t wire_kind)
{
	static const uint8_t kinds[WIRE_KINDS] = {
		[WIRE_CPU_SAMPLE] = CHAINLOG_MORE + CHAINLOG_SAMPLE,
		[WIRE_QUEUE] = CHAINLOG_MORE + CHAINLOG_QUEUE,
		[WIRE_THROTTLED] = CHAINLOG_MORE + CHAINLOG_THROTTLED,
		[WIRE_WAITS_FOR] = CHAINLOG_MORE + CHAINLOG_OBJECT,
	};

	return wire_kind < WIRE_KINDS ? kinds[wire_kind] : 0;
}

int more_events_encode(struct encoder *enc, struct stack_map *stacks, const struct wire_record *r)
{
	struct chainlog_fields ev = {
		.time_ns = r->time_ns,
		.cpu = r->cpu,
		.kind = (uint8_t)more_events_kind(r->kind),
	};

	switch (r->kind) {
	case WIRE_CPU_SAMPLE: {
		const struct wire_cpu_sample *s = (const void *)r;

		ev.tid = s->tid;
		ev.kstack = stack_map_id(stacks, s->kstack, r->time_ns);
		ev.ustack = stack_map_id(stacks, s->ustack, r->time_ns);
		break;
	}
	case WIRE_QUEUE: {
		const struct wire_queue *q = (const void *)r;

		ev.tid = q->tid;
		ev.number[0] = q->place;
		break;
	}
	case WIRE_THROTTLED:
		ev.tid = ((const struct wire_throttled *)(const void *)r)->tid;
		break;
	default:
		break;
	}
	return encoder_more(enc, &ev);
}
