// SPDX-License-Identifier: GPL-2.0-or-later
#include "wait_facts.h"

#include <errno.h>

/* Where the facts of a node belong. */
static uint32_t place(struct wait_facts *f, uint32_t node)
{
	uint32_t at = f->place_of ? f->place_of(f->arg, node) : node;

	f->out_of_memory |= at == FACTS_NOWHERE;
	return at;
}

/* A chain_who_fn. */
static void add_who(void *arg, uint32_t node, uint32_t who, uint64_t ns)
{
	struct wait_facts *f = arg;

	sums_add(&f->had, place(f, node), who, ns);
}

/* A chain_ran_fn. */
static void add_ran(void *arg, uint32_t node, uint32_t pair, int64_t count)
{
	struct wait_facts *f = arg;

	sums_add(&f->ran, place(f, node), pair, (uint64_t)count);
}

/* A chain_interrupted_fn. */
static void add_interrupted(void *arg, uint32_t node, uint64_t ns)
{
	struct wait_facts *f = arg;

	f->out_of_memory |= !pair_table_add(&f->interrupted, place(f, node), 0, ns);
}

/* A chain_window_fn. */
static void add_window(void *arg, uint32_t node, uint32_t waker, uint64_t from_ns, uint64_t to_ns)
{
	struct wait_facts *f = arg;

	served_add(&f->served, place(f, node), f->all_served, waker, from_ns, to_ns);
}

int wait_facts_init(struct wait_facts *f, struct chains *c,
		    uint32_t (*place_of)(void *arg, uint32_t node), void *arg)
{
	int err = chain_samples_init(&c->samples, c->timelines, add_ran, add_interrupted, f);

	*f = (struct wait_facts) { .place_of = place_of, .arg = arg };
	if (!err)
		err = who_ran_new(&f->who_ran, c->timelines, true);
	if (!err)
		err = served_new(&f->all_served, c->timelines, c->kernel);
	chains_ask_who(c, f->who_ran, add_who, f);
	chains_ask_windows(c, add_window, f);
	return err;
}

void wait_facts_free(struct wait_facts *f)
{
	who_ran_free(f->who_ran);
	served_free(f->all_served);
	sums_free(&f->had);
	sums_free(&f->ran);
	pair_table_free(&f->interrupted);
	sums_free(&f->served);
}

void wait_facts_clear(struct wait_facts *f)
{
	sums_clear(&f->had);
	sums_clear(&f->ran);
	pair_table_clear(&f->interrupted, sizeof(uint64_t));
	sums_clear(&f->served);
}

uint64_t wait_facts_interrupted(const struct wait_facts *f, uint32_t place)
{
	uint32_t id = pairs_find(&f->interrupted.keys, place, 0);

	return id ? ((const uint64_t *)f->interrupted.at)[id] : 0;
}

int wait_facts_sort(struct wait_facts *f, struct names *names)
{
	sums_sort(&f->had, names, who_name);
	sums_merge(&f->ran, names, names_off_cpu);
	sums_sort(&f->ran, names, names_off_cpu);
	sums_sort(&f->served, names, names_string);
	return f->out_of_memory || f->had.out_of_memory || f->ran.out_of_memory ||
			       f->served.out_of_memory
		       ? -ENOMEM
		       : 0;
}
