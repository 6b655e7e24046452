// SPDX-License-Identifier: GPL-2.0-or-later
#include "sleeping_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/grow.h"
#include "common/id_index.h"
#include "helper/call_timeout.h"
#include "interpreters/walk.h"
#include "kernel/clock.h"
#include "sleeping_memory.h"

/* Code objects that are described; more have no names. */
#define CODES_MAX 8192u

/* ---- in a process that may hang -------------------------------------------------------------- */

struct walking {
	struct sleeping_thread who;
	struct wire_interpreter in;
	uint64_t thread_pointer;
	uint32_t n; /* out */
	struct walk_frame frames[WIRE_CODE_FRAMES];
};

struct describing {
	struct sleeping_thread who;
	struct wire_interpreter in;
	uint64_t address;
	uint32_t is_read; /* out */
	struct wire_code code;
};

_Static_assert(sizeof(struct walking) <= CALL_MAX_BYTES &&
		       sizeof(struct describing) <= CALL_MAX_BYTES,
	       "one message holds it");

static bool read_all(void *memory, void *buf, size_t len, uint64_t addr)
{
	return sleeping_memory_read(memory, addr, buf, len) == len;
}

static int run_walking(void *walking, int none)
{
	struct walking *w = walking;
	struct sleeping_memory memory;
	struct walk_memory m = { read_all, &memory };

	(void)none;
	sleeping_memory_open(&memory, w->who.tgid);
	w->n = sleeping_is_at(&w->who) ? walk_frames(&m, &w->in, w->thread_pointer, w->frames) : 0;
	sleeping_memory_close(&memory);
	if (!sleeping_is_asleep(&w->who))
		w->n = 0;
	return -1;
}

static int run_describing(void *describing, int none)
{
	struct describing *d = describing;
	struct sleeping_memory memory;
	struct walk_memory m = { read_all, &memory };

	(void)none;
	sleeping_memory_open(&memory, d->who.tgid);
	d->is_read = walk_code(&m, &d->in, d->address, &d->code);
	sleeping_memory_close(&memory);
	d->is_read &= sleeping_is_asleep(&d->who);
	return -1;
}

/* ---- here ------------------------------------------------------------------------------------ */

struct known {
	uint64_t address;
	uint32_t tgid, id; /* id 0: it cannot be read */
};

struct sleeping_code {
	struct known *known;
	size_t n, cap;
	struct id_index index;
	struct walking walking;
	struct describing describing;
};

static uint32_t hash_of(const struct known *k)
{
	return hash_pair((uint32_t)(k->address >> 4), k->tgid);
}

static uint32_t hash_at(const void *table, uint32_t id)
{
	return hash_of(&((const struct known *)table)[id - 1]);
}

static bool is_same(const void *table, uint32_t id, const void *key)
{
	const struct known *a = &((const struct known *)table)[id - 1], *b = key;

	return a->address == b->address && a->tgid == b->tgid;
}

int sleeping_code_new(struct sleeping_code **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void sleeping_code_free(struct sleeping_code *s)
{
	if (!s)
		return;
	free(s->known);
	id_index_free(&s->index);
	free(s);
}

/* Describes it to fn. Returns 0, and *id; or a negative errno, -EAGAIN if it was not in time. */
static int describe(struct sleeping_code *s, const struct sleeping_thread *who,
		    const struct wire_interpreter *in, uint64_t address, uint32_t *id,
		    sleeping_code_fn fn, void *ctx)
{
	struct describing *d = &s->describing;
	struct wire_code *code = &d->code;
	int none;

	d->who = *who;
	d->in = *in;
	d->address = address;
	d->is_read = 0;
	memset(code, 0, sizeof(*code));
	*id = 0;
	if (call_with_timeout(run_describing, call_key_process(who->tgid), d, sizeof(*d), -1,
			      &none))
		return -EAGAIN;
	if (!d->is_read || code->n_lines > WIRE_CODE_LINES)
		return 0;
	*id = WIRE_CODE_IDS + (uint32_t)s->n;
	code->r = (struct wire_record) { .time_ns = clock_now_ns(), .kind = WIRE_CODE };
	code->id = *id;
	code->tgid = who->tgid;
	return fn(ctx, code, offsetof(struct wire_code, lines) + code->n_lines);
}

/* The id of the code object at that address; *id 0: it is not known. */
static int id_of(struct sleeping_code *s, const struct sleeping_thread *who,
		 const struct wire_interpreter *in, uint64_t address, uint32_t *id,
		 sleeping_code_fn fn, void *ctx)
{
	struct known new = { .address = address, .tgid = who->tgid };
	uint32_t *slot, n = (uint32_t)s->n;
	int err;

	*id = 0;
	if (!id_index_reserve(&s->index, n, 64, hash_at, s->known))
		return 0;
	slot = id_index_slot(&s->index, hash_of(&new), is_same, s->known, &new);
	if (*slot) {
		*id = s->known[*slot - 1].id;
		return 0;
	}
	if (n >= CODES_MAX || !GROW(s->known, s->n, s->cap))
		return 0;
	err = describe(s, who, in, address, &new.id, fn, ctx);
	if (err)
		return err;
	*id = new.id;
	s->known[s->n++] = new;
	*slot = n + 1;
	return 0;
}

int sleeping_code_find(struct sleeping_code *s, const struct sleeping_thread *who,
		       uint64_t thread_pointer, const struct wire_interpreter *in,
		       struct wire_copy *c, sleeping_code_fn fn, void *ctx)
{
	struct walking *w = &s->walking;
	int none, err = 0;

	*w = (struct walking) { .who = *who, .in = *in, .thread_pointer = thread_pointer };
	c->n_code = 0;
	if (call_with_timeout(run_walking, call_key_process(who->tgid), w, sizeof(*w), -1, &none))
		return -EAGAIN;
	if (w->n > WIRE_CODE_FRAMES)
		return 0;
	for (uint32_t i = 0; !err && i < w->n; i++) {
		const struct walk_frame *f = &w->frames[i];
		uint32_t id = 0;

		if (f->code)
			err = id_of(s, who, in, f->code, &id, fn, ctx);
		c->code[i] = wire_code_frame(id, f->place, f->is_entry != 0);
	}
	if (err)
		return err;
	c->n_code = w->n;
	c->eval_start = in->eval_start;
	c->eval_end = in->eval_end;
	return 0;
}
