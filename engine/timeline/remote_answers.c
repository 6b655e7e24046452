// SPDX-License-Identifier: GPL-2.0-or-later
#include "remote_answers.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "common/xalloc.h"

struct remote_answers *remote_answers_new(void)
{
	struct remote_answers *r = xcalloc(1, sizeof(*r));

	pthread_mutex_init(&r->lock, NULL);
	return r;
}

void remote_answers_free(struct remote_answers *r)
{
	if (!r)
		return;
	free(r->at);
	intern_free(&r->parts);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

void remote_answers_add(struct remote_answers *r, const struct remote_answer *a)
{
	XAPPEND(r->at, r->n, r->cap) = *a;
}

static int by_wait(const void *pa, const void *pb)
{
	const struct remote_answer *a = pa, *b = pb;

	return compare_numbers((uintptr_t)a->wait, (uintptr_t)b->wait);
}

void remote_answers_sort(struct remote_answers *r)
{
	if (r->n)
		qsort(r->at, r->n, sizeof(*r->at), by_wait);
}

const struct remote_answer *remote_answer_of(const struct remote_answers *r, const struct wait *w)
{
	struct remote_answer key = { .wait = w };

	return r && r->n ? bsearch(&key, r->at, r->n, sizeof(key), by_wait) : NULL;
}

uint32_t remote_answers_part(struct remote_answers *r, const struct remote_answer *a,
			     uint64_t from_ns, uint64_t to_ns, uint32_t socket)
{
	struct remote_part part = { from_ns + (uint64_t)a->ahead_ns, to_ns + (uint64_t)a->ahead_ns,
				    (uint32_t)(a - r->at), socket };
	uint32_t number;

	pthread_mutex_lock(&r->lock);
	number = xintern(&r->parts, &part, sizeof(part), NULL);
	pthread_mutex_unlock(&r->lock);
	return number;
}

struct remote_part remote_answers_part_at(const struct remote_answers *r, uint32_t number)
{
	struct remote_part part;
	size_t len;

	memcpy(&part, intern_bytes(&r->parts, number, &len), sizeof(part));
	return part;
}
