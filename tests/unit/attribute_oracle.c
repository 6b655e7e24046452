// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The engine against a second opinion (oracle.h): byte for byte the same folded lines, on random
 * schedules and on recorded traces. A difference is made as small as possible and printed.
 * ORACLE_TRACES=N tries N schedules of each kind instead of the usual number (make test-random),
 * FIRST_SEED=N begins with that one;
 * ONLY="on_recorded_requests" TRACES="a.bin" compares what is said of a recorded trace's requests.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "synth_many.h"
#include "oracle_script.h"

#define USUAL_TRACES 1000

/*
 * Both results; true if they are the same. To be freed, both. raw is the same trace as t, with all
 * frames: the oracle finds out by itself which of them are shown.
 */
static bool agree(const struct trace *t, const struct trace *raw, struct oracle_asked asked,
		  char **engine, char **oracle)
{
	char *end;
	struct options o = oracle_options(asked);

	*engine = trace_folded(t, &o);
	/* What the recorder says of processes stands below all lines, and is no part of the law. */
	end = strstr(*engine, "[note] ");
	if (end)
		*end = 0;
	*oracle = oracle_folded(raw, &asked);
	return !strcmp(*engine, *oracle);
}

static bool script_agrees(const char *script, struct oracle_asked asked, FILE *differences)
{
	struct synth *m = script_made(script);
	struct trace *t = synth_open(m), *raw = synth_open(m);
	char *engine, *oracle;
	bool same;

	trace_choose_frames(t, false);
	same = agree(t, raw, asked, &engine, &oracle);
	if (!same && differences)
		fprintf(differences, "---- schedule\n%s---- engine\n%s---- oracle\n%s----\n",
			script, engine, oracle);
	free(engine);
	free(oracle);
	trace_close(t);
	trace_close(raw);
	synth_free(m);
	return same;
}

/* Leaves lines out as long as the engines still differ: first many at once, in the end one. */
static void shrink(struct schedule *s, struct oracle_asked asked)
{
	char **all = malloc(s->n * sizeof(*all));

	for (size_t chunk = s->n / 2; chunk; chunk /= 2)
		for (size_t i = 0; i + 1 < s->n;) {
			size_t n = s->n, gone = chunk < n - 1 - i ? chunk : n - 1 - i;
			char *script;

			memcpy(all, s->lines, n * sizeof(*all));
			memmove(&s->lines[i], &s->lines[i + gone], (n - i - gone) * sizeof(*all));
			s->n = n - gone;
			script = schedule_script(s);
			if (script_agrees(script, asked, NULL)) {
				memcpy(s->lines, all, n * sizeof(*all));
				s->n = n;
				i += chunk;
			} else {
				for (size_t k = i; k < i + gone; k++)
					free(all[k]);
			}
			free(script);
		}
	free(all);
}

/* What is added to a schedule. */
enum extra { NOTHING, SAMPLES, CODE, DISKS, TRIES, REQUESTS, LOOPS, GROUPS, NAPS, LIGHT };

static void schedules_agree(enum schedule_kind kind, enum extra extra)
{
	unsigned long n = schedules_wanted("ORACLE_TRACES", USUAL_TRACES);

	for (unsigned long i = 0; i < (extra ? n / 4 : n); i++) {
		unsigned long seed = schedules_first() + i;
		struct schedule *s = schedule_new(seed, kind);
		struct oracle_asked asked = { .depth = (unsigned int)schedule_random(s, 8),
					      .classic = schedule_random(s, 4) == 0,
					      .own = true,
					      /* Schedules have queues. */
					      .who_ran = seed % 2,
					      .plain_ends = seed % 8 == 0,
					      .fold_repeats = seed % 3 == 0,
					      .no_idle = extra == NAPS,
					      /* They change nothing for the threads. */
					      .requests = (extra == REQUESTS || extra == LOOPS) &&
							  seed % 5 };
		char *script;

		if (extra == SAMPLES || extra == CODE)
			schedule_sample(s);
		if (extra == CODE)
			schedule_code(s);
		if (extra == GROUPS) {
			schedule_groups(s, kind == SCHEDULE_LOSSY);
			asked.who_ran = true;
		}
		if (extra == DISKS)
			schedule_disks(s, kind == SCHEDULE_LOSSY);
		if (extra == TRIES)
			schedule_file_tries(s);
		if (extra == LOOPS)
			schedule_loops(s);
		if (extra == NAPS)
			schedule_naps(s);
		if (extra == REQUESTS || extra == LOOPS || (extra == NAPS && seed % 2))
			schedule_requests(s, kind == SCHEDULE_LOSSY);
		if (extra == LOOPS && seed % 2)
			schedule_file_tries(s);
		if (extra == LIGHT && seed % 2)
			schedule_file_tries(s);
		if (extra == LIGHT)
			schedule_light(s);
		if (asked.fold_repeats)
			schedule_share_name(s);
		script = schedule_script(s);

		if (!script_agrees(script, asked, NULL)) {
			shrink(s, asked);
			free(script);
			script = schedule_script(s);
			fprintf(stderr, "seed %lu, depth %u, %s%s%s\n", seed, asked.depth,
				asked.classic ? "classic" : "exact",
				asked.who_ran ? ", who ran" : "",
				asked.fold_repeats ? ", repeats folded" : "");
			fprintf(stderr, "%s", asked.requests ? "of requests\n" : "");
			script_agrees(script, asked, stderr);
			free(script);
			schedule_free(s);
			fail();
		}
		free(script);
		schedule_free(s);
	}
}

static void on_whole_schedules(void **state)
{
	(void)state;
	schedules_agree(SCHEDULE_WHOLE, NOTHING);
}

static void on_lossy_schedules(void **state)
{
	(void)state;
	schedules_agree(SCHEDULE_LOSSY, NOTHING);
}

static void on_damaged_schedules(void **state)
{
	(void)state;
	schedules_agree(SCHEDULE_DAMAGED, NOTHING);
}

static void on_sampled_schedules(void **state)
{
	(void)state;
	schedules_agree(SCHEDULE_WHOLE, SAMPLES);
	schedules_agree(SCHEDULE_LOSSY, SAMPLES);
	schedules_agree(SCHEDULE_DAMAGED, SAMPLES);
}

static void on_schedules_with_interpreted_code(void **state)
{
	(void)state;
	schedules_agree(SCHEDULE_WHOLE, CODE);
	schedules_agree(SCHEDULE_LOSSY, CODE);
}

static void on_schedules_with_disks(void **state)
{
	(void)state;
	schedules_agree(SCHEDULE_WHOLE, DISKS);
	schedules_agree(SCHEDULE_LOSSY, DISKS);
	schedules_agree(SCHEDULE_DAMAGED, DISKS);
}

static void on_schedules_of_tries(void **state)
{
	(void)state;
	schedules_agree(SCHEDULE_WHOLE, TRIES);
	schedules_agree(SCHEDULE_LOSSY, TRIES);
	schedules_agree(SCHEDULE_DAMAGED, TRIES);
}

static void on_schedules_with_requests(void **state)
{
	(void)state;
	schedules_agree(SCHEDULE_WHOLE, REQUESTS);
	schedules_agree(SCHEDULE_LOSSY, REQUESTS);
	schedules_agree(SCHEDULE_DAMAGED, REQUESTS);
}

static void on_schedules_with_event_loops(void **state)
{
	(void)state;
	schedules_agree(SCHEDULE_WHOLE, LOOPS);
	schedules_agree(SCHEDULE_LOSSY, LOOPS);
	schedules_agree(SCHEDULE_DAMAGED, LOOPS);
}

static void on_schedules_with_pauses(void **state)
{
	(void)state;
	schedules_agree(SCHEDULE_WHOLE, NAPS);
	schedules_agree(SCHEDULE_LOSSY, NAPS);
	schedules_agree(SCHEDULE_DAMAGED, NAPS);
}

static void on_schedules_recorded_light(void **state)
{
	(void)state;
	schedules_agree(SCHEDULE_WHOLE, LIGHT);
	schedules_agree(SCHEDULE_LOSSY, LIGHT);
	schedules_agree(SCHEDULE_DAMAGED, LIGHT);
}

static void on_schedules_with_control_groups(void **state)
{
	(void)state;
	schedules_agree(SCHEDULE_WHOLE, GROUPS);
	schedules_agree(SCHEDULE_LOSSY, GROUPS);
	schedules_agree(SCHEDULE_DAMAGED, GROUPS);
}

static void recorded_agrees_as(const struct trace *t, const char *name, struct oracle_asked asked)
{
	char *engine, *oracle;

	if (!agree(t, t, asked, &engine, &oracle)) {
		fprintf(stderr, "%s, depth %u, %s%s%s\n", name, asked.depth,
			asked.classic ? "classic" : "exact",
			asked.fold_repeats ? ", repeats folded" : "",
			asked.requests ? ", of requests" : "");
		assert_string_equal(engine, oracle);
	}
	free(engine);
	free(oracle);
}

static void recorded_agrees(const struct trace *t, const char *name, void *arg)
{
	(void)arg;
	/* That a smaller depth is the merging of a greater one, attribute_laws checks. */
	for (unsigned int depth = 1; depth <= 6; depth += 5)
		for (int way = 0; way < 4; way++)
			recorded_agrees_as(t, name,
					   (struct oracle_asked) { .depth = depth,
								   .classic = way & 1,
								   .own = true,
								   .who_ran = true,
								   .fold_repeats = way & 2 });
}

static void recorded_requests_agree(const struct trace *t, const char *name, void *arg)
{
	(void)arg;
	for (int way = 0; way < 2; way++)
		recorded_agrees_as(t, name,
				   (struct oracle_asked) { .depth = 6,
							   .classic = way,
							   .own = true,
							   .who_ran = true,
							   .requests = true });
}

static void on_recorded_traces(void **state)
{
	(void)state;
	on_recorded(recorded_agrees, NULL);
}

static void on_recorded_requests(void **state)
{
	(void)state;
	on_recorded(recorded_requests_agree, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(on_whole_schedules),
		cmocka_unit_test(on_lossy_schedules),
		cmocka_unit_test(on_damaged_schedules),
		cmocka_unit_test(on_sampled_schedules),
		cmocka_unit_test(on_schedules_with_interpreted_code),
		cmocka_unit_test(on_schedules_with_disks),
		cmocka_unit_test(on_schedules_with_requests),
		cmocka_unit_test(on_schedules_of_tries),
		cmocka_unit_test(on_schedules_with_event_loops),
		cmocka_unit_test(on_schedules_with_control_groups),
		cmocka_unit_test(on_schedules_with_pauses),
		cmocka_unit_test(on_schedules_recorded_light),
		cmocka_unit_test(on_recorded_traces),
		cmocka_unit_test(on_recorded_requests),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
