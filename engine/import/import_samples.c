// SPDX-License-Identifier: GPL-2.0-or-later
#include "import_samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

/* The event's place in the report; beyond the last one all share it. */
static uint32_t event_of(struct import_report *r, const struct import_event *ev)
{
	struct import_name name = ev->event.len ? ev->event : (struct import_name) { "cycles", 6 };
	size_t len = name.len < IMPORT_EVENT_NAME ? name.len : IMPORT_EVENT_NAME - 1;
	struct import_sample_event *e;
	uint32_t i;

	for (i = 0; i < r->n_sample_events; i++)
		if (strlen(r->sample_events[i].name) == len &&
		    !memcmp(r->sample_events[i].name, name.p, len))
			return i;
	if (i == IMPORT_EVENTS)
		return i - 1;
	e = &r->sample_events[r->n_sample_events++];
	*e = (struct import_sample_event) { .is_cycles = ev->is_cycles };
	memcpy(e->name, name.p, len);
	return i;
}

/* Whether the user means the event: by its name, with or without a unit before and modifiers
 * behind. */
static bool is_wanted(const char *wanted, const char *name)
{
	size_t len = strlen(wanted);
	const char *unit = strchr(name, '/');

	if (!strncmp(name, wanted, len) && (!name[len] || name[len] == ':' || name[len] == '/'))
		return true;
	return unit && is_wanted(wanted, unit + 1);
}

bool import_samples_take(struct import_samples *s, const struct import_event *ev,
			 const struct import_stack *stack)
{
	struct import_report *r = s->report;
	uint32_t event = event_of(r, ev);

	r->sample_events[event].n++;
	/* Only what was running somewhere says anything, unless it is the time itself. */
	if (!ev->is_cycles && !stack->kstack && !stack->ustack)
		return false;
	if (s->wanted)
		return r->sample_events[event].counts =
			       is_wanted(s->wanted, r->sample_events[event].name);
	if (r->sample_events[event].is_cycles)
		return r->sample_events[event].counts = true;
	XAPPEND(s->held, s->n_held, s->cap_held) = (struct import_sample) {
		.time_ns = ev->time_ns,
		.cpu = (uint32_t)ev->cpu,
		.tid = (uint32_t)ev->tid,
		.kstack = stack->kstack,
		.ustack = stack->ustack,
		.event = event,
	};
	return false;
}

void import_samples_off_cpu(struct import_samples *s, const struct import_event *ev,
			    const struct import_stack *stack)
{
	XAPPEND(s->off_cpu, s->n_off_cpu, s->cap_off_cpu) = (struct import_sample) {
		.off_cpu_ns = ev->n,
		.tid = (uint32_t)ev->tid,
		.kstack = stack->kstack,
		.ustack = stack->ustack,
	};
}

bool import_samples_count(const struct import_samples *s, const struct import_sample *held)
{
	struct import_report *r = s->report;

	if (s->wanted)
		return false;
	for (uint32_t i = 0; i < r->n_sample_events; i++)
		if (r->sample_events[i].counts && i != s->held[0].event)
			return false;
	if (held->event != s->held[0].event)
		return false;
	r->sample_events[held->event].counts = true;
	return true;
}

void import_samples_free(struct import_samples *s)
{
	free(s->held);
	free(s->off_cpu);
}
