// SPDX-License-Identifier: GPL-2.0-or-later
#include "wait_facts.h"

#include <errno.h>

int wait_facts_init(struct wait_facts *f, const struct timelines *tl, struct names *names)
{
	int err;

	*f = (struct wait_facts) { .who_ran = NULL };
	err = who_ran_new(&f->who_ran, tl, true);
	return err ? err : served_new(&f->all_served, tl, names_kernel_stacks(names));
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

void wait_facts_add(struct wait_facts *f, uint32_t place, struct amount_key key, uint64_t amount)
{
	if (key.kind == AMOUNT_CPU_HOLDER)
		sums_add(&f->had, place, key.value, amount);
	else if (key.kind == AMOUNT_SAMPLES)
		sums_add(&f->ran, place, key.value, amount);
	else
		f->out_of_memory |= !pair_table_add(&f->interrupted, place, 0, amount);
}

void wait_facts_window(struct wait_facts *f, uint32_t place, uint32_t waker, uint64_t from_ns,
		       uint64_t to_ns)
{
	served_add(&f->served, place, f->all_served, waker, from_ns, to_ns);
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
