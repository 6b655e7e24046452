// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/sleepers.h"

#include <stdlib.h>
#include <string.h>

#include "common/grow.h"
#include "unwind/asleep.h"
#include "unwind/rule.h"

#define SLEEPERS_MAX (1u << 15)

_Static_assert(ASLEEP_READ_MAX <= sizeof(((struct wire_copy *)0)->words), "one copy holds it");

struct sleeper {
	uint64_t seen_ns, switches, space, look;
	uint64_t regs[UNWIND_REGISTERS];
	uint32_t tid, tgid, ustack;
};

struct sleepers {
	struct sleeper *list;
	uint32_t n, next;
	size_t cap;
	struct sleeper current; /* returned last */
	struct wire_copy copy;
};

struct sleepers *sleepers_new(void)
{
	return calloc(1, sizeof(struct sleepers));
}

void sleepers_free(struct sleepers *s)
{
	if (!s)
		return;
	free(s->list);
	free(s);
}

/* A new place at the end of the queue; NULL: it is full, or out of memory. */
static struct sleeper *new_place(struct sleepers *s)
{
	struct sleeper *list = NULL;

	if (s->n == SLEEPERS_MAX && s->next) {
		s->n -= s->next;
		memmove(s->list, s->list + s->next, s->n * sizeof(*s->list));
		s->next = 0;
	}
	if (s->n < SLEEPERS_MAX)
		list = grow_array(s->list, s->n, &s->cap, sizeof(*list));
	if (!list)
		return NULL;
	s->list = list;
	return &list[s->n++];
}

bool sleepers_add(struct sleepers *s, const struct wire_thread *t)
{
	struct sleeper *place = new_place(s);

	if (!place)
		return false;
	*place = (struct sleeper) {
		.seen_ns = t->seen_ns,
		.switches = t->switches,
		.space = t->space,
		.look = t->look,
		.tid = t->tid,
		.tgid = t->tgid,
		.ustack = t->ustack,
	};
	memcpy(place->regs, t->regs, sizeof(place->regs));
	return true;
}

bool sleepers_put_back(struct sleepers *s)
{
	struct sleeper *place = new_place(s);

	if (place)
		*place = s->current;
	return place != NULL;
}

uint32_t sleepers_left(const struct sleepers *s)
{
	return s->n - s->next;
}

static struct asleep sleep_of(const struct sleeper *t)
{
	return (struct asleep) {
		.tgid = t->tgid,
		.tid = t->tid,
		.sp = t->regs[UNWIND_SP],
		.pc = t->regs[UNWIND_PC],
		.switches = t->switches,
	};
}

const struct wire_copy *sleepers_next(struct sleepers *s, bool read)
{
	struct wire_copy *c = &s->copy;
	const struct sleeper *t = &s->current;

	if (s->next == s->n)
		return NULL;
	s->current = s->list[s->next++];
	if (s->next == s->n) {
		free(s->list);
		s->list = NULL;
		s->n = s->next = 0;
		s->cap = 0;
	}
	c->r = (struct wire_record) { .time_ns = t->seen_ns, .kind = WIRE_COPY };
	c->id = t->ustack;
	c->tgid = t->tgid;
	c->tid = t->tid;
	c->n = 1;
	c->end = WIRE_END_UNKNOWN;
	c->sp = t->regs[UNWIND_SP];
	c->switches = t->switches;
	c->space = t->space;
	c->look = t->look;
	c->registers = 1;
	c->len = 0;
	c->base = c->sp & ~7ull;
	memcpy(c->regs, t->regs, sizeof(t->regs));
	c->frames[0] = t->regs[UNWIND_PC];
	if (read) {
		struct asleep who = sleep_of(t);

		c->len = (uint32_t)asleep_read(&who, c->base, c->words, ASLEEP_READ_MAX);
	}
	return c;
}
