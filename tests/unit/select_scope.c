// SPDX-License-Identifier: GPL-2.0-or-later
/* Whose waits are shown: processes by id and name, and trees of processes. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "synth_script.h"

/* B, called make, starts C, which starts D; A and E are others. E has a thread F. */
static const char family[] = "thread F S/E\n"
			     "born C\n"
			     "born D\n"
			     "0   c0 - R > A\n"
			     "0   c1 - R > B\n"
			     "0   c2 - R > E\n"
			     "1   c1 B renames-to make\n"
			     "10  c1 B forks C\n"
			     "11  c1 B new C x\n"
			     "12  c3 - R > C\n"
			     "20  c3 C forks D\n"
			     "21  c3 C new D x\n"
			     "22  c4 - R > D\n"
			     "100 c0 A S > - a\n"
			     "100 c1 B S > - b\n"
			     "100 c3 C S > - c\n"
			     "100 c4 D S > - d\n"
			     "200 c2 E wakes A w\n"
			     "200 c2 E wakes B w\n"
			     "200 c2 E wakes C w\n"
			     "200 c2 E wakes D w\n"
			     "200 c2 E wakes F w\n"
			     "200 c0 - R > A\n"
			     "200 c1 - R > B\n"
			     "200 c3 - R > C\n"
			     "200 c4 - R > D\n"
			     "200 c5 - R > F\n"
			     "end 300\n";

static struct options blocked_only(void)
{
	struct options o = script_options(0);

	o.tids.n = 0;
	o.parts = PART_BLOCKED;
	o.depth = 0;
	o.ended = true;
	return o;
}

static void gives(const struct options *o, const char *expected)
{
	expect_text(script_folded(family, o), expected);
}

static void a_tree_is_a_process_and_all_it_started(void **state)
{
	struct options o = blocked_only();

	(void)state;
	o.trees.ids = (struct id_list) { (uint32_t[]) { 102 }, 1 };
	gives(&o, "C;c;[depth limit] 100\n"
		  "D;d;[depth limit] 100\n"
		  "make;b;[depth limit] 100\n");
	o.trees.ids.ids = (uint32_t[]) { 103 };
	gives(&o, "C;c;[depth limit] 100\n"
		  "D;d;[depth limit] 100\n");
}

static void a_process_has_the_name_of_its_first_thread(void **state)
{
	struct options o = blocked_only();

	(void)state;
	o.processes.names = (struct path_list) { (const char *[]) { "make" }, 1 };
	gives(&o, "make;b;[depth limit] 100\n");
	o.processes.names = (struct path_list) { (const char *[]) { "E" }, 1 };
	gives(&o, "F;[unknown stack];[depth limit] 200\n");
	o.processes.names = (struct path_list) { NULL, 0 };
	o.trees.names = (struct path_list) { (const char *[]) { "make" }, 1 };
	gives(&o, "C;c;[depth limit] 100\n"
		  "D;d;[depth limit] 100\n"
		  "make;b;[depth limit] 100\n");
}

static void processes_and_trees_add_up_and_threads_narrow_down(void **state)
{
	struct options o = blocked_only();

	(void)state;
	o.trees.ids = (struct id_list) { (uint32_t[]) { 103 }, 1 };
	o.processes.ids = (struct id_list) { (uint32_t[]) { 101 }, 1 };
	gives(&o, "A;a;[depth limit] 100\n"
		  "C;c;[depth limit] 100\n"
		  "D;d;[depth limit] 100\n");
	o.tids = (struct id_list) { (uint32_t[]) { 104 }, 1 };
	gives(&o, "D;d;[depth limit] 100\n");
}

static void the_command_of_a_recording(void **state)
{
	struct options o = blocked_only();

	(void)state;
	o.command = 102;
	gives(&o, "C;c;[depth limit] 100\n"
		  "D;d;[depth limit] 100\n"
		  "make;b;[depth limit] 100\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tree_is_a_process_and_all_it_started),
		cmocka_unit_test(a_process_has_the_name_of_its_first_thread),
		cmocka_unit_test(processes_and_trees_add_up_and_threads_narrow_down),
		cmocka_unit_test(the_command_of_a_recording),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
