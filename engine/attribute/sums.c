// SPDX-License-Identifier: GPL-2.0-or-later
#include "sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "common/lower_bound.h"
#include "common/xalloc.h"

void sums_clear(struct sums *s)
{
	pair_table_clear(&s->table, sizeof(struct sum));
	s->n = 0;
}

void sums_free(struct sums *s)
{
	pair_table_free(&s->table);
	*s = (struct sums) { .n = 0 };
}

struct sum *sums_at(struct sums *s, uint32_t thing, uint32_t key)
{
	struct sum *sum = pair_table_at(&s->table, thing, key, sizeof(*sum));

	sum->thing = thing;
	sum->key = key;
	return sum;
}

void sums_add_all(struct sums *to, const struct sums *from)
{
	const struct sum *all = from->table.at;

	for (uint32_t i = 1; i <= from->table.keys.n; i++)
		sums_add(to, all[i].thing, all[i].key, all[i].amount);
}

/* ---- order ---------------------------------------------------------------------------------- */

uint32_t sums_key_is_text(struct names *names, uint32_t key)
{
	(void)names;
	return key;
}

/* Sets all texts, once for each and not in each comparison. Returns how many sums there are. */
static size_t set_texts(struct sums *s, struct names *names, sums_text_fn text_of)
{
	size_t n = s->n ? s->n : s->table.keys.n;
	struct sum *at = s->table.at;

	for (size_t i = 1; i <= n; i++) {
		at[i].text = at[i].key == SUMS_UNKNOWN ? 0 : text_of(names, at[i].key);
	}
	return n;
}

static int by_text_id(const void *pa, const void *pb)
{
	const struct sum *a = pa, *b = pb;

	return a->thing != b->thing ? compare_numbers(a->thing, b->thing)
	       : a->text != b->text ? compare_numbers(a->text, b->text)
				    : compare_numbers(a->key, b->key);
}

void sums_merge(struct sums *s, struct names *names, sums_text_fn text_of)
{
	size_t n = set_texts(s, names, text_of);
	struct sum *at = s->table.at;

	s->n = 0;
	if (n)
		qsort(at + 1, n, sizeof(*at), by_text_id);
	for (size_t i = 1; i <= n; i++) {
		if (s->n && at[s->n].thing == at[i].thing && at[s->n].text == at[i].text)
			at[s->n].amount += at[i].amount;
		else
			at[++s->n] = at[i];
	}
}

static int by_text(const void *pa, const void *pb, void *names)
{
	const struct sum *a = pa, *b = pb;

	if (!a->text || !b->text)
		return !a->text - !b->text;
	return strcmp(names_text(names, a->text), names_text(names, b->text));
}

static int largest_first(const void *pa, const void *pb, void *names)
{
	const struct sum *a = pa, *b = pb;

	if (a->thing != b->thing)
		return compare_numbers(a->thing, b->thing);
	if (a->amount != b->amount)
		return compare_numbers(b->amount, a->amount);
	return by_text(pa, pb, names);
}

void sums_sort(struct sums *s, struct names *names, sums_text_fn text_of)
{
	struct sum *at = s->table.at;

	s->n = set_texts(s, names, text_of);
	if (s->n)
		qsort_r(at + 1, s->n, sizeof(*at), largest_first, names);
}

struct sum *sums_of(const struct sums *s, uint32_t thing, size_t *n)
{
	struct sum *at = s->table.at;
	size_t first;

	*n = 0;
	if (!s->n)
		return NULL;
	at++; /* ids count from 1 */
	first = LOWER_BOUND(i, s->n, at[i].thing < thing);
	while (first + *n < s->n && at[first + *n].thing == thing)
		++*n;
	return at + first;
}

/* ---- texts ---------------------------------------------------------------------------------- */

uint32_t sums_dominant_text(const struct sums *s, uint32_t thing)
{
	size_t n;
	const struct sum *of = sums_of(s, thing, &n);

	return n ? of->text : 0;
}

static unsigned int percent(uint64_t part, uint64_t of)
{
	return of ? (unsigned int)((double)part * 100 / (double)of + 0.5) : 0;
}

bool sums_write(const struct sums *s, const struct names *names, uint32_t thing, size_t most,
		const char *before, const char *unknown, FILE *out)
{
	uint64_t all = 0, rest, known = 0;
	size_t n, written = 0;
	const struct sum *of = sums_of(s, thing, &n);

	for (size_t i = 0; i < n; i++) {
		all += of[i].amount;
		known += of[i].text ? of[i].amount : 0;
	}
	if (!known)
		return false;
	fputs(before, out);
	rest = all;
	for (size_t i = 0; i < n && i < most && percent(of[i].amount, all); i++) {
		fprintf(out, "%s%u %% %s", written++ ? ", " : "", percent(of[i].amount, all),
			of[i].text ? names_text(names, of[i].text) : unknown);
		rest -= of[i].amount;
	}
	if (percent(rest, all))
		fprintf(out, "%s%u %% others", written ? ", " : "", percent(rest, all));
	return true;
}

/* ---- shares --------------------------------------------------------------------------------- */

struct remainder {
	uint64_t rest;
	size_t at;
};

static int largest_remainder_first(const void *pa, const void *pb)
{
	const struct remainder *a = pa, *b = pb;

	return a->rest != b->rest ? compare_numbers(b->rest, a->rest)
				  : compare_numbers(a->at, b->at);
}

void share_out(uint64_t total, const uint64_t *parts, size_t n, uint64_t *shares)
{
	struct remainder *r = xmalloc((n + 1) * sizeof(*r));
	uint64_t sum = 0, left = total;

	for (size_t i = 0; i < n; i++)
		sum += parts[i];
	for (size_t i = 0; i < n; i++) {
		/* At most 2^64 * 2^64. */
		unsigned __int128 product = (unsigned __int128)total * parts[i];

		shares[i] = (uint64_t)(product / sum);
		r[i] = (struct remainder) { (uint64_t)(product % sum), i };
		left -= shares[i];
	}
	qsort(r, n, sizeof(*r), largest_remainder_first);
	for (size_t i = 0; i < left; i++)
		shares[r[i].at]++;
	free(r);
}

void sums_share(struct sum *of, size_t n, uint64_t total, struct names *names)
{
	uint64_t *parts = xcalloc(2 * n + 1, sizeof(*parts)), *shares;

	shares = parts + n;
	/* In the order of the lines, on which it depends who gets what is left. */
	qsort_r(of, n, sizeof(*of), by_text, names);
	for (size_t i = 0; i < n; i++)
		parts[i] = of[i].amount;
	share_out(total, parts, n, shares);
	for (size_t i = 0; i < n; i++)
		of[i].share = shares[i];
	qsort_r(of, n, sizeof(*of), largest_first, names);
	free(parts);
}
