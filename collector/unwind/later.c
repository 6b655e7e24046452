// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/later.h"

#include <stdlib.h>
#include <string.h>

#include "unwind/asleep.h"

/* The BPF side copies no more of a stack when its ring is filling, or its end is not known. */
#define SHORT_BYTES 4096u
#define MORE_BYTES 8192u

struct entry {
	struct entry *next;
	size_t len;
	struct wire_copy copy; /* its first len bytes */
};

struct later {
	struct entry *first, **end;
	size_t n, bytes;
};

struct later *later_new(void)
{
	struct later *l = calloc(1, sizeof(*l));

	if (l)
		l->end = &l->first;
	return l;
}

void later_free(struct later *l)
{
	if (!l)
		return;
	while (l->first)
		later_drop(l);
	free(l);
}

static size_t size_of(size_t len)
{
	return offsetof(struct entry, copy) + len;
}

static void append(struct later *l, struct entry *e)
{
	e->next = NULL;
	*l->end = e;
	l->end = &e->next;
}

bool later_add(struct later *l, const struct wire_copy *c, size_t len)
{
	struct asleep who = { c->tgid, c->tid, c->sp, c->frames[0], c->switches };
	size_t room = c->len <= SHORT_BYTES ? len + MORE_BYTES : len;
	struct entry *e;

	if (l->bytes + size_of(room) > LATER_MAX_BYTES)
		return false;
	e = malloc(size_of(room));
	if (!e)
		return false;
	memcpy(&e->copy, c, len);
	if (room > len)
		e->copy.len += (uint32_t)asleep_read(&who, c->base + c->len, (char *)&e->copy + len,
						     MORE_BYTES);
	e->copy.tid = 0;
	e->len = len = room;
	append(l, e);
	l->n++;
	l->bytes += size_of(len);
	return true;
}

size_t later_left(const struct later *l)
{
	return l->n;
}

const struct wire_copy *later_first(const struct later *l, size_t *len)
{
	*len = l->first ? l->first->len : 0;
	return l->first ? &l->first->copy : NULL;
}

static struct entry *take(struct later *l)
{
	struct entry *e = l->first;

	l->first = e->next;
	if (!l->first)
		l->end = &l->first;
	return e;
}

void later_drop(struct later *l)
{
	struct entry *e = take(l);

	l->n--;
	l->bytes -= size_of(e->len);
	free(e);
}

void later_rotate(struct later *l)
{
	append(l, take(l));
}
