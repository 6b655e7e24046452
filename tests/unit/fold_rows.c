// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rows from which pprof profiles are written: joined by ';' they are the folded lines to
 * the nanosecond, and each wait is counted once. On random schedules and on recorded traces.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <sched.h>

#include "attribute/sleep_ends.h"
#include "fold/fold.h"
#include "synth_many.h"
#include "base/text.h"

#define SCHEDULES 150

struct line {
	char *text;
	uint64_t ns;
};

static int by_text(const void *pa, const void *pb)
{
	const struct line *a = pa, *b = pb;

	return strcmp(a->text, b->text);
}

static char *joined(struct chain_rows *r, const struct chain_row *row)
{
	struct text_buf b = { 0 };
	size_t n;
	const uint32_t *frames = chain_row_frames(r, row, &n);

	assert_true(n > 0);
	for (size_t i = n; i-- > 0;) {
		text_puts(&b, chain_rows_frame(r, frames[i]).text);
		if (i)
			text_puts(&b, ";");
	}
	return b.p;
}

/* Sorted, and those with the same text summed up. Frees their texts. To be freed. */
static char *as_text(struct line *lines, size_t n_lines)
{
	size_t len;
	char *text = NULL;
	FILE *out = open_memstream(&text, &len);

	if (n_lines)
		qsort(lines, n_lines, sizeof(*lines), by_text);
	for (size_t i = 0; i < n_lines; i++) {
		uint64_t ns = lines[i].ns;

		while (i + 1 < n_lines && !strcmp(lines[i].text, lines[i + 1].text)) {
			free(lines[i].text);
			ns += lines[++i].ns;
		}
		fprintf(out, "%s %llu\n", lines[i].text, (unsigned long long)ns);
		free(lines[i].text);
	}
	fclose(out);
	free(lines);
	return text;
}

/* The table as folded lines; rows without time are no lines. To be freed. */
static char *as_folded(struct chain_rows *r)
{
	struct line *lines = calloc(r->n + 1, sizeof(*lines));
	size_t n = 0;

	assert_non_null(lines);
	for (size_t i = 0; i < r->n; i++)
		if (r->at[i].ns)
			lines[n++] = (struct line) { joined(r, &r->at[i]), r->at[i].ns };
	return as_text(lines, n);
}

/* The same lines without what stands above [running], [on-CPU]. Frees text. To be freed. */
static char *without_samples(char *text)
{
	struct line *lines = calloc(strlen(text) + 1, sizeof(*lines));
	char *rest = text, *line;
	size_t n = 0;

	assert_non_null(lines);
	while ((line = strsep(&rest, "\n"))) {
		char *weight = strrchr(line, ' '), *ran = strstr(line, "[running];");
		char *on_cpu = strstr(line, "[on-CPU];");

		if (!weight)
			continue;
		*weight++ = '\0';
		if (ran)
			ran[strlen("[running]")] = '\0';
		if (on_cpu)
			on_cpu[strlen("[on-CPU]")] = '\0';
		lines[n++] = (struct line) { strdup(line), strtoull(weight, NULL, 10) };
	}
	free(text);
	return as_text(lines, n);
}

/* Whether row i is the first of its group: rows of a group follow each other. */
static bool begins_group(const struct chain_rows *r, size_t i)
{
	return !i || r->at[i].group != r->at[i - 1].group;
}

/* Whether threads of several processes have one name. */
static bool has_namesakes(const struct chain_rows *r)
{
	for (size_t i = 1; i < r->n; i++)
		for (size_t k = 0; k < i && begins_group(r, i); k++)
			if (begins_group(r, k) &&
			    interned_stacks_thread_group(r->stacks, r->at[i].group).name ==
				    interned_stacks_thread_group(r->stacks, r->at[k].group).name)
				return true;
	return false;
}

/* Line by line, whatever the rows are of. */
static void expect_lines(const struct trace *t, const struct options *o, struct chain_rows *rows)
{
	char *expected = trace_folded(t, o), *got = as_folded(rows);

	/*
	 * Without delimiters different chains can be one line, and share their samples; so can
	 * threads of one name in several processes.
	 */
	if (o->no_delim || has_namesakes(rows)) {
		got = without_samples(got);
		expected = without_samples(expected);
	}
	expect_text(got, expected);
	free(expected);
}

static void rows_are_lines(const struct trace *t, const struct options *o)
{
	struct timelines *tl;
	struct fold *fold;

	assert_int_equal(timelines_new(&tl, t), 0);
	sleep_ends_settle(tl);
	fold_new(&fold, tl, o, FOLD_BY_LINE);
	expect_lines(t, o, fold_rows(fold));
	fold_free(fold);
	timelines_free(tl);
}

static void table_is_folded(const struct trace *t, const struct options *o)
{
	struct timelines *tl;
	struct fold *fold, *by_name;
	struct chain_rows *rows;
	struct chain_summary sums;
	uint64_t waits = 0, ns = 0;

	assert_int_equal(timelines_new(&tl, t), 0);
	sleep_ends_settle(tl);
	fold_new(&fold, tl, o, FOLD_BY_LINE);
	rows = fold_rows(fold);
	expect_lines(t, o, rows);
	fold_new(&by_name, tl, o, FOLD_BY_NAME);
	sums = *fold_summary(by_name);
	fold_free(by_name);
	assert_memory_equal(fold_summary(fold), &sums, sizeof(sums));
	for (size_t i = 0; i < rows->n; i++) {
		waits += rows->at[i].waits;
		ns += rows->at[i].ns;
	}
	assert_int_equal(waits, sums.waits);
	assert_int_equal(ns, sums.blocked_ns + sums.runnable_ns + sums.preempted_ns);
	fold_free(fold);
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

/*
 * What is left over when a time is shared out in whole nanoseconds goes to the same line. B runs
 * for most of A's wait, and is sampled as often at each place.
 */
static void a_nanosecond_left_over_goes_to_the_same_line(void **state)
{
	/* Folded lines are sorted by bytes: "f2;" is before "f;". Each name is one line. */
	static const struct {
		const char *places[4];
		const char *expected;
	} cases[] = {
		{ { "|f", "|f2", NULL },
		  "A;recv;--;wake;B;[running];f 401\n"
		  "A;recv;--;wake;B;[running];f2 400\n" },
		{ { "|x;f", "|x;f2", NULL },
		  "A;recv;--;wake;B;[running];f2;x 401\n"
		  "A;recv;--;wake;B;[running];f;x 400\n" },
		{ { "|f@liba", "|f@libb", "|e", NULL },
		  "A;recv;--;wake;B;[running];e 267\n"
		  "A;recv;--;wake;B;[running];f 534\n" },
		{ { "|g@liba", "|f", "|g@libb", "|e" },
		  "A;recv;--;wake;B;[running];e 200\n"
		  "A;recv;--;wake;B;[running];f 200\n"
		  "A;recv;--;wake;B;[running];g 401\n" },
	};
	struct options o = script_options(101);

	(void)state;
	o.unit = UNIT_NS;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char script[500], *text = stpcpy(script, "0 c0 - R > B\n0.100 c1 A S > - recv\n");
		struct synth *m;
		struct trace *t;

		for (size_t k = 0; k < 4 && cases[i].places[k]; k++)
			text += sprintf(text, "0.%zu c0 B ran %s\n", 200 + k, cases[i].places[k]);
		strcpy(text, "0.901 c0 B wakes A wake\n0.901 c1 - R > A\nend 1\n");
		m = script_made(script);
		t = synth_open(m);
		expect_text(trace_folded(t, &o), cases[i].expected);
		table_is_folded(t, &o);
		trace_close(t);
		synth_free(m);
	}
}

/* The law on many schedules, all of which have samples. */
static void samples_share_out_alike_on_random_schedules(void **state)
{
	struct options o;

	(void)state;
	options_init(&o);
	o.unit = UNIT_NS;
	o.parts = PART_ALL;
	for (uint64_t seed = 1; seed <= 2 * SCHEDULES; seed++) {
		struct schedule *s = schedule_new(seed, (enum schedule_kind)(seed % 5));
		struct synth *m;
		struct trace *t;
		char *script;

		schedule_sample(s);
		script = schedule_script(s);
		m = script_made(script);
		t = synth_open(m);
		rows_are_lines(t, &o);
		trace_close(t);
		synth_free(m);
		free(script);
		schedule_free(s);
	}
}

static void rows_are_folded_lines_of_recorded_traces(void **state)
{
	(void)state;
	on_recorded(table_is_folded_whatever_the_options, NULL);
}

/* More waits than a slice holds, one of them longer than a slice; stacks change over time. */
static struct synth *many_slices(void)
{
	struct synth *m = synth_new();
	uint64_t ns = 1000;
	char wake[32];

	synth_thread(m, 7, "seven");
	synth_thread(m, 8, "eight");
	synth_thread(m, 9, "nine");
	synth_switch(m, 1, ns, 9, 'S', 0, "long;wait");
	synth_switch(m, 0, ns, 0, 'R', 7, "");
	for (int i = 0; i < 50000; i++) {
		snprintf(wake, sizeof(wake), "wake;phase_%d", i / 1000);
		synth_waking(m, 0, ns + 100, 7, 8, i % 3 ? "wake;a" : wake);
		synth_switch(m, 0, ns + 200, 7, 'S', 8, "sleep;seven_does");
		synth_waking(m, 0, ns + 300, 8, 7, "wake;c");
		synth_switch(m, 0, ns + 400, 8, 'S', 7, i % 7 ? "sleep;eight_does" : "other");
		ns += 500;
	}
	synth_waking(m, 0, ns + 100, 7, 9, "wake;a");
	synth_switch(m, 1, ns + 200, 0, 'R', 9, "");
	synth_end(m, ns + 1000);
	return m;
}

static void rows_are_folded_lines_of_many_slices(void **state)
{
	struct synth *m = many_slices();
	struct trace *t = synth_open(m);
	struct options o;

	(void)state;
	options_init(&o);
	o.unit = UNIT_NS;
	table_is_folded(t, &o);
	trace_close(t);
	synth_free(m);
}

/* All rows with their frames by number, and the frames. To be freed. */
static char *numbered(const struct timelines *tl, const struct options *o)
{
	struct fold *fold;
	struct chain_rows *rows;
	char *text = NULL;
	size_t len, n;
	FILE *out = open_memstream(&text, &len);

	fold_new(&fold, tl, o, FOLD_BY_LINE);
	rows = fold_rows(fold);
	for (size_t i = 0; i < rows->n; i++) {
		const uint32_t *frames = chain_row_frames(rows, &rows->at[i], &n);

		while (n-- > 0)
			fprintf(out, "%u ", frames[n]);
		fprintf(out, "%llu\n", (unsigned long long)rows->at[i].ns);
	}
	for (uint32_t i = 1; i < chain_rows_frames_end(rows); i++)
		fprintf(out, "%s\n", chain_rows_frame(rows, i).text);
	fclose(out);
	fold_free(fold);
	return text;
}

/* Needs a second CPU to tell anything. */
static void rows_do_not_depend_on_the_number_of_cpus(void **state)
{
	struct synth *m = many_slices();
	struct trace *t = synth_open(m);
	struct timelines *tl;
	struct options o;
	cpu_set_t all, one;
	char *text;
	size_t cpu = 0;

	(void)state;
	options_init(&o);
	assert_int_equal(timelines_new(&tl, t), 0);
	sleep_ends_settle(tl);
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	text = numbered(tl, &o);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
	for (int i = 0; i < 5; i++)
		expect_text(numbered(tl, &o), text);
	free(text);
	timelines_free(tl);
	trace_close(t);
	synth_free(m);
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
	struct synth *m = script_made(script);
	struct trace *t = synth_open(m);
	struct timelines *tl;
	struct fold *fold;
	struct chain_rows *rows;
	struct options o;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	options_init(&o);
	assert_int_equal(timelines_new(&tl, t), 0);
	sleep_ends_settle(tl);
	fold_new(&fold, tl, &o, FOLD_BY_LINE);
	rows = fold_rows(fold);
	for (size_t i = 0; i < rows->n; i++) {
		const struct chain_row *row = &rows->at[i];
		struct thread_group g = interned_stacks_thread_group(rows->stacks, row->group);
		char *chain = joined(rows, row);

		assert_true(!i || row->group >= row[-1].group);
		fprintf(out, "%s of %s %u: %s %llu ns, %llu\n", trace_string(t, g.name),
			trace_string(t, g.process), g.pid, chain, (unsigned long long)row->ns,
			(unsigned long long)row->waits);
		free(chain);
	}
	fclose(out);
	expect_text(text, "A of A 101: A;a;[not woken] 200000 ns, 1\n"
			  "A of A 101: A;b;[not woken] 80000 ns, 1\n"
			  "B of A 101: B;b;[unknown] 100000 ns, 1\n"
			  "C of A 103: C;c;[unknown] 120000 ns, 1\n"
			  "A of A 103: A;c;[not woken] 60000 ns, 1\n");
	fold_free(fold);
	timelines_free(tl);
	trace_close(t);
	synth_free(m);
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
	struct synth *m = script_made(script);
	struct trace *t = synth_open(m);
	struct timelines *tl;
	struct fold *fold;
	struct chain_rows *rows;
	struct options o;
	uint64_t waits = 0;
	char *text;

	(void)state;
	options_init(&o);
	o.top = 2;
	o.unit = UNIT_NS;
	assert_int_equal(timelines_new(&tl, t), 0);
	sleep_ends_settle(tl);
	fold_new(&fold, tl, &o, FOLD_BY_LINE);
	rows = fold_rows(fold);
	text = as_folded(rows);
	expect_text(text, "A;a;[not woken] 450000\n"
			  "C;c;[not woken] 150000\n"
			  "[other] 450000\n");
	expect_text(trace_folded(t, &o), "A;a;[not woken] 450000\n"
					 "C;c;[not woken] 150000\n"
					 "[other] 450000\n");
	assert_int_equal(fold_summary(fold)->waits, 5);
	for (size_t i = 0; i < rows->n; i++)
		waits += rows->at[i].waits;
	assert_int_equal(waits, 5);
	fold_free(fold);
	timelines_free(tl);
	trace_close(t);
	synth_free(m);
}

/* Two processes whose threads have one name: one folded line, two rows. */
static void top_counts_folded_lines(void **state)
{
	static const char script[] = "thread A S a\n"
				     "thread B S b\n"
				     "thread C S c\n"
				     "100 c0 A renames-to same\n"
				     "100 c0 B renames-to same\n"
				     "200 c1 - R > D\n"
				     "250 c1 D wakes A w\n"
				     "250 c0 - R > A\n"
				     "300 c0 A S > - x\n"
				     "350 c1 D wakes B w\n"
				     "350 c0 - R > B\n"
				     "400 c0 B S > - x\n"
				     "end 450\n";
	struct synth *m = script_made(script);
	struct trace *t = synth_open(m);
	struct timelines *tl;
	struct fold *fold;
	struct options o;

	(void)state;
	options_init(&o);
	o.unit = UNIT_NS;
	assert_int_equal(timelines_new(&tl, t), 0);
	sleep_ends_settle(tl);
	for (o.top = 1; o.top < 6; o.top++) {
		char *lines = trace_folded(t, &o);

		fold_new(&fold, tl, &o, FOLD_BY_LINE);
		expect_text(as_folded(fold_rows(fold)), lines);
		free(lines);
		fold_free(fold);
	}
	timelines_free(tl);
	trace_close(t);
	synth_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_folded_lines_on_random_schedules),
		cmocka_unit_test(rows_are_folded_lines_of_recorded_traces),
		cmocka_unit_test(a_nanosecond_left_over_goes_to_the_same_line),
		cmocka_unit_test(samples_share_out_alike_on_random_schedules),
		cmocka_unit_test(rows_are_folded_lines_of_many_slices),
		cmocka_unit_test(rows_do_not_depend_on_the_number_of_cpus),
		cmocka_unit_test(groups_are_names_in_processes),
		cmocka_unit_test(top_keeps_the_rows_of_most_time),
		cmocka_unit_test(top_counts_folded_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
