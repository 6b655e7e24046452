// SPDX-License-Identifier: GPL-2.0-or-later
#include "who_sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "common/grow.h"
#include "timeline/timeline.h"

void who_sums_clear(struct who_sums *s)
{
	pair_table_clear(&s->table, sizeof(uint64_t));
	s->n = 0;
}

void who_sums_free(struct who_sums *s)
{
	pair_table_free(&s->table);
	free(s->sorted);
	*s = (struct who_sums) { .n = 0 };
}

void who_sums_add(void *arg, uint32_t who, uint64_t ns)
{
	struct who_sums *s = arg;
	uint64_t *sum = pair_table_at(&s->table, who, 0, sizeof(*sum));

	if (sum)
		*sum += ns;
	else
		s->out_of_memory = true;
}

void who_sums_add_all(struct who_sums *to, const struct who_sums *from)
{
	for (uint32_t i = 1; i <= from->table.keys.n; i++)
		who_sums_add(to, from->table.keys.at[i].a, ((const uint64_t *)from->table.at)[i]);
}

const char *who_sums_text(struct names *names, uint32_t who)
{
	if (who == WHO_UNKNOWN)
		return NULL;
	return who < WHO_NAMES ? names_text(names, names_string(names, who)) : who_text(who);
}

/* Texts are compared, so that the order does not depend on how strings are numbered. */
static int largest_first(const void *pa, const void *pb, void *names)
{
	const struct who_sum *a = pa, *b = pb;
	const char *x, *y;

	if (a->ns != b->ns)
		return compare_numbers(b->ns, a->ns);
	x = who_sums_text(names, a->who);
	y = who_sums_text(names, b->who);
	return x && y ? strcmp(x, y) : (y != NULL) - (x != NULL);
}

void who_sums_sort(struct who_sums *s, struct names *names)
{
	const uint64_t *ns = s->table.at;

	s->n = 0;
	for (uint32_t i = 1; i <= s->table.keys.n && !s->out_of_memory; i++) {
		struct who_sum *p = grow_array(s->sorted, s->n, &s->cap, sizeof(*p));

		if (!p) {
			s->out_of_memory = true;
			break;
		}
		s->sorted = p;
		/* Made now: comparing must not make texts, which moves them. */
		(void)who_sums_text(names, s->table.keys.at[i].a);
		p[s->n++] = (struct who_sum) { s->table.keys.at[i].a, ns[i] };
	}
	if (s->out_of_memory)
		s->n = 0;
	if (s->n)
		qsort_r(s->sorted, s->n, sizeof(*s->sorted), largest_first, names);
}

static unsigned int percent(uint64_t ns, uint64_t of)
{
	return of ? (unsigned int)((double)ns * 100 / (double)of + 0.5) : 0;
}

bool who_sums_write(struct who_sums *s, struct names *names, size_t most, const char *before,
		    FILE *out)
{
	uint64_t all = 0, rest, unknown = 0;
	size_t n = 0;

	who_sums_sort(s, names);
	for (size_t i = 0; i < s->n; i++) {
		all += s->sorted[i].ns;
		if (s->sorted[i].who == WHO_UNKNOWN)
			unknown += s->sorted[i].ns;
	}
	if (all == unknown)
		return false;
	fputs(before, out);
	rest = all;
	for (size_t i = 0; i < s->n && n < most; i++) {
		const char *text = who_sums_text(names, s->sorted[i].who);

		if (!percent(s->sorted[i].ns, all))
			break;
		fprintf(out, "%s%u %% %s", n++ ? ", " : "", percent(s->sorted[i].ns, all),
			text	     ? text
			: s->unknown ? s->unknown
				     : "[unknown]");
		rest -= s->sorted[i].ns;
	}
	if (percent(rest, all))
		fprintf(out, "%s%u %% others", n ? ", " : "", percent(rest, all));
	return true;
}
