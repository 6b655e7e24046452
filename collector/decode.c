// SPDX-License-Identifier: GPL-2.0-or-later
#include "decode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NO_CURRENT UINT32_MAX

static void *grow(void *p, uint32_t n, uint32_t *cap, size_t size)
{
	uint32_t new_cap = *cap ? *cap * 2 : 64;
	void *grown;

	if (n < *cap)
		return p;
	grown = realloc(p, new_cap * size);
	if (grown)
		*cap = new_cap;
	return grown;
}

/* A number of 32 bits; NULL if it is none. */
static const uint8_t *get_u32(const uint8_t *p, const uint8_t *end, uint32_t *v)
{
	uint64_t wide = 0;

	p = chainlog_get_varint(p, end, &wide);
	*v = (uint32_t)wide;
	return wide > UINT32_MAX ? NULL : p;
}

int decoder_begin(struct decoder *d, const uint8_t *payload, size_t len)
{
	const uint8_t *p = payload, *end = payload + len;
	uint64_t span;

	p = get_u32(p, end, &d->cpu);
	if (p)
		p = chainlog_get_varint(p, end, &d->time_ns);
	if (p)
		p = chainlog_get_varint(p, end, &span);
	if (p)
		p = get_u32(p, end, &d->left);
	if (!p)
		return -EBADMSG;
	d->p = p;
	d->end = end;
	d->current = NO_CURRENT;
	d->n_threads = d->n_pairs = 0;
	return 0;
}

/* The index of the thread referred to at *p, which moves on. Negative errno in *err. */
static uint32_t get_thread(struct decoder *d, const uint8_t **p, int *err)
{
	struct decoded_thread *t;
	uint32_t ref;

	*p = get_u32(*p, d->end, &ref);
	if (!*p || ref > d->n_threads) {
		*err = -EBADMSG;
		return 0;
	}
	if (ref)
		return ref - 1;
	t = grow(d->threads, d->n_threads, &d->cap_threads, sizeof(*t));
	if (!t) {
		*err = -ENOMEM;
		return 0;
	}
	d->threads = t;
	t += d->n_threads;
	memset(t, 0, sizeof(*t));
	*p = get_u32(*p, d->end, &t->tid);
	if (!*p)
		*err = -EBADMSG;
	return d->n_threads++;
}

static uint32_t get_actor(struct decoder *d, const uint8_t **p, unsigned int tag, int *err)
{
	if (!(tag & CHAINLOG_F_CURRENT))
		return get_thread(d, p, err);
	if (d->current == NO_CURRENT) {
		*err = -EBADMSG;
		return 0;
	}
	return d->current;
}

/* Reads the stacks, which last is to be of this thread and kind from now on. */
static int get_pair(struct decoder *d, const uint8_t **p, unsigned int tag, uint32_t *last,
		    struct decoded_event *ev)
{
	uint32_t ref, *pair;

	if (tag & CHAINLOG_F_NO_STACK)
		return 0;
	if (!(tag & CHAINLOG_F_SAME_STACK)) {
		*p = get_u32(*p, d->end, &ref);
		if (!*p || ref > d->n_pairs)
			return -EBADMSG;
		if (!ref) {
			void *grown = grow(d->pairs, d->n_pairs, &d->cap_pairs, sizeof(*d->pairs));

			if (!grown)
				return -ENOMEM;
			d->pairs = grown;
			ref = ++d->n_pairs;
			pair = d->pairs[ref - 1];
			*p = get_u32(*p, d->end, &pair[0]);
			if (*p)
				*p = get_u32(*p, d->end, &pair[1]);
			if (!*p)
				return -EBADMSG;
		}
		memcpy(last, d->pairs[ref - 1], sizeof(d->pairs[0]));
	}
	ev->kstack = last[0];
	ev->ustack = last[1];
	return 0;
}

/* SWITCH, WAKING, WAKING_NEW. */
static int get_act(struct decoder *d, const uint8_t **p, unsigned int tag, struct decoded_event *ev)
{
	uint32_t actor, other;
	int err = 0;

	actor = get_actor(d, p, tag, &err);
	if (!err && ev->kind == CHAINLOG_SWITCH) {
		if (tag & CHAINLOG_F_SLEEP)
			ev->state = 'S';
		else if (tag & CHAINLOG_F_RUNNABLE)
			ev->state = 'R';
		else if (*p < d->end)
			ev->state = (char)*(*p)++;
		else
			err = -EBADMSG;
	}
	if (err)
		return err;
	other = get_thread(d, p, &err);
	if (err)
		return err;
	ev->tid = d->threads[actor].tid;
	ev->other = d->threads[other].tid;
	if (ev->kind == CHAINLOG_SWITCH)
		d->current = other;
	return get_pair(d, p, tag, d->threads[actor].stacks[ev->kind != CHAINLOG_SWITCH], ev);
}

/* FORK, EXEC, RENAME, EXIT. */
static int get_identity(struct decoder *d, const uint8_t **p, unsigned int tag,
			struct decoded_event *ev)
{
	uint32_t actor, child;
	int err = 0;

	actor = get_actor(d, p, tag, &err);
	if (err)
		return err;
	ev->tid = d->threads[actor].tid;
	if (ev->kind == CHAINLOG_FORK) {
		child = get_thread(d, p, &err);
		if (err)
			return err;
		ev->other = d->threads[child].tid;
		*p = get_u32(*p, d->end, &ev->tgid);
	} else if (ev->kind == CHAINLOG_EXEC) {
		*p = get_u32(*p, d->end, &ev->other);
	}
	if (*p && ev->kind != CHAINLOG_EXIT)
		*p = get_u32(*p, d->end, &ev->string);
	return *p ? 0 : -EBADMSG;
}

int decoder_next(struct decoder *d, struct decoded_event *ev)
{
	const uint8_t *p = d->p;
	unsigned int tag;
	uint64_t delta;
	int err;

	if (!d->left)
		return 0;
	if (p == d->end)
		return -EBADMSG;
	tag = *p++;
	p = chainlog_get_varint(p, d->end, &delta);
	if (!p)
		return -EBADMSG;
	d->time_ns += delta;
	*ev = (struct decoded_event) {
		.time_ns = d->time_ns,
		.cpu = d->cpu,
		.kind = tag & CHAINLOG_KIND_MASK,
	};
	if (ev->kind <= CHAINLOG_WAKING_NEW)
		err = get_act(d, &p, tag, ev);
	else if (ev->kind < CHAINLOG_EVENT_KINDS)
		err = get_identity(d, &p, tag, ev);
	else
		err = -EBADMSG;
	if (err)
		return err;
	d->p = p;
	d->left--;
	return 1;
}

void decoder_free(struct decoder *d)
{
	free(d->threads);
	free(d->pairs);
	*d = (struct decoder) { 0 };
}
