// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How much time interrupts and a hypervisor took (chain-semantics, section 9): made events in,
 * tables out; and on random schedules the second engine's results, and what must hold for all of
 * them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/cpu_holders.h"
#include "oracle.h"
#include "synth_interrupts.h"
#include "synth_many.h"
#include "timeline/stolen_time.h"

#define TRACES 1500

/*
 * B works for A from 0 to 1000, except for 500 to 600, when D runs; A sleeps from 100 to 900.
 * Interrupts take 50 us of B's first stretch, of which A waits for 40, and 30 us of D's.
 */
#define WORKS                           \
	"0    c0 - R > B\n"             \
	"0    c1 - R > A\n"             \
	"100  c1 A S > - recv;main\n"   \
	"500  c0 B R > D\n"             \
	"500  c0 interrupts 50\n"       \
	"600  c0 D S > B\n"             \
	"600  c0 interrupts 30\n"       \
	"900  c0 B wakes A send;work\n" \
	"930  c1 - R > A\n"             \
	"1000 c0 B S > -\n"             \
	"1000 c0 interrupts 4\n"        \
	"1000 c1 A S > -\n"             \
	"end 1000\n"

static struct options all_waits(void)
{
	struct options o = script_options(101);

	o.tids = (struct id_list) { NULL, 0 };
	o.parts = PART_BLOCKED | PART_RUNNABLE | PART_PREEMPTED;
	o.unit = UNIT_NS;
	return o;
}

static void shows(const char *script, const char *format, const char *part)
{
	struct options o = all_waits();
	char *text = script_formatted(script, &o, format);

	if (!strstr(text, part)) {
		fprintf(stderr, "---- no\n%s\n---- in\n%s----\n", part, text);
		fail();
	}
	free(text);
}

/* A column of a thread; "" if there is no such thread. To be freed. */
static char *cell_of(const char *script, const char *heading, const char *name)
{
	struct options o = all_waits();
	char *table = script_formatted(script, &o, "threads"), *rest = table, *line, *end;
	char *cell = strdup(""), found[32], field[32];
	size_t column = 0;

	line = strsep(&rest, "\n");
	end = strstr(line, heading);
	assert_non_null(end);
	column = (size_t)(end - line) + strlen(heading);
	while ((line = strsep(&rest, "\n"))) {
		if (sscanf(line, "%*s %*s %31s", found) != 1 || strcmp(found, name))
			continue;
		line[column] = '\0';
		assert_int_equal(sscanf(strrchr(line, ' '), "%31s", field), 1);
		free(cell);
		cell = strdup(field);
	}
	free(table);
	return cell;
}

static void took(const char *script, const char *heading, const char *name, const char *expected)
{
	char *got = cell_of(script, heading, name);

	assert_string_equal(got, expected);
	free(got);
}

static void a_threads_running_time_has_what_interrupts_took(void **state)
{
	(void)state;
	took("queues interrupts\n" WORKS, "INTERRUPTS", "B", "54000");
	took("queues interrupts\n" WORKS, "INTERRUPTS", "D", "30000");
	took("queues interrupts\n" WORKS, "INTERRUPTS", "A", "0");
}

static void where_it_is_not_known_there_is_none(void **state)
{
	(void)state;
	took("queues\n" WORKS, "INTERRUPTS", "B", "-");
	shows("queues\n" WORKS, "tree", "which ran 700000 ns, was");
	shows("queues\n" WORKS, "json", "\"end\":\"running\",\"ns\":700000}");
}

static void what_a_waker_ran_has_its_part(void **state)
{
	(void)state;
	/* 400 of the 500 us in which 50 were taken, and 300 of the 400 in which 4 were. */
	shows("queues interrupts\n" WORKS, "tree",
	      "which ran 700000 ns (43000 ns of it in interrupts), was");
	shows("queues interrupts\n" WORKS, "json",
	      "\"end\":\"running\",\"ns\":700000,\"interrupts_ns\":43000}");
	shows("queues interrupts\n" WORKS, "csv", ",end_running_interrupts_ns\n");
	shows("queues interrupts\n" WORKS, "csv", ",43000\n");
}

static void they_had_the_cpu_in_tables(void **state)
{
	(void)state;
	shows("queues interrupts\n" WORKS, "tree",
	      "was runnable 100000 ns: 70 % D, 30 % [interrupts]");
	shows("queues interrupts\n" WORKS, "threads", "  70 % D, 30 % [interrupts]\n");
	shows("queues interrupts\n" WORKS, "json",
	      "\"had_cpu\":[{\"name\":\"D\",\"cpu_ns\":70000},"
	      "{\"name\":\"[interrupts]\",\"cpu_ns\":30000}]");
	shows("queues interrupts\n" WORKS, "csv", ",D,70000,[interrupts],30000,");
}

static void in_folded_lines_whom_they_interrupted_had_it(void **state)
{
	struct options o = script_options(102);

	(void)state;
	o.parts = PART_PREEMPTED;
	o.who_ran = true;
	expect_text(script_folded("queues interrupts\n" WORKS, &o),
		    "B;[unknown stack];[preempted];D 100\n");
}

static void what_came_before_a_loss_is_not_said_of_what_came_after(void **state)
{
	(void)state;
	/* Of B's 400 us 100 are left, of which all were taken. */
	took("queues interrupts\n"
	     "0   c0 - R > B\n"
	     "300 c0 lost 400\n"
	     "420 c0 - R > B\n"
	     "500 c0 B S > -\n"
	     "500 c0 interrupts 90\n"
	     "end 600\n",
	     "INTERRUPTS", "B", "80000");
}

static void without_its_switch_it_says_nothing(void **state)
{
	(void)state;
	took("queues interrupts\n"
	     "0   c0 - R > B\n"
	     "500 c0 B S > -\n"
	     "500 c0 interrupts 20\n"
	     "500 c0 interrupts 30\n"
	     "510 c0 interrupts 5\n"
	     "end 600\n",
	     "INTERRUPTS", "B", "20000");
}

/* ---- what a hypervisor takes ---------------------------------------------------------------- */

/* The same, of which a hypervisor takes 100 us of B's first stretch, and 20 us of D's. */
#define STOLEN                          \
	"queues interrupts\n"           \
	"0    c0 - R > B\n"             \
	"0    c1 - R > A\n"             \
	"100  c1 A S > - recv;main\n"   \
	"500  c0 B R > D\n"             \
	"500  c0 interrupts 50\n"       \
	"500  c0 steal 100\n"           \
	"600  c0 D S > B\n"             \
	"600  c0 interrupts 30\n"       \
	"600  c0 steal 20\n"            \
	"900  c0 B wakes A send;work\n" \
	"930  c1 - R > A\n"             \
	"1000 c0 B S > -\n"             \
	"1000 c1 A S > -\n"             \
	"end 1000\n"

static void a_hypervisor_had_the_cpu_too(void **state)
{
	(void)state;
	shows(STOLEN, "tree", "was runnable 100000 ns: 50 % D, 30 % [interrupts], 20 % [steal]");
	shows(STOLEN, "threads", "  50 % D, 30 % [interrupts], 20 % [steal]\n");
	/* B's time and D's. */
	shows(STOLEN, "threads", " INTERRUPTS         STEAL ");
	took(STOLEN, "STEAL", "B", "100000");
	took(STOLEN, "STEAL", "D", "20000");
	took(STOLEN, "STEAL", "A", "0");
}

static void a_machine_from_which_nothing_was_taken_has_no_column(void **state)
{
	struct options o = all_waits();
	char *table = script_formatted("queues interrupts\n" WORKS, &o, "threads");

	(void)state;
	assert_null(strstr(table, "STEAL"));
	free(table);
}

/* More than interrupts leave of a stretch is not taken: 80 of the 100 us, and then 50. */
static void both_take_no_more_than_there_is(void **state)
{
	(void)state;
	shows("queues interrupts\n"
	      "0   c0 - R > B\n"
	      "100 c0 B R > D\n"
	      "200 c0 D S > B\n"
	      "200 c0 interrupts 80\n"
	      "200 c0 steal 50\n"
	      "300 c0 B S > -\n"
	      "end 300\n",
	      "threads", "  80 % [interrupts], 20 % [steal]\n");
}

/* A machine that stood still: a hypervisor had the CPU for as long as it says. */
static void of_a_stall_it_has_its_part(void **state)
{
	static const char busy[] = "0   c0 - R > B\n";
	char script[4096] = "queues interrupts\n";

	(void)state;
	strcat(script, busy);
	for (int i = 1; i < 40; i++)
		snprintf(script + strlen(script), sizeof(script) - strlen(script),
			 "%d c0 B ran work\n", 1000 * i);
	strcat(script, "40000 c0 B R > D\n"
		       "440000 c0 D S > B\n"
		       "440000 c0 steal 300000\n"
		       "440100 c0 B S > -\n"
		       "end 440200\n");
	shows(script, "threads", "  75 % [steal], 25 % [no events]\n");
}

/* ---- on many schedules ---------------------------------------------------------------------- */

struct out {
	struct names *names;
	const struct thread *thread;
	FILE *f;
};

/* As oracle_interrupts() has it, but not sorted. */
static void put_thread(const struct out *o, const struct timelines *tl,
		       const struct cpu_holders *ran, uint32_t thread, uint64_t from_ns,
		       uint64_t to_ns)
{
	const struct thread *th = timelines_thread(tl, thread);
	const struct stolen_time *tables[] = { timelines_interrupts(tl), timelines_steal(tl) };
	struct sums sums = { .n = 0 };
	const struct sum *of;
	size_t n;

	for (int i = 0; i < 2; i++) {
		uint64_t ns = stolen_time_of_thread(tables[i], thread, from_ns, to_ns);

		if (ns)
			fprintf(o->f, "%u %llu %s %llu\n", th->tid,
				(unsigned long long)th->begin_ns, i ? "had" : "ran",
				(unsigned long long)ns);
	}
	for (uint32_t k = 0; k < th->n_waits; k++) {
		const struct wait *w = &th->waits[k];

		if (w->kind != WAIT_UNKNOWN)
			cpu_holders_share(ran, thread, w, clip_ns(w->wake_ns, from_ns, to_ns),
					  clip_ns(w->in_ns, from_ns, to_ns), cpu_holders_add,
					  &sums);
	}
	sums_sort(&sums, o->names, cpu_holder_name);
	of = sums_of(&sums, 0, &n);
	for (size_t i = 0; i < n; i++) {
		uint32_t by = of[i].key;
		const char *who = cpu_holder_quota(by)
					  ? names_text(o->names, cpu_holder_name(o->names, by))
				  : by < HOLDER_NAMES ? trace_string(timelines_trace(tl), by)
						      : cpu_holder_text(by);

		fprintf(o->f, "%u %llu %s %llu\n", th->tid, (unsigned long long)th->begin_ns,
			who ? who : "[unknown]", (unsigned long long)of[i].amount);
	}
	sums_free(&sums);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines of a text, sorted. Frees it; to be freed. */
static char *sorted(char *text)
{
	char **lines = malloc((strlen(text) + 1) * sizeof(*lines)), *rest = text, *line, *all;
	size_t n = 0, len;
	FILE *f = open_memstream(&all, &len);

	while ((line = strsep(&rest, "\n")))
		if (*line)
			lines[n++] = line;
	if (n)
		qsort(lines, n, sizeof(*lines), by_text);
	for (size_t i = 0; i < n; i++)
		fprintf(f, "%s\n", lines[i]);
	fclose(f);
	free(lines);
	free(text);
	return all;
}

static char *engine_interrupts(const struct timelines *tl, uint64_t from_ns, uint64_t to_ns)
{
	struct options o = all_waits();
	struct out out = { .names = NULL };
	struct cpu_holders *ran;
	char *text;
	size_t len;

	names_new(&out.names, tl, &o);
	out.f = open_memstream(&text, &len);
	cpu_holders_new(&ran, tl, true);
	for (uint32_t i = 0; i < timelines_threads(tl); i++)
		put_thread(&out, tl, ran, i, from_ns, to_ns);
	fclose(out.f);
	cpu_holders_free(ran);
	names_free(out.names);
	return sorted(text);
}

static void engines_agree(const struct trace *t, const struct timelines *tl, const char *script)
{
	uint64_t end = timelines_end_ns(tl), from = 0, len = end - timelines_start_ns(tl);

	/* All of it, and a window that cuts stretches. */
	for (int i = 0; i < 2; i++) {
		char *ours = engine_interrupts(tl, from, end);
		char *theirs = sorted(oracle_interrupts(t, from, end));

		if (strcmp(ours, theirs))
			fprintf(stderr, "%s\n[%llu, %llu) in ns\n", script,
				(unsigned long long)from, (unsigned long long)end);
		expect_text(ours, theirs);
		free(theirs);
		from = end - len / 3 * 2;
		end -= len / 4;
	}
}

/* Parts add up, and nothing is longer than the time that it is of. */
static void laws_of(const struct timelines *tl, const struct stolen_time *i)
{
	uint64_t start = timelines_start_ns(tl), end = timelines_end_ns(tl);
	uint64_t step = (end - start) / 700 + 1;

	for (uint32_t k = 0; k < timelines_threads(tl); k++) {
		const struct thread *th = timelines_thread(tl, k);
		uint64_t of_waits = 0, in_steps = 0, all = stolen_time_of_thread(i, k, 0, end);

		for (uint64_t at = start; at < end; at += step) {
			uint64_t to = at + step < end ? at + step : end;

			in_steps += stolen_time_of_thread(i, k, at, to);
			assert_true(stolen_time_of_thread(i, k, at, to) <= to - at);
		}
		for (uint32_t w = 0; w < th->n_waits; w++)
			of_waits += stolen_time_of_thread(i, k, th->waits[w].out_ns,
							  th->waits[w].in_ns);
		assert_int_equal(in_steps, all);
		assert_int_equal(of_waits, 0);
		assert_true(all <= thread_sums(th, 0, end).running_ns);
	}
}

static void laws_hold(const struct timelines *tl)
{
	laws_of(tl, timelines_interrupts(tl));
	laws_of(tl, timelines_steal(tl));
}

static void interrupts_on(enum schedule_kind kind, bool agree)
{
	bool stolen = false;

	for (uint64_t seed = 1; seed <= TRACES; seed++) {
		struct schedule *s = schedule_new(seed, kind);
		struct timelines *tl;
		struct synth *m;
		struct trace *t;
		char *script;

		schedule_interrupts(s);
		script = schedule_script(s);
		m = script_made(script);
		t = synth_open(m);
		assert_int_equal(timelines_new_with_cpus(&tl, t), 0);
		assert_non_null(timelines_interrupts(tl));
		stolen |= timelines_steal(tl) != NULL;
		if (agree)
			engines_agree(t, tl, script);
		laws_hold(tl);
		timelines_free(tl);
		trace_close(t);
		synth_free(m);
		free(script);
		schedule_free(s);
	}
	assert_true(stolen);
}

static void on_whole_schedules(void **state)
{
	(void)state;
	interrupts_on(SCHEDULE_WHOLE, true);
}

static void on_lossy_schedules(void **state)
{
	(void)state;
	interrupts_on(SCHEDULE_LOSSY, true);
}

/* Nothing says that events are missing: the engines may differ, the laws hold. */
static void on_damaged_schedules(void **state)
{
	(void)state;
	interrupts_on(SCHEDULE_DAMAGED, false);
}

static void recorded_agrees(const struct trace *t, const char *name, void *any)
{
	struct timelines *tl;

	assert_int_equal(timelines_new_with_cpus(&tl, t), 0);
	if (timelines_interrupts(tl)) {
		engines_agree(t, tl, name);
		laws_hold(tl);
		*(bool *)any = true;
	}
	timelines_free(tl);
}

static void on_recorded_traces(void **state)
{
	bool any = false;

	(void)state;
	on_recorded(recorded_agrees, &any);
	assert_true(any);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_threads_running_time_has_what_interrupts_took),
		cmocka_unit_test(where_it_is_not_known_there_is_none),
		cmocka_unit_test(what_a_waker_ran_has_its_part),
		cmocka_unit_test(they_had_the_cpu_in_tables),
		cmocka_unit_test(in_folded_lines_whom_they_interrupted_had_it),
		cmocka_unit_test(what_came_before_a_loss_is_not_said_of_what_came_after),
		cmocka_unit_test(without_its_switch_it_says_nothing),
		cmocka_unit_test(a_hypervisor_had_the_cpu_too),
		cmocka_unit_test(a_machine_from_which_nothing_was_taken_has_no_column),
		cmocka_unit_test(both_take_no_more_than_there_is),
		cmocka_unit_test(of_a_stall_it_has_its_part),
		cmocka_unit_test(on_whole_schedules),
		cmocka_unit_test(on_lossy_schedules),
		cmocka_unit_test(on_damaged_schedules),
		cmocka_unit_test(on_recorded_traces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
