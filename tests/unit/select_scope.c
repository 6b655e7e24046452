// SPDX-License-Identifier: GPL-2.0-or-later
/* Whose waits are shown: processes by id and name, and trees of processes. */
#include "test.h"

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

TEST(a_tree_is_a_process_and_all_it_started)
{
	struct options o = blocked_only();

	o.trees.ids = (struct id_list) { (uint32_t[]) { 102 }, 1 };
	gives(&o, "C;c;[depth limit] 100\n"
		  "D;d;[depth limit] 100\n"
		  "make;b;[depth limit] 100\n");
	o.trees.ids.ids = (uint32_t[]) { 103 };
	gives(&o, "C;c;[depth limit] 100\n"
		  "D;d;[depth limit] 100\n");
}

TEST(a_process_has_the_name_of_its_first_thread)
{
	struct options o = blocked_only();

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

TEST(processes_and_trees_add_up_and_threads_narrow_down)
{
	struct options o = blocked_only();

	o.trees.ids = (struct id_list) { (uint32_t[]) { 103 }, 1 };
	o.processes.ids = (struct id_list) { (uint32_t[]) { 101 }, 1 };
	gives(&o, "A;a;[depth limit] 100\n"
		  "C;c;[depth limit] 100\n"
		  "D;d;[depth limit] 100\n");
	o.tids = (struct id_list) { (uint32_t[]) { 104 }, 1 };
	gives(&o, "D;d;[depth limit] 100\n");
}

TEST(the_command_of_a_recording)
{
	struct options o = blocked_only();

	o.command = 102;
	gives(&o, "C;c;[depth limit] 100\n"
		  "D;d;[depth limit] 100\n"
		  "make;b;[depth limit] 100\n");
}

/*
 * A and B are process 1 of two PID namespaces; C knows itself as 999, which no process of the
 * machine is called.
 */
TEST(processes_of_containers_have_ids_of_their_own)
{
	struct options o = blocked_only();
	struct synth *m = synth_new();
	struct trace *t;
	char why[100];

	for (uint32_t i = 0; i < 3; i++) {
		const char *const names[] = { "A", "B", "C" };
		const char *const paths[] = { "/docker/a", "/docker/b", "/docker/c" };

		synth_thread_full(m, &(struct encoder_thread) {
					     .tid = 101 + i,
					     .tgid = 101 + i,
					     .state = 'S',
					     .name = encoder_text(synth_encoder(m), names[i]),
					     .group = synth_group_object(m, paths[i], 1 + i),
					     .own_id = i < 2 ? 1 : 999 });
	}
	synth_thread_full(
		m, &(struct encoder_thread) { .tid = 1,
					      .tgid = 1,
					      .state = 'S',
					      .name = encoder_text(synth_encoder(m), "init"),
					      .group = synth_group_object(m, "/init.scope", 9) });
	synth_end(m, 100000);
	t = synth_open(m);
	o.tids = (struct id_list) { NULL, 0 };
	o.ended = false;
	o.not_woken = true;
	o.processes.ids = (struct id_list) { (uint32_t[]) { 999 }, 1 };
	expect_text(trace_folded(t, &o), "C;[unknown stack];[not woken] 100\n");
	/* The machine's own process, unless a control group says whose is meant. */
	o.processes.ids.ids = (uint32_t[]) { 1 };
	expect_text(trace_folded(t, &o), "init;[unknown stack];[not woken] 100\n");
	assert_int_equal(regex_list_add(&o.groups, "docker/b", why, sizeof(why)), 0);
	expect_text(trace_folded(t, &o), "B;[unknown stack];[not woken] 100\n");
	o.processes.ids = (struct id_list) { NULL, 0 };
	options_free(&o);
	trace_close(t);
	synth_free(m);
}
