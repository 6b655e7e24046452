// SPDX-License-Identifier: GPL-2.0-or-later
#include "who_had.h"

#include <errno.h>
#include <stdlib.h>

#include "base/compare.h"
#include "who_sums.h"

#define SHOWN 3

bool who_had_add(struct who_had *h, uint32_t thing, uint32_t who, uint64_t ns)
{
	return pair_table_add(&h->table, thing, who, ns);
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

static int by_thing(const void *pa, const void *pb)
{
	const struct pair *a = pa, *b = pb;

	return compare_numbers(a->a, b->a);
}

int who_had_take(const struct who_had *h, struct names *names, uint32_t *text)
{
	const uint64_t *ns = h->table.at;
	uint32_t n = h->table.keys.n;
	struct pair *order = malloc(((size_t)n + 1) * sizeof(*order)); /* (thing, id) */
	struct who_sums sums = { .n = 0 };
	int err = order ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < n && !err; i++)
		order[i] = (struct pair) { h->table.keys.at[i + 1].a, i + 1 };
	if (n && !err)
		qsort(order, n, sizeof(*order), by_thing);
	for (uint32_t i = 0; i < n && !err; i++) {
		who_sums_add(&sums, h->table.keys.at[order[i].b].b, ns[order[i].b]);
		if (i + 1 < n && order[i + 1].a == order[i].a)
			continue;
		err = write_text(&sums, names, &text[order[i].a]);
		who_sums_clear(&sums);
	}
	who_sums_free(&sums);
	free(order);
	return err;
}

void who_had_free(struct who_had *h)
{
	pair_table_free(&h->table);
}
