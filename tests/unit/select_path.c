// SPDX-License-Identifier: GPL-2.0-or-later
/* Whose path and waits are shown takes no time, however many generations, threads and names there
 * are. */
#include "test.h"

#include <stdlib.h>
#include <time.h>

#include "select/path.h"
#include "select/scope.h"
#include "synth.h"

#define PROCESSES 100000u
#define FIRST 1000u

/* Each lives longer than the one before it, and none but the last ones are a recorded command's. */
static void forks(struct synth *m)
{
	for (uint32_t i = 1; i < PROCESSES; i++) {
		struct event fork = { .kind = CHAINLOG_FORK,
				      .time_ns = i,
				      .tid = FIRST + i - 1,
				      .other = FIRST + i,
				      .tgid = FIRST + i };

		fork.string = encoder_text(synth_encoder(m), "a");
		assert_int_equal(encoder_event(synth_encoder(m), &fork), 0);
	}
	synth_flush(m);
}

static double seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

TEST(of_many_generations_the_one_that_lives_longest_is_found_at_once)
{
	struct synth *m = synth_new();
	struct options o = { .to_ns = UINT64_MAX };
	const char *name = "a";
	struct timelines *tl;
	struct trace *t;
	struct path p;
	double began;

	synth_info(m, &(struct chainlog_info) { .cpus = 1, .command_tgid = FIRST + PROCESSES });
	synth_thread(m, FIRST, "a");
	forks(m);
	synth_end(m, 2 * PROCESSES);
	t = synth_open(m);
	assert_int_equal(timelines_new(&tl, t), 0);
	o.processes.names.paths = &name;
	o.processes.names.n = 1;
	began = seconds();
	path_find(&p, tl, &o);
	print_message("%.2f s\n", seconds() - began);
	assert_true(seconds() - began < 2);
	assert_int_equal(timelines_thread(tl, p.thread)->tid, FIRST);
	assert_int_equal(p.to_ns, 2 * PROCESSES);
	timelines_free(tl);
	trace_close(t);
	synth_free(m);
}

TEST(a_process_with_many_threads_and_names_is_found_at_once)
{
	enum { THREADS = 20000, NAMES = 20000 };
	struct synth *m = synth_new();
	struct options o = { .to_ns = UINT64_MAX };
	const char *name = "none";
	struct timelines *tl;
	struct trace *t;
	double began;
	bool *in;

	synth_info(m, &(struct chainlog_info) { .cpus = 1 });
	for (uint32_t i = 0; i < THREADS; i++) {
		struct encoder_thread thread = { .tid = FIRST + i, .tgid = FIRST, .state = 'R' };

		synth_thread_full(m, &thread);
	}
	for (uint32_t i = 0; i < NAMES; i++) {
		struct event rename = { .kind = CHAINLOG_RENAME, .time_ns = i, .tid = FIRST };

		rename.string = encoder_text(synth_encoder(m), i % 2 ? "a" : "b");
		assert_int_equal(encoder_event(synth_encoder(m), &rename), 0);
	}
	synth_flush(m);
	synth_end(m, NAMES);
	t = synth_open(m);
	assert_int_equal(timelines_new(&tl, t), 0);
	assert_int_equal(timelines_thread(tl, 0)->renames, NAMES);
	o.processes.names.paths = &name;
	o.processes.names.n = 1;
	began = seconds();
	scope_find(&in, tl, &o);
	print_message("%.2f s\n", seconds() - began);
	assert_true(seconds() - began < 2);
	assert_false(in[THREADS - 1]);
	free(in);
	timelines_free(tl);
	trace_close(t);
	synth_free(m);
}
