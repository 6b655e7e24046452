// SPDX-License-Identifier: GPL-2.0-or-later
#include "made_many.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <glob.h>
#include <stdlib.h>

void on_schedule(uint64_t seed, enum schedule_kind kind, trace_checker check, void *arg)
{
	struct schedule *s = schedule_new(seed, kind);
	char *script = schedule_script(s);
	struct made *m = script_made(script);
	struct trace *t = made_open(m);

	check(t, script, arg);
	trace_close(t);
	made_free(m);
	free(script);
	schedule_free(s);
}

void on_recorded(trace_checker check, void *arg)
{
	const char *pattern = getenv("TRACES");
	glob_t found;

	if (glob(pattern ? pattern : "tests/data/*.bin", 0, NULL, &found)) {
		print_message("no recorded traces in tests/data\n");
		skip();
	}
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct trace *t;

		assert_int_equal(trace_open(&t, found.gl_pathv[i]), 0);
		check(t, found.gl_pathv[i], arg);
		trace_close(t);
	}
	globfree(&found);
}
