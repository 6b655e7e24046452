// SPDX-License-Identifier: GPL-2.0-or-later
#include "aux_events.h"

#include "common/event_block.h"

uint32_t aux_events_kind(uint32_t wire_kind)
{
	static const uint8_t kinds[WIRE_KINDS] = {
		[WIRE_CPU_SAMPLE] = CHAINLOG_AUX + CHAINLOG_SAMPLE,
		[WIRE_QUEUE] = CHAINLOG_AUX + CHAINLOG_QUEUE,
		[WIRE_THROTTLED] = CHAINLOG_AUX + CHAINLOG_THROTTLED,
		[WIRE_WAITS_FOR] = CHAINLOG_AUX + CHAINLOG_OBJECT,
		[WIRE_DISK_REQUEST] = CHAINLOG_AUX + CHAINLOG_DISK_REQUEST,
		[WIRE_DISK_DONE] = CHAINLOG_AUX + CHAINLOG_DISK_DONE,
		[WIRE_READY] = CHAINLOG_AUX + CHAINLOG_READY,
		[WIRE_INTERRUPTS] = CHAINLOG_AUX + CHAINLOG_INTERRUPTS,
		[WIRE_STEAL] = CHAINLOG_AUX + CHAINLOG_STEAL,
	};

	return wire_kind < WIRE_KINDS ? kinds[wire_kind] : 0;
}

/* The operations have the same numbers on both sides. */
_Static_assert((int)WIRE_DISK_OPS == (int)CHAINLOG_DISK_OPS, "operations of requests");

/* The time from at_ns to the event; 0 if at_ns is not known, and only then. */
static uint64_t since(const struct wire_record *r, uint64_t at_ns)
{
	if (!at_ns)
		return 0;
	return at_ns < r->time_ns ? r->time_ns - at_ns : 1;
}

static void take_disk_done(struct aux_events *m, const struct wire_disk_done *d,
			   struct chainlog_fields *ev)
{
	struct object_text disk = { .class = "disk" };

	disk_name(&m->disks, d->disk, d->r.time_ns, disk.name);
	ev->tid = d->tid;
	ev->number[0] = object_map_text(m->objects, &disk, d->r.time_ns);
	ev->number[1] = chainlog_disk_what(d->op, d->bytes);
	ev->number[2] = since(&d->r, d->asked_ns);
	ev->number[3] = since(&d->r, d->issued_ns);
}

int aux_events_encode(struct aux_events *m, const struct wire_record *r)
{
	struct chainlog_fields ev = {
		.time_ns = r->time_ns,
		.cpu = r->cpu,
		.kind = (uint8_t)aux_events_kind(r->kind),
	};

	switch (r->kind) {
	case WIRE_CPU_SAMPLE:
	case WIRE_DISK_REQUEST: {
		const struct wire_cpu_sample *s = (const void *)r;

		ev.tid = s->tid;
		ev.kstack = stack_map_id(m->stacks, s->kstack, r->time_ns);
		ev.ustack = stack_map_id(m->stacks, s->ustack, r->time_ns);
		break;
	}
	case WIRE_DISK_DONE:
		take_disk_done(m, (const void *)r, &ev);
		break;
	case WIRE_QUEUE: {
		const struct wire_queue *q = (const void *)r;

		ev.tid = q->tid;
		ev.number[0] = q->place;
		break;
	}
	case WIRE_THROTTLED:
		ev.tid = ((const struct wire_throttled *)(const void *)r)->tid;
		break;
	case WIRE_INTERRUPTS:
		ev.number[0] = ((const struct wire_interrupts *)(const void *)r)->ns;
		break;
	case WIRE_STEAL:
		ev.number[0] = ((const struct wire_steal *)(const void *)r)->ns;
		break;
	case WIRE_READY: {
		const struct wire_ready *ready = (const void *)r;

		ev.tid = ready->tid;
		ev.number[0] = object_map_id(m->objects, ready->object, r->time_ns);
		break;
	}
	default:
		break;
	}
	return encoder_event(m->enc, &ev);
}
