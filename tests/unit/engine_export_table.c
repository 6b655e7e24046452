// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table that pprof and speedscope are written from: joined by ';', its rows are the folded
 * lines to the nanosecond, and each wait is counted once. On random schedules and on recorded
 * traces.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "chain_table.h"
#include "export_read.h"
#include "made_many.h"
#include "texts.h"

#define SCHEDULES 150

static int by_text(const void *pa, const void *pb)
{
	const struct fold_line *a = pa, *b = pb;

	return strcmp(a->text, b->text);
}

static char *joined(struct chain_table *t, const struct chain_row *row)
{
	struct text_buf b = { 0 };
	size_t n;
	const uint32_t *frames = chain_table_chain(t, row, &n);

	assert_true(n > 0);
	for (size_t i = n; i-- > 0;) {
		text_puts(&b, chain_table_frame(t, frames[i]).text);
		if (i)
			text_puts(&b, ";");
	}
	assert_false(b.failed);
	return b.p;
}

/* The table as folded lines; rows without time are no lines. To be freed. */
static char *as_folded(struct chain_table *t)
{
	size_t n, n_lines = 0, len;
	const struct chain_row *rows = chain_table_rows(t, &n);
	struct fold_line *lines = calloc(n + 1, sizeof(*lines));
	char *text = NULL;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(lines);
	for (size_t i = 0; i < n; i++)
		if (rows[i].ns)
			lines[n_lines++] = (struct fold_line) { joined(t, &rows[i]), rows[i].ns };
	qsort(lines, n_lines, sizeof(*lines), by_text);
	for (size_t i = 0; i < n_lines; i++) {
		uint64_t ns = lines[i].ns;

		while (i + 1 < n_lines && !strcmp(lines[i].text, lines[i + 1].text)) {
			free((char *)lines[i].text);
			ns += lines[++i].ns;
		}
		fprintf(out, "%s %llu\n", lines[i].text, (unsigned long long)ns);
		free((char *)lines[i].text);
	}
	fclose(out);
	free(lines);
	return text;
}

static void table_is_folded(const struct trace *t, const struct options *o)
{
	char *expected = trace_folded(t, o);
	struct timelines *tl;
	struct chain_table *table;
	const struct chain_row *rows;
	struct chain_summary sums;
	uint64_t waits = 0, ns = 0;
	size_t n;

	assert_int_equal(timelines_new(&tl, t), 0);
	assert_int_equal(chain_table_new(&table, tl, o), 0);
	expect_text(as_folded(table), expected);
	free(expected);
	assert_int_equal(chain_summarize(tl, o, &sums), 0);
	assert_memory_equal(chain_table_summary(table), &sums, sizeof(sums));
	rows = chain_table_rows(table, &n);
	for (size_t i = 0; i < n; i++) {
		waits += rows[i].waits;
		ns += rows[i].ns;
	}
	assert_int_equal(waits, sums.waits);
	assert_int_equal(ns, sums.blocked_ns + sums.runnable_ns + sums.preempted_ns);
	chain_table_free(table);
	timelines_free(tl);
}

/* Every option that a table can take, in some of its values. */
static void table_is_folded_whatever_the_options(const struct trace *t, const char *name, void *arg)
{
	struct options o;

	(void)name;
	(void)arg;
	options_init(&o);
	o.unit = UNIT_NS;
	table_is_folded(t, &o);
	o.parts |= PART_PREEMPTED;
	o.annotate = true;
	o.blocked_stacks = true;
	table_is_folded(t, &o);
	o.mode = MODE_CLASSIC;
	table_is_folded(t, &o);
	o.mode = MODE_EXACT;
	o.annotate = false;
	o.no_ends = true;
	o.depth = 2;
	table_is_folded(t, &o);
	o.depth = 0;
	table_is_folded(t, &o);
	o.depth = 6;
	o.no_delim = true;
	o.no_ends = false;
	table_is_folded(t, &o);
	o.user = false;
	table_is_folded(t, &o);
	o.user = true;
	o.kernel = false;
	o.no_delim = false;
	table_is_folded(t, &o);
	o.kernel = true;
	o.parts = PART_BLOCKED;
	o.from_ns = 100000;
	o.to_ns = 700000;
	o.no_idle = true;
	table_is_folded(t, &o);
	o.parts = PART_RUNNABLE;
	table_is_folded(t, &o);
}

static void rows_are_folded_lines_on_random_schedules(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SCHEDULES; seed++)
		on_schedule(seed, (enum schedule_kind)(seed % 5),
			    table_is_folded_whatever_the_options, NULL);
}

static void rows_are_folded_lines_of_recorded_traces(void **state)
{
	(void)state;
	on_recorded(table_is_folded_whatever_the_options, NULL);
}

/* So many waits that they are taken in slices, some of them longer than a slice. */
static void rows_are_folded_lines_of_many_slices(void **state)
{
	struct made *m = made_new();
	struct options o;
	struct trace *t;
	uint64_t ns = 1000;

	(void)state;
	made_thread(m, 7, "seven");
	made_thread(m, 8, "eight");
	made_thread(m, 9, "nine");
	made_switch(m, 1, ns, 9, 'S', 0, "long;wait");
	made_switch(m, 0, ns, 0, 'R', 7, "");
	for (int i = 0; i < 50000; i++) {
		made_waking(m, 0, ns + 100, 7, 8, i % 3 ? "wake;a" : "wake;b");
		made_switch(m, 0, ns + 200, 7, 'S', 8, "sleep;seven_does");
		made_waking(m, 0, ns + 300, 8, 7, "wake;c");
		made_switch(m, 0, ns + 400, 8, 'S', 7, i % 7 ? "sleep;eight_does" : "other");
		ns += 500;
	}
	made_waking(m, 0, ns + 100, 7, 9, "wake;a");
	made_switch(m, 1, ns + 200, 0, 'R', 9, "");
	made_end(m, ns + 1000);
	t = made_open(m);
	options_init(&o);
	o.unit = UNIT_NS;
	table_is_folded(t, &o);
	trace_close(t);
	made_free(m);
}

/* Threads of one name are one group in a process, and two in two; a rename makes another one. */
static void groups_are_names_in_processes(void **state)
{
	static const char script[] = "thread A S a\n"
				     "thread B S/A b\n"
				     "thread C S c\n"
				     "100 c0 - R > B\n"
				     "110 c0 B renames-to A\n"
				     "120 c0 B S > C b\n"
				     "130 c0 C renames-to A\n"
				     "140 c0 C S > - c\n"
				     "end 200\n";
	struct made *m = script_made(script);
	struct trace *t = made_open(m);
	struct timelines *tl;
	struct chain_table *table;
	const struct chain_row *rows;
	struct options o;
	char *text = NULL;
	size_t n, len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	options_init(&o);
	assert_int_equal(timelines_new(&tl, t), 0);
	assert_int_equal(chain_table_new(&table, tl, &o), 0);
	rows = chain_table_rows(table, &n);
	for (size_t i = 0; i < n; i++) {
		struct chain_group g = chain_table_group(table, rows[i].group);
		char *chain = joined(table, &rows[i]);

		assert_true(!i || rows[i].group >= rows[i - 1].group);
		fprintf(out, "%s of %s %u: %s %llu ns, %llu\n", trace_string(t, g.name),
			trace_string(t, g.process), g.pid, chain, (unsigned long long)rows[i].ns,
			(unsigned long long)rows[i].waits);
		free(chain);
	}
	fclose(out);
	expect_text(text, "A of A 101: A;a;[not woken] 200000 ns, 1\n"
			  "A of A 101: A;b;[not woken] 80000 ns, 1\n"
			  "B of A 101: B;b;[unknown] 100000 ns, 1\n"
			  "C of A 103: C;c;[unknown] 120000 ns, 1\n"
			  "A of A 103: A;c;[not woken] 60000 ns, 1\n");
	chain_table_free(table);
	timelines_free(tl);
	trace_close(t);
	made_free(m);
}

static void top_keeps_the_rows_of_most_time(void **state)
{
	static const char script[] = "thread A S a\n"
				     "thread B S b\n"
				     "thread C S c\n"
				     "100 c0 - R > C\n"
				     "200 c0 C wakes B wake;c\n"
				     "300 c0 C S > B c\n"
				     "400 c0 B S > - b\n"
				     "end 450\n";
	struct made *m = script_made(script);
	struct trace *t = made_open(m);
	struct timelines *tl;
	struct chain_table *table;
	struct options o;
	char *text;

	(void)state;
	options_init(&o);
	o.top = 2;
	assert_int_equal(timelines_new(&tl, t), 0);
	assert_int_equal(chain_table_new(&table, tl, &o), 0);
	text = as_folded(table);
	expect_text(text, "A;a;[not woken] 450000\n"
			  "C;c;[not woken] 150000\n");
	assert_int_equal(chain_table_summary(table)->waits, 5);
	chain_table_free(table);
	timelines_free(tl);
	trace_close(t);
	made_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_folded_lines_on_random_schedules),
		cmocka_unit_test(rows_are_folded_lines_of_recorded_traces),
		cmocka_unit_test(rows_are_folded_lines_of_many_slices),
		cmocka_unit_test(groups_are_names_in_processes),
		cmocka_unit_test(top_keeps_the_rows_of_most_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
