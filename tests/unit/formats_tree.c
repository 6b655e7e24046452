// SPDX-License-Identifier: GPL-2.0-or-later
/* --format=tree: what is said of each link. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "synth_script.h"

static void gives(const char *script, const struct options *o, const char *expected)
{
	expect_text(script_formatted(script, o, "tree"), expected);
}

static void a_waker_has_the_name_it_had_when_it_woke(void **state)
{
	struct options o = script_options(101);

	(void)state;
	/* C is called old when it wakes B, and new when B wakes A. */
	gives("0   c0 - R > A\n"
	      "0   c1 - R > B\n"
	      "0   c2 - R > C\n"
	      "10  c2 C renames-to old\n"
	      "100 c0 A S > - recv\n"
	      "300 c1 B S > - lock\n"
	      "700 c2 C wakes B unlock\n"
	      "700 c1 - R > B\n"
	      "800 c2 C renames-to new\n"
	      "900 c1 B wakes A send\n"
	      "900 c0 - R > A\n"
	      "end 1000\n",
	      &o,
	      "A (101)\n"
	      "  +0.000100000 s  slept 800.000 us (S)\n"
	      "    in recv\n"
	      "    woken by B (102), which ran 400.000 us, slept 400.000 us\n"
	      "      in send\n"
	      "      woken by old (103), which ran 400.000 us\n"
	      "        in unlock\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_waker_has_the_name_it_had_when_it_woke),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
