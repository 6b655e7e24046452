// SPDX-License-Identifier: GPL-2.0-or-later
/* The causes of many waits explained at once are those of each explained by itself. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/cpu_holders.h"
#include "attribute/sleep_ends.h"
#include "causes/causes.h"
#include "synth_schedule.h"
#include "synth_script.h"

#define SCHEDULES 1000

/* A cause: which one, and its figures. */
struct row {
	char *key;
	uint64_t ns, waits, longest_ns;
	uint64_t piece_ns; /* the longest single sleep, run or lack of CPU; 0: not known */
};

struct rows {
	struct row *at;
	size_t n;
};

/* What waits have in batches, or each by itself; by their threads, and by the time of their end. */
enum how { IN_BATCH, IN_CELLS, ONE_BY_ONE };
#define TIMES 3u

/* A causes_cells': arg is the timelines. */
static uint32_t cell_of(const void *arg, const struct chosen_wait *p)
{
	uint64_t from_ns = timelines_start_ns(arg), ns = timelines_end_ns(arg) - from_ns + 1;
	uint64_t at_ns = p->wait->in_ns > from_ns ? p->wait->in_ns - from_ns : 0;

	return 1 + p->thread * TIMES + (uint32_t)(at_ns * TIMES / ns) % TIMES;
}

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct row *)a)->key, ((const struct row *)b)->key);
}

static struct row row_of(const struct causes *all, const struct names *names, const struct cause *c,
			 bool threads)
{
	const uint32_t texts[] = { c->who,  c->where, c->what, c->by,
				   c->lock, c->had,   c->path, threads ? c->thread : 0 };
	bool lack = c->end == CHAIN_RUNNABLE || c->end == CHAIN_PREEMPTED;
	struct row r = { .ns = c->ns, .waits = c->waits, .longest_ns = c->longest_ns };
	const struct sum *victims;
	size_t len, n;
	FILE *f = open_memstream(&r.key, &len);

	assert_non_null(f);
	/* A quota may have had some of it. */
	if (!lack || c->throttled)
		r.piece_ns = c->piece_ns;
	fprintf(f, "%d %u %d %d", (int)c->end, c->disk, c->pause, c->throttled);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		fprintf(f, "; %s", texts[i] ? names_text(names, texts[i]) : "");
	victims = causes_victims(all, c, &n);
	for (size_t i = 0; i < n; i++)
		fprintf(f, "; %s %" PRIu64, names_text(names, victims[i].text), victims[i].amount);
	assert_int_equal(fclose(f), 0);
	return r;
}

/* What the cells have of the causes, below a cause's row: by the same key and the cell. */
static struct rows cells_of(const struct causes *all, const struct names *names, bool threads)
{
	const struct pair_table *table = causes_cells(all);
	const struct cause_cell *cells = table->at;
	struct rows r = { .n = table->keys.n };
	size_t n, kept = 0;
	const struct cause *at = causes_list(all, &n);

	r.at = calloc(r.n + 1, sizeof(*r.at));
	assert_non_null(r.at);
	for (uint32_t id = 1; id <= r.n; id++)
		for (size_t i = 0; i < n; i++) {
			struct row of;

			if (at[i].id != table->keys.at[id].a || !cells[id].ns)
				continue;
			of = row_of(all, names, &at[i], threads);
			r.at[kept] = (struct row) { .ns = cells[id].ns,
						    .waits = cells[id].waits,
						    .longest_ns = cells[id].longest_ns };
			assert_true(asprintf(&r.at[kept++].key, "%s @%" PRIu32, of.key,
					     table->keys.at[id].b) > 0);
			free(of.key);
		}
	r.n = kept;
	if (r.n)
		qsort(r.at, r.n, sizeof(*r.at), by_key);
	return r;
}

/* The cells add up to the causes. */
static void add_up(const struct causes *all)
{
	const struct pair_table *table = causes_cells(all);
	const struct cause_cell *cells = table->at;
	size_t n;
	const struct cause *at = causes_list(all, &n);

	for (size_t i = 0; i < n; i++) {
		struct cause_cell sum = { 0 };

		for (uint32_t id = 1; id <= table->keys.n; id++) {
			if (table->keys.at[id].a != at[i].id)
				continue;
			sum.ns += cells[id].ns;
			sum.waits += cells[id].waits;
			if (sum.longest_ns < cells[id].longest_ns)
				sum.longest_ns = cells[id].longest_ns;
		}
		assert_int_equal(sum.ns, at[i].ns);
		assert_int_equal(sum.waits, at[i].waits);
		assert_int_equal(sum.longest_ns, at[i].longest_ns);
	}
}

/*
 * threads: whose time it is is compared, too; where there are running totals it is not known.
 * cells: what the cells have.
 */
static struct rows rows_of(const struct timelines *tl, const struct options *given, enum how how,
			   bool threads, struct rows *cells)
{
	struct options o = causes_options(given);
	struct names *names;
	struct wait_filter *f;
	struct cpu_holders *holders;
	struct causes *c;
	const struct cause *at;
	struct rows r;

	names_new(&names, tl, &o);
	wait_filter_new(&f, tl, &o, names);
	cpu_holders_new(&holders, tl, true);
	if (how == IN_BATCH)
		causes_new(&c, tl, &o, names, f, holders);
	else
		causes_new_in_cells(&c, tl, &o, names, f, holders,
				    (struct causes_cells) { tl, cell_of, how == ONE_BY_ONE });
	at = causes_list(c, &r.n);
	r.at = calloc(r.n + 1, sizeof(*r.at));
	assert_non_null(r.at);
	for (size_t i = 0; i < r.n; i++) {
		r.at[i] = row_of(c, names, &at[i], threads);
		assert_non_null(at[i].example.wait);
	}
	if (r.n)
		qsort(r.at, r.n, sizeof(*r.at), by_key);
	*cells = cells_of(c, names, threads);
	if (how != IN_BATCH)
		add_up(c);
	causes_free(c);
	cpu_holders_free(holders);
	wait_filter_free(f);
	names_free(names);
	return r;
}

static void rows_free(struct rows *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->at[i].key);
	free(r->at);
}

#define SAME(a, b)                                                                             \
	do {                                                                                   \
		if ((a) != (b))                                                                \
			fail_msg("%s %" PRIu64 ", one by one %" PRIu64 ": %s in\n%s", #a, (a), \
				 (b), batch.at[i].key, script);                                \
	} while (0)

/* All waits of so few are explained by themselves in a batch, too. */
#define FEW_WAITS 4u

/* is_cell: the waits of a cell, of which not all are shown. */
static void compare_rows(struct rows batch, struct rows each, const char *script, bool is_cell)
{
	if (batch.n != each.n)
		fail_msg("%zu causes, one by one %zu in\n%s", batch.n, each.n, script);
	for (size_t i = 0; i < batch.n; i++) {
		if (strcmp(batch.at[i].key, each.at[i].key))
			fail_msg("%s\none by one %s in\n%s", batch.at[i].key, each.at[i].key,
				 script);
		SAME(batch.at[i].ns, each.at[i].ns);
		if (batch.at[i].longest_ns > each.at[i].longest_ns ||
		    batch.at[i].longest_ns < each.at[i].piece_ns ||
		    (!is_cell && each.at[i].waits <= FEW_WAITS))
			SAME(batch.at[i].longest_ns, each.at[i].longest_ns);
		if (batch.at[i].waits < each.at[i].waits)
			SAME(batch.at[i].waits, each.at[i].waits);
	}
}

static void compare(const struct timelines *tl, const struct options *o, const char *script,
		    bool threads)
{
	struct rows cells[3], of[] = { rows_of(tl, o, IN_BATCH, threads, &cells[0]),
				       rows_of(tl, o, IN_CELLS, threads, &cells[1]),
				       rows_of(tl, o, ONE_BY_ONE, threads, &cells[2]) };

	assert_int_equal(cells[0].n, 0);
	compare_rows(of[0], of[2], script, false);
	compare_rows(of[1], of[2], script, false);
	compare_rows(cells[1], cells[2], script, true);
	for (size_t i = 0; i < 3; i++) {
		rows_free(&of[i]);
		rows_free(&cells[i]);
	}
}

static void random_schedules_have_the_same_causes(void **state)
{
	static const enum schedule_kind kinds[] = { SCHEDULE_WHOLE, SCHEDULE_LOSSY,
						    SCHEDULE_DAMAGED, SCHEDULE_LONG };

	(void)state;
	for (uint64_t seed = 1; seed <= SCHEDULES; seed++) {
		struct schedule *s = schedule_new(seed, kinds[seed % 4]);
		struct timelines *tl;
		struct options o;
		struct synth *m;
		struct trace *t;
		char *script;

		if (seed % 3 == 0)
			schedule_loops(s);
		if (seed % 8 < 4)
			schedule_tries(s);
		script = schedule_script(s);
		m = script_made(script);
		t = synth_open(m);
		assert_int_equal(timelines_new_with_cpus(&tl, t), 0);
		sleep_ends_settle(tl);
		options_init(&o);
		/* All causes are shown. */
		o.json = true;
		compare(tl, &o, script, kinds[seed % 4] != SCHEDULE_LONG);
		o.from_ns = (trace_info(t)->end_ns - trace_info(t)->start_ns) / 3;
		o.to_ns = 2 * o.from_ns;
		compare(tl, &o, script, kinds[seed % 4] != SCHEDULE_LONG);
		timelines_free(tl);
		trace_close(t);
		synth_free(m);
		free(script);
		schedule_free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_schedules_have_the_same_causes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
