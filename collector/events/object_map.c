// SPDX-License-Identifier: GPL-2.0-or-later
#include "object_map.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "kernel/bpf.h"

/* Flag of a store id that an event got before its object came. */
#define UNDEFINED 0x80000000u
/* As in stack_map.c: objects and stacks share the ids of the BPF side. */
#define SLOTS (2 * BPF_SESSION_IDS)

struct slot {
	uint32_t wire_id; /* 0: free */
	uint32_t id;	  /* the store's, or 0; UNDEFINED may be set */
	bool again;	  /* not all was known of it: it comes again */
};

struct object_map {
	struct object_store store;
	uint32_t newest;	  /* wire id */
	struct slot slots[SLOTS]; /* by wire id modulo SLOTS */
};

int object_map_new(struct object_map **out, const struct object_store *store)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->store = *store;
	return 0;
}

void object_map_free(struct object_map *m)
{
	free(m);
}

/* Wire ids are given in turn, modulo WIRE_STACK_IDS. */
static uint32_t distance(uint32_t from, uint32_t to)
{
	return (to - from) & (WIRE_STACK_IDS - 1);
}

/* The slot of a wire id, cleared if it is a new one. NULL: the id is recycled, its slot taken. */
static struct slot *get_slot(struct object_map *m, uint32_t wire_id)
{
	struct slot *s = &m->slots[wire_id % SLOTS];

	if (s->wire_id == wire_id)
		return s;
	if (s->wire_id && distance(s->wire_id, wire_id) >= WIRE_STACK_IDS / 2)
		return NULL;
	if (distance(m->newest, wire_id) < WIRE_STACK_IDS / 2)
		m->newest = wire_id;
	*s = (struct slot) { .wire_id = wire_id };
	return s;
}

int object_map_take(struct object_map *m, const struct wire_object *o, size_t len)
{
	struct object_text text;
	struct slot *s;

	if (object_describe(o, len, &text))
		return -EBADMSG;
	s = get_slot(m, o->id);
	/* Two CPUs may send the same object at the same time. */
	if (!s || (s->id && !(s->id & UNDEFINED) && (!s->again || o->again)))
		return 0;
	s->again = o->again;
	if (s->id & UNDEFINED) {
		s->id &= ~UNDEFINED;
		return m->store.define(m->store.ctx, s->id, &text);
	}
	s->id = m->store.object(m->store.ctx, &text, o->r.time_ns);
	return s->id ? 0 : -ENOMEM;
}

uint32_t object_map_text(struct object_map *m, const struct object_text *o, uint64_t time_ns)
{
	uint32_t id = m->store.object(m->store.ctx, o, time_ns);

	if (id && m->store.use)
		m->store.use(m->store.ctx, id, time_ns);
	return id;
}

uint32_t object_map_id(struct object_map *m, uint32_t wire_id, uint64_t time_ns)
{
	struct slot *s = wire_id ? get_slot(m, wire_id) : NULL;
	uint32_t id;

	if (!s)
		return 0;
	if (!s->id) {
		id = m->store.reserve(m->store.ctx, time_ns);
		s->id = id ? id | UNDEFINED : 0;
	}
	id = s->id & ~UNDEFINED;
	if (id && m->store.use)
		m->store.use(m->store.ctx, id, time_ns);
	return id;
}

void object_map_each(struct object_map *m, void (*fn)(void *ctx, uint32_t id), void *ctx)
{
	for (uint32_t i = 0; i < SLOTS; i++) {
		struct slot *s = &m->slots[i];

		if (!s->id)
			continue;
		if (distance(s->wire_id, m->newest) <= SLOTS)
			fn(ctx, s->id & ~UNDEFINED);
		else
			*s = (struct slot) { .wire_id = 0 };
	}
}
