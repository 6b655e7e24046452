// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/pending_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "files/owners.h"
#include "kernel/clock.h"
#include "unwind/sleeping_threads.h"

/* The BPF side copies no more of a stack when its ring is filling, or its end is not known. */
#define SHORT_BYTES 4096u
#define MORE_BYTES 8192u
/*
 * That takes longer than all else that is done for a stack. Who is so far behind has better to do:
 * most threads have run since.
 */
#define OLD_NS 100000000u

struct entry {
	struct entry *next;
	size_t len;
	uint32_t owner;	       /* of owners */
	struct wire_copy copy; /* its first len bytes */
};

struct pending_stacks {
	struct entry *first, **end;
	size_t n;
	struct owners owners; /* what their entries take, in bytes */
};

int pending_stacks_new(struct pending_stacks **out)
{
	struct pending_stacks *p = *out = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->end = &p->first;
	return 0;
}

void pending_stacks_free(struct pending_stacks *p)
{
	if (!p)
		return;
	while (p->first)
		pending_stacks_drop(p);
	free(p);
}

static size_t size_of(size_t len)
{
	return offsetof(struct entry, copy) + len;
}

static void append(struct pending_stacks *p, struct entry *e)
{
	e->next = NULL;
	*p->end = e;
	p->end = &e->next;
}

bool pending_stacks_is_old(const struct wire_copy *c)
{
	return (c->id & WIRE_STACK_COPY) == WIRE_STACK_COPY &&
	       clock_now_ns() - c->r.time_ns > OLD_NS;
}

bool pending_stacks_add(struct pending_stacks *p, const struct wire_copy *c, size_t len,
			uint64_t owner)
{
	struct sleeping_thread who = { c->tgid, c->tid, c->sp, wire_address(c->frames[0]),
				       c->switches };
	size_t more = c->len <= SHORT_BYTES && !pending_stacks_is_old(c) ? MORE_BYTES : 0, got = 0;
	uint32_t i = owners_find(&p->owners, owner);
	struct entry *e = malloc(size_of(len + more)), *shrunk;

	if (!e || !owners_take(&p->owners, i, size_of(len), PENDING_STACKS_MAX_BYTES)) {
		free(e);
		return false;
	}
	memcpy(&e->copy, c, len);
	if (more)
		got = sleeping_thread_read(&who, c->base + c->len, (char *)&e->copy + len, more);
	if (got && owners_take(&p->owners, i, got, PENDING_STACKS_MAX_BYTES)) {
		e->copy.len += (uint32_t)got;
		len += got;
	}
	/* Most have run since: nothing more can be read of them. */
	shrunk = more ? realloc(e, size_of(len)) : NULL;
	e = shrunk ? shrunk : e;
	e->copy.tid = 0;
	e->len = len;
	e->owner = i;
	append(p, e);
	p->n++;
	return true;
}

size_t pending_stacks_left(const struct pending_stacks *p)
{
	return p->n;
}

const struct wire_copy *pending_stacks_first(const struct pending_stacks *p, size_t *len)
{
	*len = p->first ? p->first->len : 0;
	return p->first ? &p->first->copy : NULL;
}

static struct entry *take(struct pending_stacks *p)
{
	struct entry *e = p->first;

	p->first = e->next;
	if (!p->first)
		p->end = &p->first;
	return e;
}

void pending_stacks_drop(struct pending_stacks *p)
{
	struct entry *e = take(p);

	p->n--;
	owners_give(&p->owners, e->owner, size_of(e->len));
	free(e);
}

void pending_stacks_rotate(struct pending_stacks *p)
{
	append(p, take(p));
}
