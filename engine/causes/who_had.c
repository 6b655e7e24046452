// SPDX-License-Identifier: GPL-2.0-or-later
#include "who_had.h"

#include <errno.h>
#include <stdlib.h>

#include "base/compare.h"
#include "common/lower_bound.h"

#define SHOWN 3

void who_had_clear(struct who_had *h)
{
	pair_table_clear(&h->table, sizeof(struct who_had_ns));
}

void who_had_free(struct who_had *h)
{
	pair_table_free(&h->table);
}

bool who_had_add(struct who_had *h, uint32_t thing, uint32_t who, uint64_t ns)
{
	struct who_had_ns *p = pair_table_at(&h->table, thing, who, sizeof(*p));

	if (!p)
		return false;
	p->thing = thing;
	p->who = who;
	p->ns += ns;
	return true;
}

static int by_thing(const void *pa, const void *pb)
{
	const struct who_had_ns *a = pa, *b = pb;

	if (a->thing != b->thing)
		return compare_numbers(a->thing, b->thing);
	return compare_numbers(a->who, b->who);
}

void who_had_sort(struct who_had *h)
{
	struct who_had_ns *all = h->table.at;

	if (h->table.keys.n)
		qsort(all + 1, h->table.keys.n, sizeof(*all), by_thing);
}

void who_had_of(const struct who_had *h, uint32_t thing, struct who_sums *sums)
{
	const struct who_had_ns *all = h->table.at;
	size_t end = (size_t)h->table.keys.n + 1;
	size_t i = 1 + LOWER_BOUND(k, end - 1, all[k + 1].thing < thing);

	for (; i < end && all[i].thing == thing; i++)
		who_sums_add(sums, all[i].who, all[i].ns);
}

/* The text of the sums of one thing: 0 if nobody is known. */
static int write_text(struct who_sums *sums, struct names *names, uint32_t *text)
{
	char *written = NULL;
	size_t len;
	FILE *f = open_memstream(&written, &len);
	int err = -ENOMEM;

	if (f) {
		who_sums_write(sums, names, SHOWN, "", f);
		err = fclose(f) || sums->out_of_memory ? -ENOMEM : 0;
	}
	if (!err && *written) {
		*text = names_adopt(names, written);
		err = *text ? 0 : -ENOMEM;
	}
	free(written);
	return err;
}

int who_had_take(struct who_had *h, struct names *names, uint32_t *text)
{
	const struct who_had_ns *all = h->table.at;
	uint32_t n = h->table.keys.n;
	struct who_sums sums = { .n = 0 };
	int err = 0;

	who_had_sort(h);
	for (uint32_t i = 1; i <= n && !err; i++) {
		who_sums_add(&sums, all[i].who, all[i].ns);
		if (i < n && all[i + 1].thing == all[i].thing)
			continue;
		err = write_text(&sums, names, &text[all[i].thing]);
		who_sums_clear(&sums);
	}
	who_sums_free(&sums);
	return err;
}
