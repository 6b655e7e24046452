// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/sleeping_threads.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/grow.h"
#include "helper/call_timeout.h"
#include "unwind/rule.h"

/* ---- there, and here ------------------------------------------------------------------ */

struct reading {
	struct sleeping_thread who;
	uint64_t addr;
	uint32_t len;	/* in: wanted; out: read */
	uint32_t is_it; /* out: it sleeps */
	uint8_t data[SLEEPING_READ_MAX];
};

_Static_assert(sizeof(struct reading) <= CALL_MAX_BYTES, "one message holds it");

static int run_reading(void *reading, int none)
{
	struct reading *r = reading;
	struct sleeping_memory m;

	(void)none;
	sleeping_memory_open(&m, r->who.tgid);
	r->len = sleeping_is_at(&r->who)
			 ? (uint32_t)sleeping_memory_read(&m, r->addr, r->data, r->len)
			 : 0;
	sleeping_memory_close(&m);
	r->is_it = sleeping_is_asleep(&r->who);
	return -1;
}

/* Returns 0, with the number of bytes in *got, or the negative errno of call_with_timeout(). */
static int read_sleeping(const struct sleeping_thread *a, uint64_t addr, void *buf, size_t len,
			 size_t *got)
{
	struct reading r = {
		.who = *a,
		.addr = addr,
		.len = len < SLEEPING_READ_MAX ? (uint32_t)len : SLEEPING_READ_MAX,
	};
	int none, err;

	*got = 0;
	if (!r.len)
		return 0;
	err = call_with_timeout(run_reading, call_key_process(a->tgid), &r,
				offsetof(struct reading, data) + r.len, -1, &none);
	if (err || !r.is_it || r.len > len)
		return err;
	memcpy(buf, r.data, r.len);
	*got = r.len;
	return 0;
}

size_t sleeping_thread_read(const struct sleeping_thread *a, uint64_t addr, void *buf, size_t len)
{
	size_t got;

	return read_sleeping(a, addr, buf, len, &got) ? 0 : got;
}

/* ---- those of before the recording ---------------------------------------------------------- */

#define SLEEPING_MAX (1u << 15)

_Static_assert(SLEEPING_READ_MAX <= sizeof(((struct wire_copy *)0)->words), "one copy holds it");

struct queued {
	uint64_t seen_ns, switches, space, look;
	uint64_t regs[UNWIND_REGISTERS];
	uint64_t lock, thread_pointer; /* see struct wire_thread */
	uint32_t lock_expects;
	uint32_t tid, tgid, ustack;
};

/* own: its id in its own PID namespace. */
struct own_id {
	uint32_t tgid, own, tid;
};

struct sleeping_threads {
	struct queued *list;
	uint32_t n, next;
	size_t cap;
	struct queued current; /* returned last */
	struct sleeping_code *code;
	struct own_id *ids;
	size_t n_ids, cap_ids;
	bool ids_sorted;
	struct wire_copy copy;
};

int sleeping_threads_new(struct sleeping_threads **out)
{
	struct sleeping_threads *s = *out = calloc(1, sizeof(*s));

	return s ? sleeping_code_new(&s->code) : -ENOMEM;
}

void sleeping_threads_free(struct sleeping_threads *s)
{
	if (!s)
		return;
	free(s->list);
	free(s->ids);
	sleeping_code_free(s->code);
	free(s);
}

/* A new place at the end of the queue; NULL: it is full, or out of memory. */
static struct queued *new_place(struct sleeping_threads *s)
{
	if (s->n == SLEEPING_MAX && s->next) {
		s->n -= s->next;
		memmove(s->list, s->list + s->next, s->n * sizeof(*s->list));
		s->next = 0;
	}
	if (s->n == SLEEPING_MAX || !GROW(s->list, s->n, s->cap))
		return NULL;
	return &s->list[s->n++];
}

bool sleeping_threads_add(struct sleeping_threads *s, const struct wire_thread *t)
{
	struct queued *place = new_place(s);

	if (!place)
		return false;
	*place = (struct queued) {
		.seen_ns = t->seen_ns,
		.switches = t->switches,
		.space = t->space,
		.look = t->look,
		.tid = t->tid,
		.tgid = t->tgid,
		.ustack = t->ustack,
		.lock = t->lock,
		.thread_pointer = t->thread_pointer,
		.lock_expects = t->lock_expects,
	};
	memcpy(place->regs, t->regs, sizeof(place->regs));
	return true;
}

/* ---- who has the lock at which a thread sleeps ----------------------------------------------- */

static int by_own_id(const void *pa, const void *pb)
{
	const struct own_id *a = pa, *b = pb;

	if (a->tgid != b->tgid)
		return a->tgid < b->tgid ? -1 : 1;
	return a->own < b->own ? -1 : a->own > b->own;
}

void sleeping_threads_note(struct sleeping_threads *s, const struct wire_thread *t)
{
	if (t->own_tid && GROW(s->ids, s->n_ids, s->cap_ids))
		s->ids[s->n_ids++] = (struct own_id) { t->tgid, t->own_tid, t->tid };
	s->ids_sorted = false;
}

/* The thread that was returned last. */
static struct sleeping_thread current(const struct sleeping_threads *s)
{
	const struct queued *t = &s->current;

	return (struct sleeping_thread) { t->tgid, t->tid, t->regs[UNWIND_SP], t->regs[UNWIND_PC],
					  t->switches };
}

uint32_t sleeping_threads_holder(struct sleeping_threads *s)
{
	const struct queued *t = &s->current;
	struct sleeping_thread who = current(s);
	const struct own_id *id;
	uint32_t words[WIRE_LOCK_WORDS];
	struct own_id key = { .tgid = t->tgid };

	if (!t->lock || sleeping_thread_read(&who, t->lock + WIRE_LOCK_WORDS_AT, words,
					     sizeof(words)) < sizeof(words))
		return 0;
	key.own = wire_lock_owner(t->lock_expects, words);
	if (!key.own || !s->n_ids)
		return 0;
	if (!s->ids_sorted)
		qsort(s->ids, s->n_ids, sizeof(*s->ids), by_own_id);
	s->ids_sorted = true;
	id = bsearch(&key, s->ids, s->n_ids, sizeof(key), by_own_id);
	return id ? id->tid : 0;
}

/* ---- one after another ----------------------------------------------------------------------- */

bool sleeping_threads_put_back(struct sleeping_threads *s)
{
	struct queued *place = new_place(s);

	if (place)
		*place = s->current;
	return place != NULL;
}

uint32_t sleeping_threads_left(const struct sleeping_threads *s)
{
	return s->n - s->next;
}

const struct wire_copy *sleeping_threads_next(struct sleeping_threads *s, bool read)
{
	struct wire_copy *c = &s->copy;
	const struct queued *t = &s->current;

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
	c->end = CHAINLOG_STACK_UNKNOWN;
	c->sp = t->regs[UNWIND_SP];
	c->switches = t->switches;
	c->space = t->space;
	c->look = t->look;
	c->registers = 1;
	c->len = 0;
	c->n_code = 0;
	c->base = c->sp & ~7ull;
	memcpy(c->regs, t->regs, sizeof(t->regs));
	c->frames[0] = t->regs[UNWIND_PC];
	if (c->look == c->frames[0])
		c->frames[0] ^= WIRE_EXACT;
	if (read) {
		struct sleeping_thread who = current(s);
		size_t got;

		if (read_sleeping(&who, c->base, c->words, SLEEPING_READ_MAX, &got) &&
		    sleeping_threads_put_back(s))
			return NULL;
		c->len = (uint32_t)got;
	}
	return c;
}

int sleeping_threads_code(struct sleeping_threads *s, const struct wire_interpreter *in,
			  sleeping_code_fn fn, void *ctx)
{
	struct sleeping_thread who = current(s);

	return sleeping_code_find(s->code, &who, s->current.thread_pointer, in, &s->copy, fn, ctx);
}
