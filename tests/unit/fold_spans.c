// SPDX-License-Identifier: GPL-2.0-or-later
/* A fold in spans of time has the lines of one fold of all of it, and of one of each span. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/sleep_ends.h"
#include "fold/folded.h"
#include "synth_schedule.h"
#include "synth_script.h"

#define SCHEDULES 200
#define SPANS 5

static char *lines_of(struct fold *f, const struct options *o, int span)
{
	struct text_buf text = { 0 };

	text_puts(&text, "lines:\n");
	if (span < 0)
		fold_put(&text, f, o);
	else
		fold_put_span(&text, f, (size_t)span, o);
	return text.p;
}

static void same(struct fold *spans, int span, const struct timelines *tl, const struct options *o,
		 const char *script)
{
	struct fold *alone;
	char *got, *want;

	fold_new(&alone, tl, o, FOLD_BY_NAME);
	got = lines_of(spans, o, span);
	want = lines_of(alone, o, -1);
	if (strcmp(got, want))
		fail_msg("span %d:\n%s\nalone:\n%s\nin\n%s", span, got, want, script);
	if (span < 0)
		assert_memory_equal(fold_summary(spans), fold_summary(alone),
				    sizeof(*fold_summary(alone)));
	fold_free(alone);
	free(got);
	free(want);
}

/* The window of the options, in spans of which the first and the last are short. */
static void compare(const struct timelines *tl, const struct options *o, const char *script)
{
	uint64_t start = timelines_start_ns(tl), from = start + o->from_ns, bounds[SPANS + 1];
	uint64_t to = o->to_ns == UINT64_MAX ? timelines_end_ns(tl) : start + o->to_ns;
	struct fold *f;

	for (uint32_t i = 0; i < SPANS; i++)
		bounds[i] = from + (i ? (to - from) * (3 * i - 2) / (3 * SPANS - 4) : 0);
	bounds[SPANS] = o->to_ns == UINT64_MAX ? UINT64_MAX : to;
	fold_new_in_spans(&f, tl, o, &(struct fold_spans) { bounds, SPANS });
	same(f, -1, tl, o, script);
	/* How often a link repeats itself, and which name a thread has, is known from all spans. */
	for (int i = 0; i < SPANS && !o->fold_repeats && !(o->parts & PART_RUNNING); i++) {
		struct options of = *o;

		of.from_ns = bounds[i] - start;
		of.to_ns = bounds[i + 1] == UINT64_MAX ? UINT64_MAX : bounds[i + 1] - start;
		same(f, i, tl, &of, script);
	}
	fold_free(f);
}

static void spans_of_random_schedules_are_whole(void **state)
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

		if (seed % 3)
			schedule_sample(s);
		if (seed % 5 == 0)
			schedule_share_name(s);
		script = schedule_script(s);
		m = script_made(script);
		t = synth_open(m);
		assert_int_equal(timelines_new_with_cpus(&tl, t), 0);
		sleep_ends_settle(tl);
		options_init(&o);
		o.unit = UNIT_NS;
		o.no_idle = seed % 2;
		o.who_ran = seed % 7 == 0;
		compare(tl, &o, script);
		o.fold_repeats = seed % 5 == 0;
		o.parts = PART_ALL;
		compare(tl, &o, script);
		o.from_ns = (trace_info(t)->end_ns - trace_info(t)->start_ns) / 4;
		o.to_ns = 3 * o.from_ns;
		o.parts = PART_BLOCKED | PART_PREEMPTED;
		compare(tl, &o, script);
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
		cmocka_unit_test(spans_of_random_schedules_are_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
