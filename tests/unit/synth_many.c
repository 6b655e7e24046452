// SPDX-License-Identifier: GPL-2.0-or-later
#include "recording.h"
#include "synth_many.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <glob.h>
#include <stdlib.h>

/* make_more: what is to be added to the schedule, or NULL. */
static void check_schedule(uint64_t seed, enum schedule_kind kind,
			   void (*make_more)(struct schedule *s), trace_checker check, void *arg)
{
	struct schedule *s = schedule_new(seed, kind);
	struct synth *m;
	struct trace *t;
	char *script;

	if (seed % 2)
		schedule_sample(s);
	if (make_more)
		make_more(s);
	script = schedule_script(s);
	m = script_made(script);
	t = synth_open(m);
	check(t, script, arg);
	trace_close(t);
	synth_free(m);
	free(script);
	schedule_free(s);
}

void on_schedule(uint64_t seed, enum schedule_kind kind, trace_checker check, void *arg)
{
	check_schedule(seed, kind, NULL, check, arg);
}

unsigned long schedules_first(void)
{
	const char *wanted = getenv("FIRST_SEED");

	return wanted ? strtoul(wanted, NULL, 10) : 1;
}

unsigned long schedules_wanted(const char *variable, unsigned long usual)
{
	const char *wanted = getenv(variable);

	if (wanted)
		return strtoul(wanted, NULL, 10);
	return getenv("ALL") ? usual : usual / 4;
}

unsigned long schedules_to_try(void)
{
	return schedules_wanted("LAWS_TRACES", 500);
}

void on_schedules(enum schedule_kind kind, trace_checker check)
{
	for (unsigned long n = 0; n < schedules_to_try(); n++)
		on_schedule(schedules_first() + n, kind, check, NULL);
}

void on_schedules_with_tries(enum schedule_kind kind, trace_checker check)
{
	for (unsigned long n = 0; n < schedules_to_try() / 4; n++)
		check_schedule(schedules_first() + n, kind, schedule_file_tries, check, NULL);
}

void on_light_schedules(enum schedule_kind kind, trace_checker check)
{
	for (unsigned long n = 0; n < schedules_to_try(); n++)
		check_schedule(schedules_first() + n, kind, schedule_light, check, NULL);
}

static void on_files(const char *pattern, trace_checker check, void *arg)
{
	glob_t found;

	if (glob(pattern, 0, NULL, &found)) {
		print_message("no recorded traces: %s\n", pattern);
		skip();
	}
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct recording r;

		assert_int_equal(recording_open(&r, found.gl_pathv[i], true, NULL), 0);
		check(r.trace, found.gl_pathv[i], arg);
		recording_close(&r);
	}
	globfree(&found);
}

void on_recorded(trace_checker check, void *arg)
{
	const char *pattern = getenv("TRACES");

	on_files(pattern ? pattern : "tests/data/*.bin", check, arg);
}

void on_recorded_services(trace_checker check, void *arg)
{
	on_files("tests/data/services/*.bin", check, arg);
}
