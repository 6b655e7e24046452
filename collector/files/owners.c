// SPDX-License-Identifier: GPL-2.0-or-later
#include "owners.h"

/* Nothing has to be remembered of it. */
static bool is_free(const struct owners *o, const struct owner *w)
{
	return !w->held && w->spent_ns <= o->turn_ns;
}

uint32_t owners_find(struct owners *o, uint64_t key)
{
	uint32_t place = OWNERS_MAX;

	for (uint32_t i = 0; i < o->n; i++) {
		if (o->list[i].key == key)
			return i;
		if (place == OWNERS_MAX && is_free(o, &o->list[i]))
			place = i;
	}
	if (place == OWNERS_MAX && o->n == OWNERS_MAX)
		return OWNERS_MAX - 1;
	if (place == OWNERS_MAX)
		place = o->n++;
	o->list[place] = (struct owner) { .key = key };
	return place;
}

void owners_add(struct owners *o, uint32_t i, uint64_t n)
{
	/* Nobody saves up turns. */
	if (o->list[i].spent_ns < o->turn_ns)
		o->list[i].spent_ns = o->turn_ns;
	o->list[i].held += n;
	o->held += n;
}

void owners_give(struct owners *o, uint32_t i, uint64_t n)
{
	o->list[i].held -= n;
	o->held -= n;
}

bool owners_take(struct owners *o, uint32_t i, uint64_t n, uint64_t max)
{
	if (o->held + o->list[i].held + n > max)
		return false;
	owners_add(o, i, n);
	return true;
}

bool owners_next(const struct owners *o, uint32_t *next)
{
	bool has_any = false;

	for (uint32_t i = 0; i < o->n; i++)
		if (o->list[i].held &&
		    (!has_any || o->list[i].spent_ns < o->list[*next].spent_ns)) {
			*next = i;
			has_any = true;
		}
	return has_any;
}

void owners_spend(struct owners *o, uint32_t i, uint64_t ns)
{
	o->turn_ns = o->list[i].spent_ns;
	o->list[i].spent_ns += ns;
}
