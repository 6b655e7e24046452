// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tables - the cost of a hash table that gives pairs of numbers dense ids: ours
 * (common/id_index.h) against uthash and stb_ds. Ten million look-ups, among ten thousand and a
 * million different pairs, a twentieth of which are looked up most of the time; CPU time, best of
 * three.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define STB_DS_IMPLEMENTATION
#include <stb/stb_ds.h>
#include <uthash.h>

#include "base/pairs.h"

#define LOOKUPS 10000000u
#define ROUNDS 3

struct result {
	double ns; /* a look-up */
	double mb; /* in use at the end */
	uint64_t sum;
};

static struct pair *keys;

static void draw_keys(uint32_t distinct)
{
	uint64_t seed = 1;

	for (uint32_t i = 0; i < LOOKUPS; i++) {
		uint32_t few = distinct / 20, n;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		n = (uint32_t)(seed >> 33) % (seed >> 16 & 3 ? few : distinct);
		keys[i] = (struct pair) { n / 7 + 1, n };
	}
}

static uint64_t ours(size_t *bytes)
{
	struct pairs pairs = { .n = 0 };
	uint64_t sum = 0;

	for (uint32_t i = 0; i < LOOKUPS; i++)
		sum += pairs_id(&pairs, keys[i].a, keys[i].b);
	*bytes = mallinfo2().uordblks + mallinfo2().hblkhd;
	pairs_free(&pairs);
	return sum;
}

static uint64_t with_uthash(size_t *bytes)
{
	struct item {
		struct pair key;
		uint32_t id;
		UT_hash_handle hh;
	} *table = NULL, *item, *next;
	uint64_t sum = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < LOOKUPS; i++) {
		HASH_FIND(hh, table, &keys[i], sizeof(keys[i]), item);
		if (!item) {
			item = malloc(sizeof(*item));
			item->key = keys[i];
			item->id = ++n;
			HASH_ADD(hh, table, key, sizeof(item->key), item);
		}
		sum += item->id;
	}
	*bytes = mallinfo2().uordblks + mallinfo2().hblkhd;
	HASH_ITER(hh, table, item, next)
	{
		HASH_DEL(table, item);
		free(item);
	}
	return sum;
}

static uint64_t with_stb_ds(size_t *bytes)
{
	struct {
		struct pair key;
		uint32_t value;
	} *table = NULL;
	uint64_t sum = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < LOOKUPS; i++) {
		ptrdiff_t at = hmgeti(table, keys[i]);

		if (at < 0) {
			hmput(table, keys[i], ++n);
			sum += n;
		} else {
			sum += table[at].value;
		}
	}
	*bytes = mallinfo2().uordblks + mallinfo2().hblkhd;
	hmfree(table);
	return sum;
}

static struct result measure(uint64_t (*run)(size_t *bytes))
{
	struct result best = { .ns = 1e9 };

	for (int round = 0; round < ROUNDS; round++) {
		size_t before = mallinfo2().uordblks + mallinfo2().hblkhd, bytes;
		clock_t begin = clock();
		double ns;

		best.sum = run(&bytes);
		ns = (double)(clock() - begin) / CLOCKS_PER_SEC * 1e9 / LOOKUPS;
		if (ns < best.ns)
			best.ns = ns;
		best.mb = (double)(bytes - before) / 1e6;
	}
	return best;
}

int main(void)
{
	static const struct {
		const char *name;
		uint64_t (*run)(size_t *bytes);
	} tables[] = {
		{ "id_index", ours },
		{ "uthash", with_uthash },
		{ "stb_ds", with_stb_ds },
	};
	uint64_t sum = 0;

	keys = malloc(LOOKUPS * sizeof(*keys));
	if (!keys)
		return 1;
	printf("%-10s %12s %14s %8s\n", "table", "pairs", "ns a look-up", "MB");
	for (uint32_t distinct = 10000; distinct <= 1000000; distinct *= 100) {
		draw_keys(distinct);
		for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
			struct result r = measure(tables[i].run);

			if (i && r.sum != sum) {
				fprintf(stderr, "tables: %s gives other ids\n", tables[i].name);
				return 1;
			}
			sum = r.sum;
			printf("%-10s %12u %14.1f %8.1f\n", tables[i].name, distinct, r.ns, r.mb);
		}
	}
	free(keys);
	return 0;
}
