// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples of running threads (chain-semantics, section 8): above [running], and as [on-CPU]. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/sums.h"
#include "synth_schedule.h"
#include "synth_script.h"

static char *folded_of(const char *script, uint32_t tid, unsigned int parts)
{
	struct options o = script_options(tid);

	o.unit = UNIT_NS;
	if (parts)
		o.parts = parts;
	return script_folded(script, &o);
}

/* ---- worked examples ------------------------------------------------------------------------ */

/* A waits 900 us for B, which is sampled three times in that time and once before. */
static const char work[] = "thread A S\n"
			   "0   c0 - R > B\n"
			   "0   c1 - R > A\n"
			   "50  c0 B ran |early;main\n"
			   "100 c1 A S > - sleep|ask\n"
			   "200 c0 B ran |sort;main\n"
			   "300 c0 B ran copy;read|fetch;main\n"
			   "400 c0 B ran |sort;main\n"
			   "1000 c0 B wakes A wake|answer\n"
			   "1000 c1 - R > A\n"
			   "1100 c1 A S > - sleep|ask\n"
			   "end 2000\n";

static void the_time_above_running_is_split_over_its_samples(void **state)
{
	(void)state;
	expect_text(folded_of(work, 101, 0),
		    "A;ask;-;sleep;--;wake;-;answer;B;[running];main;fetch;-;read;copy 300000\n"
		    "A;ask;-;sleep;--;wake;-;answer;B;[running];main;sort 600000\n"
		    "A;ask;-;sleep;[not woken] 900000\n");
}

static void own_running_time_is_one_more_part(void **state)
{
	(void)state;
	/* Of 2 ms that B lived, it ran all: the end of the trace ends that, too. */
	expect_text(folded_of(work, 102, PART_RUNNING), "B;[on-CPU];main;early 500000\n"
							"B;[on-CPU];main;fetch;-;read;copy 500000\n"
							"B;[on-CPU];main;sort 1000000\n");
	expect_text(folded_of(work, 101, PART_ALL),
		    "A;[on-CPU] 200000\n"
		    "A;ask;-;sleep;--;wake;-;answer;B;[running];main;fetch;-;read;copy 300000\n"
		    "A;ask;-;sleep;--;wake;-;answer;B;[running];main;sort 600000\n"
		    "A;ask;-;sleep;[not woken] 900000\n");
}

/* 10 ns over samples of 1, 1, 1: the first in order gets the one that is left. */
static void the_rest_goes_to_the_largest_remainder(void **state)
{
	uint64_t shares[4];

	(void)state;
	share_out(10, (uint64_t[]) { 1, 1, 1 }, 3, shares);
	assert_int_equal(shares[0], 4);
	assert_int_equal(shares[1], 3);
	assert_int_equal(shares[2], 3);
	share_out(11, (uint64_t[]) { 1, 4, 1 }, 3, shares);
	assert_int_equal(shares[0], 2);
	assert_int_equal(shares[1], 7);
	assert_int_equal(shares[2], 2);
	/* Products beyond 64 bits. */
	share_out(UINT64_MAX, (uint64_t[]) { 1u << 31, 1u << 31 }, 2, shares);
	assert_int_equal(shares[0], UINT64_MAX / 2 + 1);
	assert_int_equal(shares[1], UINT64_MAX / 2);
}

/* A sample counts once for each wait that covers it: here for A's and for C's. */
static void a_sample_counts_for_each_wait(void **state)
{
	static const char script[] = "0   c0 - R > B\n"
				     "0   c1 - R > A\n"
				     "0   c2 - R > C\n"
				     "100 c1 A S > - sleep\n"
				     "500 c2 C S > - sleep\n"
				     "300 c0 B ran |first\n"
				     "700 c0 B ran |second\n"
				     "900 c0 B wakes A wake\n"
				     "900 c0 B wakes C wake\n"
				     "900 c1 - R > A\n"
				     "900 c2 - R > C\n"
				     "end 900\n";
	struct options o;

	(void)state;
	expect_text(folded_of(script, 101, 0), "A;sleep;--;wake;B;[running];first 400000\n"
					       "A;sleep;--;wake;B;[running];second 400000\n");
	expect_text(folded_of(script, 103, 0), "C;sleep;--;wake;B;[running];second 400000\n");
	options_init(&o);
	o.unit = UNIT_NS;
	o.top = 1;
	/* What --top leaves out is decided after the time is split. */
	expect_text(script_folded(script, &o), "A;sleep;--;wake;B;[running];first 400000\n"
					       "[other] 800000\n");
}

/* Each view has the stacks of each piece, and its shares are those of the folded lines. */
static void a_wait_for_reading_has_the_stacks_of_its_pieces(void **state)
{
	struct options o = script_options(101);
	char *json, *ran;

	(void)state;
	json = script_formatted(work, &o, "json");
	ran = strstr(json, "\"end\":\"running\"");
	assert_non_null(ran);
	*strstr(ran, "]}\n") = '\0';
	assert_string_equal(
		ran, "\"end\":\"running\",\"ns\":900000,\"ran\":["
		     "{\"samples\":2,\"ran_ns\":600000,"
		     "\"stack\":{\"user\":[\"main\",\"sort\"],\"kernel\":[]}},"
		     "{\"samples\":1,\"ran_ns\":300000,"
		     "\"stack\":{\"user\":[\"main\",\"fetch\"],\"kernel\":[\"read\",\"copy\"]}}]}");
	free(json);
	json = script_formatted(work, &o, "tree");
	assert_non_null(strstr(json, "ran 67 % in sort < main\n"));
	assert_non_null(strstr(json, "ran 33 % in copy < read | fetch < main\n"));
	free(json);
}

static void with_no_ends_there_is_nothing_to_stand_above(void **state)
{
	struct options o = script_options(101);

	(void)state;
	o.unit = UNIT_NS;
	o.no_ends = true;
	expect_text(script_folded(work, &o), "A;ask;-;sleep 900000\n"
					     "A;ask;-;sleep;--;wake;-;answer;B 900000\n");
}

static void kernel_stacks_alone_leave_user_code_without_a_frame(void **state)
{
	struct options o = script_options(101);

	(void)state;
	o.unit = UNIT_NS;
	o.user = false;
	expect_text(script_folded(work, &o), "A;sleep;--;wake;B;[running] 600000\n"
					     "A;sleep;--;wake;B;[running];read;copy 300000\n"
					     "A;sleep;[not woken] 900000\n");
}

/* ---- sums ----------------------------------------------------------------------------------- */

/* Sum of all lines of one thread, all parts. */
static uint64_t sum_of(const struct trace *t, uint32_t tid)
{
	struct options o = script_options(tid);
	uint64_t sum = 0;
	char *text, *line, *rest;

	o.unit = UNIT_NS;
	o.parts = PART_ALL;
	o.not_woken = true;
	rest = text = trace_folded(t, &o);
	while ((line = strsep(&rest, "\n")))
		if (*line)
			sum += strtoull(strrchr(line, ' ') + 1, NULL, 10);
	free(text);
	return sum;
}

static void all_lines_of_a_thread_add_up_to_its_life(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct schedule *s = schedule_new(seed, SCHEDULE_LOSSY);
		struct synth *m;
		struct trace *t;
		struct timelines *tl;
		char *script;

		schedule_sample(s);
		script = schedule_script(s);
		m = script_made(script);
		t = synth_open(m);
		assert_int_equal(timelines_new(&tl, t), 0);
		for (uint32_t tid = 101; tid < 113 && timelines_sampled(tl); tid++) {
			uint64_t life = 0;

			for (uint32_t i = 0; i < timelines_threads(tl); i++) {
				const struct thread *th = timelines_thread(tl, i);

				if (th->tid == tid)
					life += th->end_ns - th->begin_ns;
			}
			assert_int_equal(sum_of(t, tid), life);
		}
		timelines_free(tl);
		trace_close(t);
		synth_free(m);
		free(script);
		schedule_free(s);
	}
}

/* ---- no bias -------------------------------------------------------------------------------- */

#define SCHEDULES 1000
#define SAMPLES 200

static uint64_t seed;

static double draw(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (double)(seed >> 11) / (double)(UINT64_C(1) << 53);
}

static int by_time(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) -
	       (*(const double *)a < *(const double *)b);
}

/*
 * A thread waits for a second for another one, which spends `share` of it in one function, in
 * stretches of many lengths, and sleeps now and then. Returns the share that is shown.
 */
static double shown_share(double share)
{
	struct synth *m = synth_new();
	struct options o = script_options(101);
	double at[SAMPLES], first = 0, all = 0, period = 1000 / (5 + floor(40 * draw()));
	char *text, *line, *rest;
	struct trace *t;

	synth_thread(m, 101, "A");
	synth_thread(m, 102, "B");
	synth_switch(m, 0, 10, 0, 'R', 102, "");
	synth_switch(m, 1, 20, 0, 'R', 101, "");
	synth_switch(m, 1, 1000, 101, 'S', 0, "sleep");
	for (int i = 0; i < SAMPLES; i++)
		at[i] = draw() * 1000;
	qsort(at, SAMPLES, sizeof(at[0]), by_time);
	for (int i = 0; i < SAMPLES; i++)
		synth_ran(m, 0, 1000 + (uint64_t)(at[i] * 1e6), 102, "",
			  fmod(at[i], period) < share * period ? "first" : "second");
	synth_waking(m, 0, 1000001000, 102, 101, "wake");
	synth_switch(m, 1, 1000001000, 0, 'R', 101, "");
	synth_end(m, 1000002000);
	t = synth_open(m);
	o.unit = UNIT_NS;
	rest = text = trace_folded(t, &o);
	while ((line = strsep(&rest, "\n"))) {
		double ns = strstr(line, ";[running];") ? strtod(strrchr(line, ' ') + 1, NULL) : 0;

		all += ns;
		first += strstr(line, ";[running];first ") ? ns : 0;
	}
	free(text);
	trace_close(t);
	synth_free(m);
	assert_true(all == 1e9);
	return first / all;
}

/* Errors in units of the binomial distribution's standard deviation: none too large, mean 0. */
static void shares_have_no_bias(void **state)
{
	double sum = 0, squares = 0, worst = 0;

	(void)state;
	seed = 88172645463325252u;
	for (int i = 0; i < SCHEDULES; i++) {
		double share = 0.1 + 0.8 * draw(), z;

		z = (shown_share(share) - share) / sqrt(share * (1 - share) / SAMPLES);
		sum += z;
		squares += z * z;
		worst = fabs(z) > worst ? fabs(z) : worst;
	}
	/* Of 1000 draws beyond 4.5 standard deviations: less than one in a hundred such tests. */
	assert_true(worst < 4.5);
	assert_true(fabs(sum / SCHEDULES) < 4 / sqrt(SCHEDULES));
	assert_true(squares / SCHEDULES < 1.2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_time_above_running_is_split_over_its_samples),
		cmocka_unit_test(own_running_time_is_one_more_part),
		cmocka_unit_test(the_rest_goes_to_the_largest_remainder),
		cmocka_unit_test(a_sample_counts_for_each_wait),
		cmocka_unit_test(a_wait_for_reading_has_the_stacks_of_its_pieces),
		cmocka_unit_test(with_no_ends_there_is_nothing_to_stand_above),
		cmocka_unit_test(kernel_stacks_alone_leave_user_code_without_a_frame),
		cmocka_unit_test(all_lines_of_a_thread_add_up_to_its_life),
		cmocka_unit_test(shares_have_no_bias),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
