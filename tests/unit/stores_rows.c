// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows for databases: put together again they are the lines of the naive engine (oracle.h), however
 * many buckets of time there are, and each wait is counted once. On random schedules and on
 * recorded traces. RowBinary has the same values as the text.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attribute/sleep_ends.h"
#include "common/intern.h"
#include "export_read.h"
#include "fold/fold.h"
#include "fold/wait_length.h"
#include "stores/row_tables.h"
#include "recording.h"
#include "oracle.h"
#include "synth_folded.h"
#include "synth_many.h"

#define SCHEDULES 120
#define COLUMNS 22

/* The fields of a line of TSV, which is cut up. Returns how many. */
static size_t fields_of(char *line, char *fields[COLUMNS])
{
	size_t n = 0;

	for (char *field; (field = strsep(&line, "\t"));) {
		assert_true(n < COLUMNS);
		fields[n++] = field;
	}
	return n;
}

/* Fields of waits, behind the table's name. */
enum {
	WAIT_CGROUP = 4,
	WAIT_THREAD = 6,
	WAIT_ENDPOINT = 7,
	WAIT_CHAIN = 11,
	WAIT_WAITS = 14,
	WAIT_BLOCKED = 15,
	WAIT_ROUTE = 20,
	WAIT_OVER = 21,
	WAIT_FIELDS = 22,
};

static char *same(const char *line, size_t len)
{
	return strndup(line, len);
}

/* What rows say, as folded lines of threads or of requests; *waits: how many. Frees text. */
static char *lines_of_rows(char *text, bool requests, uint64_t *waits)
{
	struct intern chains = { 0 };
	char **frames = calloc(strlen(text) + 1, sizeof(*frames));
	char *rest = text, *fields[COLUMNS], *lines, *summed;
	size_t len;
	FILE *out = open_memstream(&lines, &len);

	*waits = 0;
	for (char *line; (line = strsep(&rest, "\n")) && *line;) {
		size_t n_fields = fields_of(line, fields);

		if (!strcmp(fields[0], "chains")) {
			uint32_t id = intern_id(&chains, fields[2], strlen(fields[2]), NULL);

			/* Once only. */
			assert_int_equal(n_fields, 4);
			assert_null(frames[id]);
			frames[id] = fields[3];
		} else if (!strcmp(fields[0], "waits") && !*fields[WAIT_ENDPOINT] == !requests) {
			uint32_t id = intern_find(&chains, fields[WAIT_CHAIN],
						  strlen(fields[WAIT_CHAIN]));
			uint64_t ns = 0;

			assert_int_equal(n_fields, WAIT_FIELDS);
			assert_true(id > 0);
			for (int i = 0; i < 3; i++)
				ns += strtoull(fields[WAIT_BLOCKED + i], NULL, 10);
			*waits += strtoull(fields[WAIT_WAITS], NULL, 10);
			if (ns)
				fprintf(out, "%s%s%s %" PRIu64 "\n", fields[WAIT_THREAD],
					*frames[id] ? ";" : "", frames[id], ns);
		}
	}
	fclose(out);
	summed = folded_as(lines, same);
	intern_free(&chains);
	free(frames);
	free(lines);
	free(text);
	return summed;
}

/* Without what was sampled above [running]. */
static char *without_sample(const char *line, size_t len)
{
	const char *ran = memmem(line, len, ";[running];", strlen(";[running];"));

	return strndup(line, ran ? (size_t)(ran - line) + strlen(";[running]") : len);
}

static char *without_samples(char *text)
{
	char *summed = folded_as(text, without_sample);

	free(text);
	return summed;
}

static uint64_t waits_of(const struct trace *t, const struct options *o)
{
	struct timelines *tl;
	struct fold *fold;
	uint64_t waits;

	assert_int_equal(timelines_new(&tl, t), 0);
	sleep_ends_settle(tl);
	fold_new(&fold, tl, o, FOLD_BY_NAME);
	waits = fold_summary(fold)->waits;
	fold_free(fold);
	timelines_free(tl);
	return waits;
}

static void rows_are_lines(const struct trace *t, const char *name, void *arg)
{
	static const uint64_t buckets_ns[] = { OPTIONS_BUCKET_NS, 300000, 37000 };
	struct options o;
	uint64_t waits;

	(void)arg;
	options_init(&o);
	for (int requests = 0; requests < 2; requests++) {
		struct oracle_asked asked = { .depth = o.depth, .requests = requests };
		char *expected = without_samples(oracle_folded(t, &asked));
		struct options fold = o;
		uint64_t expected_waits;

		fold.parts = PART_BLOCKED | PART_RUNNABLE | PART_PREEMPTED;
		fold.requests = requests;
		expected_waits = waits_of(t, &fold);
		for (size_t i = 0; i < 3; i++) {
			char *got;

			/* Recorded traces have thousands of these. */
			if (buckets_ns[i] < 300000 && strstr(name, ".bin"))
				continue;
			o.bucket_ns = strstr(name, ".bin") ? buckets_ns[i] * 50 : buckets_ns[i];
			got = lines_of_rows(trace_formatted(t, &o, "rows"), requests, &waits);
			if (strcmp(got, expected))
				fprintf(stderr, "bucket %" PRIu64 " ns, %s\n", o.bucket_ns, name);
			expect_text(got, expected);
			assert_int_equal(waits, expected_waits);
		}
		free(expected);
	}
}

static void rows_are_lines_on_random_schedules(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SCHEDULES; seed++)
		on_schedule(seed, (enum schedule_kind)(seed % 5), rows_are_lines, NULL);
}

static void rows_are_lines_of_recorded_traces(void **state)
{
	(void)state;
	on_recorded(rows_are_lines, NULL);
}

/* ---- the digest of lengths ------------------------------------------------------------------ */

static void lengths_are_too_long_by_less_than_an_eighth(void **state)
{
	uint64_t ns = 0;

	(void)state;
	for (int i = 0; ns < UINT64_MAX / 4; i++) {
		uint64_t rounded = wait_length_ns(wait_length(ns));

		assert_true(wait_length(ns) > 0);
		assert_true(rounded >= ns && (rounded - ns) * 8 < ns + !ns);
		/* What is rounded stays; so lengths of several traces have the same steps. */
		assert_int_equal(wait_length_ns(wait_length(rounded)), rounded);
		assert_true(wait_length(ns) <= wait_length(ns + 1));
		ns = ns < 5000 ? ns + 1 : ns + ns / 5000 + (uint64_t)i % 7;
	}
}

/* ---- RowBinary ------------------------------------------------------------------------------ */

static uint64_t read_number(const uint8_t **p, size_t n)
{
	uint64_t v = 0;

	for (size_t i = 0; i < n; i++)
		v |= (uint64_t) * (*p)++ << (8 * i);
	return v;
}

/* The values of a table as text, as TSV has them. */
static char *binary_as_text(struct bytes b, const struct row_table_shape *shape)
{
	const uint8_t *p = b.p, *end = b.p + b.len;
	size_t len;
	char *text = NULL;
	FILE *out = open_memstream(&text, &len);

	while (p < end)
		for (size_t i = 0; i < shape->n; i++) {
			const char *after = i + 1 < shape->n ? "\t" : "\n";
			uint64_t high, n;

			switch (shape->columns[i].type) {
			case ROW_ID:
				high = read_number(&p, 8);
				n = read_number(&p, 8);
				fprintf(out, "%08x-%04x-%04x-%04x-%012" PRIx64 "%s",
					(unsigned int)(high >> 32),
					(unsigned int)(high >> 16) & 0xffff,
					(unsigned int)high & 0xffff, (unsigned int)(n >> 48),
					n & 0xffffffffffff, after);
				break;
			case ROW_TIME:
			case ROW_NUMBER:
				n = read_number(&p, shape->columns[i].type == ROW_TIME ? 4 : 8);
				fprintf(out, "%" PRIu64 "%s", n, after);
				break;
			case ROW_TEXT:
				n = read_varint(&p, end);
				assert_true(n <= (uint64_t)(end - p));
				for (; n; n--, p++)
					fprintf(out, *p == '\\' ? "\\%c" : "%c", *p);
				fputs(after, out);
				break;
			}
			assert_true(p <= end);
		}
	fclose(out);
	free(b.p);
	return text;
}

static void row_binary_has_the_same_values(const struct trace *t, const char *name, void *arg)
{
	struct options o;

	(void)name;
	(void)arg;
	options_init(&o);
	for (int table = 0; table < ROWS_ALL; table++) {
		char *expected;

		o.rows = (enum options_rows)table;
		expected = trace_formatted(t, &o, "rows");
		expect_text(binary_as_text(trace_exported(t, &o, "rowbinary"), &row_tables[table]),
			    expected);
		free(expected);
	}
}

static void row_binary_has_the_same_values_of_recorded_traces(void **state)
{
	(void)state;
	on_recorded(row_binary_has_the_same_values, NULL);
}

/* ---- columns -------------------------------------------------------------------------------- */

/* A waits for B, and then for a CPU: C had it. */
static void rows_say_who_and_why(void **state)
{
	struct options o = script_options(101);
	char *text, *line;

	(void)state;
	o.rows = ROWS_WAITS;
	text = script_formatted("queues\n0 c2 - R > B\n"
				"10 c1 A S > - recv|main for=tcp:peer:80\n"
				"100 c1 - R > C\n"
				"110 c2 B wakes A wake\n"
				"110 c2 A queued c1\n"
				"190 c1 C S > A\n"
				"end 1000\n",
				&o, "rows");
	line = strstr(text, "\t[runnable]\tC\t");
	if (!line)
		fputs(text, stderr);
	assert_non_null(line);
	assert_non_null(strstr(text, "\tA\t\t[tcp]\t"));
	/* 180 us are rounded up to 11 * 2^14 ns. */
	assert_non_null(strstr(line, "\t180224\t0\t0\t80000\t0\t0\t0\t\t0\n"));
	free(text);
}

/* The sum of a column of all rows of waits, and how many rows there are; a group's or NULL. */
static uint64_t column_sum(const char *text, int column, const char *group, size_t *rows)
{
	char *copy = strdup(text), *rest = copy, *fields[COLUMNS];
	uint64_t sum = 0;

	*rows = 0;
	for (char *line; (line = strsep(&rest, "\n")) && *line;) {
		fields_of(line, fields);
		if (strcmp(fields[0], "waits") || (group && strcmp(fields[WAIT_CGROUP], group)))
			continue;
		++*rows;
		sum += strtoull(fields[column], NULL, 10);
	}
	free(copy);
	return sum;
}

/* ---- no end --------------------------------------------------------------------------------- */

/* 127 years, and a sleep of 100: millions of buckets in which nothing happens. */
static const char centuries[] = "10 c1 A S > - recv\n"
				"50 c2 B S > - read\n"
				"3000000000000000 c2 B wakes A wake\n"
				"3000000000000010 c1 - R > A\n"
				"3000000060000010 c1 A S > - recv\n"
				"3000000120000010 c2 B wakes A wake\n"
				"3000000120000020 c1 - R > A\n"
				"end 4000000000000000\n";

static void time_without_events_is_one_span(void **state)
{
	struct options o = script_options(101);
	char *text = script_formatted(centuries, &o, "rows"), *line;
	size_t rows;

	(void)state;
	assert_int_equal(column_sum(text, WAIT_BLOCKED, NULL, &rows),
			 2999999999999990000 + 60000000000);
	assert_int_equal(column_sum(text, WAIT_WAITS, NULL, &rows), 2);
	assert_in_range(rows, 4, 40);
	/* The time from the second bucket on is in a row of that time. */
	line = strstr(text, "waits\t60\t");
	assert_non_null(line);
	assert_non_null(strstr(line, "\t2999999940000000000\t"));
	free(text);
	/* Each bucket that has events has its own rows. */
	o.bucket_ns = 1000000000;
	text = script_formatted("0 c1 A S > - recv\n"
				"1500000 c1 B S > - read\n"
				"2000000 c2 B wakes A wake\n"
				"2000000 c1 - R > A\n"
				"end 6000000\n",
				&o, "rows");
	assert_non_null(strstr(text, "waits\t0\t"));
	assert_non_null(strstr(text, "waits\t1\t"));
	assert_null(strstr(text, "waits\t3\t"));
	assert_int_equal(column_sum(text, WAIT_BLOCKED, NULL, &rows), 2000000000);
	free(text);
}

/* ---- not too many --------------------------------------------------------------------------- */

/* 12 threads in /a, 3 in /b, that sleep 1, 2, 3 ... ms; and 9 requests to as many endpoints. */
static char *crowd(void)
{
	size_t len;
	char *text;
	FILE *out = open_memstream(&text, &len);

	for (int i = 0; i < 15; i++)
		fprintf(out, "thread %c S wait_%d\n0 c0 %c in-group /%s\n", 'A' + i, i, 'A' + i,
			i < 12 ? "a" : "b");
	for (int i = 0; i < 15; i++)
		fprintf(out, "%d c1 Z wakes %c wake\n%d c0 - R > %c\n%d c0 %c S > - wait_%d\n",
			1000 * (i + 1), 'A' + i, 1000 * (i + 1), 'A' + i, 1000 * (i + 1) + 10,
			'A' + i, i);
	for (int i = 0; i < 9; i++)
		fprintf(out, "%d c1 Z request tcp::%d arrived=%d\n", 20000 + i, 80 + i, 100 * i);
	fputs("end 30000\n", out);
	fclose(out);
	return text;
}

static void groups_have_not_too_many_rows(void **state)
{
	struct options o;
	char *script = crowd(), *all, *some;
	size_t n, n_all;

	(void)state;
	options_init(&o);
	o.ended = true;
	all = script_formatted(script, &o, "rows");
	assert_null(strstr(all, CHAIN_OTHER));
	o.top = 4;
	some = script_formatted(script, &o, "rows");
	/* Each group's sums are the same. */
	for (int column = WAIT_WAITS; column < WAIT_ROUTE; column++)
		for (int i = 0; i < 4; i++) {
			static const char *const groups[] = { "/a", "/b", "", NULL };

			assert_int_equal(column_sum(some, column, groups[i], &n),
					 column_sum(all, column, groups[i], &n_all));
		}
	column_sum(all, WAIT_WAITS, "/a", &n_all);
	column_sum(some, WAIT_WAITS, "/a", &n);
	assert_true(n_all > 5);
	assert_int_equal(n, 5);
	/* Those of most time stay, and of chains those that rows have. */
	assert_non_null(strstr(some, "wait_11;"));
	assert_null(strstr(some, "wait_3;"));
	assert_non_null(strstr(all, "wait_3;"));
	/* Requests are not added to threads. */
	column_sum(some, WAIT_WAITS, "", &n);
	column_sum(all, WAIT_WAITS, "", &n_all);
	assert_true(n < n_all);
	assert_non_null(strstr(some, "\t[other]\t[other]\t[other]\t[other]\t[other]\t[other]\t"));
	free(some);
	/* All groups together are bounded, too. */
	o.top = 1;
	some = script_formatted(script, &o, "rows");
	assert_int_equal(column_sum(some, WAIT_BLOCKED, NULL, &n),
			 column_sum(all, WAIT_BLOCKED, NULL, &n_all));
	assert_in_range(n, 3, 14);
	free(some);
	free(all);
	free(script);
}

/* ---- a sink that others wait for ------------------------------------------------------------ */

static double cpu_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int note_first(void *arg, enum options_rows table, const union row_value *values)
{
	double *first = arg;

	(void)table;
	(void)values;
	if (*first == 0)
		*first = cpu_seconds();
	return 0;
}

/* An SQLite database is locked from the first row on. Nearly all work is done by then. */
static void rows_are_made_before_the_first_is_given(void **state)
{
	struct format_input in = { .trace = NULL };
	struct timelines *tl;
	struct options o;
	struct recording r;
	double begin, first = 0;

	(void)state;
	options_init(&o);
	o.ended = true;
	assert_int_equal(recording_open(&r, "tests/data/services/java.bin", true, NULL), 0);
	assert_int_equal(timelines_new_with_cpus(&tl, r.trace), 0);
	in.trace = r.trace;
	in.timelines = tl;
	in.options = &o;
	begin = cpu_seconds();
	assert_int_equal(rows_make(&in, &(struct row_sink) { &first, note_first }), 0);
	assert_true(first - begin > (cpu_seconds() - begin) / 2);
	timelines_free(tl);
	recording_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_lines_on_random_schedules),
		cmocka_unit_test(rows_are_lines_of_recorded_traces),
		cmocka_unit_test(lengths_are_too_long_by_less_than_an_eighth),
		cmocka_unit_test(row_binary_has_the_same_values_of_recorded_traces),
		cmocka_unit_test(rows_say_who_and_why),
		cmocka_unit_test(time_without_events_is_one_span),
		cmocka_unit_test(groups_have_not_too_many_rows),
		cmocka_unit_test(rows_are_made_before_the_first_is_given),
	};

	return cmocka_run_group_tests_name("rows", tests, NULL, NULL);
}
