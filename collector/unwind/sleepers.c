// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/sleepers.h"

#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "unwind/asleep.h"
#include "unwind/rule.h"

#define SLEEPERS_MAX (1u << 15)
/* Read of each stack at once; words beyond are read one by one. */
#define READ_BYTES (16u << 10)

_Static_assert(READ_BYTES <= sizeof(((struct wire_copy *)0)->words), "one copy holds it");

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

bool sleepers_add(struct sleepers *s, const struct wire_thread *t)
{
	struct sleeper *list;

	if (s->n >= SLEEPERS_MAX)
		return false;
	list = grow_array(s->list, s->n, &s->cap, sizeof(*list));
	if (!list)
		return false;
	s->list = list;
	list[s->n] = (struct sleeper) {
		.seen_ns = t->seen_ns,
		.switches = t->switches,
		.space = t->space,
		.look = t->look,
		.tid = t->tid,
		.tgid = t->tgid,
		.ustack = t->ustack,
	};
	memcpy(list[s->n].regs, t->regs, sizeof(list->regs));
	s->n++;
	return true;
}

uint32_t sleepers_left(const struct sleepers *s)
{
	return s->n - s->next;
}

static void read_stack(struct wire_copy *c)
{
	struct asleep_memory memory;

	if (asleep_open(&memory, c->tgid))
		return;
	c->len = (uint32_t)asleep_read(&memory, c->base, c->words, READ_BYTES);
	asleep_close(&memory);
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
	c->space = t->space;
	c->look = t->look;
	c->registers = 1;
	c->len = 0;
	c->base = c->sp & ~7ull;
	memcpy(c->regs, t->regs, sizeof(t->regs));
	c->frames[0] = t->regs[UNWIND_PC];
	if (read)
		read_stack(c);
	return c;
}

bool sleepers_slept(const struct sleepers *s)
{
	const struct sleeper *t = &s->current;

	return asleep_since(t->tgid, t->tid, t->regs[UNWIND_SP], t->regs[UNWIND_PC], t->switches);
}
