// SPDX-License-Identifier: GPL-2.0-or-later
/* What the summary says of sleeps that had not ended. */
#include "test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/sleep_ends.h"
#include "common/event_block.h"
#include "diagnostics.h"
#include "synth_script.h"

/* The summary; to be freed. */
static char *print_of(const struct format_input *in)
{
	FILE *own = stderr, *f;
	char *text;
	size_t len;

	f = open_memstream(&text, &len);
	stderr = f;
	print_summary("trace", in);
	stderr = own;
	fclose(f);
	return text;
}

/* The summary of all threads, or of all requests, with sleeps that had not ended. To be freed. */
static char *summary_of(const struct trace *t, bool of_requests)
{
	struct options o = script_options(101);
	struct format_input in = { .trace = t, .options = &o };
	struct timelines *tl;
	char *text;

	o.tids = (struct id_list) { NULL, 0 };
	o.requests = of_requests;
	assert_int_equal(timelines_new(&tl, t), 0);
	sleep_ends_settle(tl);
	in.timelines = tl;
	text = print_of(&in);
	timelines_free(tl);
	return text;
}

static void says(const struct trace *t, const char *line)
{
	char *text = summary_of(t, false);

	if (!strstr(text, line))
		fail_msg("no line\n%s\nin\n%s", line, text);
	assert_null(strstr(text, "deadlock"));
	free(text);
}

static void of_script(const char *script, const char *line)
{
	struct synth *m = script_made(script);
	struct trace *t = synth_open(m);

	says(t, line);
	trace_close(t);
	synth_free(m);
}

static void of_script_not(const char *script, const char *part)
{
	struct synth *m = script_made(script);
	struct trace *t = synth_open(m);
	char *text = summary_of(t, false);

	assert_null(strstr(text, part));
	free(text);
	trace_close(t);
	synth_free(m);
}

/* A plain file lock that is held for longer than the recording, and two mutexes of two threads. */
TEST(who_is_at_a_lock_is_named_and_not_called_a_deadlock)
{
	of_script("thread A S schedule;locks_lock_inode_wait;flock_lock|flock;main\nend 1000\n",
		  "\nat a lock or in state D at the end, 1 thread: -t 101 (A)\n");
	of_script("thread A S futex_wait|__lll_lock_wait;pthread_mutex_lock;f\n"
		  "thread B S futex_wait|__lll_lock_wait;pthread_mutex_lock;g\n"
		  "thread C S futex_wait|pthread_cond_wait;h\n"
		  "end 1000\n",
		  "\nat a lock or in state D at the end, 2 threads: "
		  "-t 101 (A), -t 102 (B)\n");
}

/* Whom a signal ends had not got the lock either, whatever it slept for as it died. */
TEST(who_was_killed_at_a_lock_is_named)
{
#define KILLED                                          \
	"0   c0 - R > B\n"                              \
	"100 c1 A S > - futex_wait|__lll_lock_wait;f\n" \
	"900 c0 B wakes A complete_signal;kill|main\n"  \
	"910 c1 - R > A\n"                              \
	"920 c1 A D > - exit_mm;do_exit;get_signal\n"   \
	"930 c0 B wakes A\n"                            \
	"940 c1 - R > A\n"
	of_script(KILLED "950 c1 A X > - do_exit;get_signal\n"
			 "end 1000\n",
		  "\nat a lock or in state D at the end, 1 thread: -t 101 (A)\n");
	of_script_not(KILLED "950 c1 A X > - do_exit;exit_group\n"
			     "end 1000\n",
		      "had not ended");
#undef KILLED
}

/* Asked for requests, it says nothing of threads: clients wait for answers that came. */
TEST(of_requests_no_thread_is_asleep)
{
	struct synth *m = script_made("thread A S futex_wait|__lll_lock_wait;f\n"
				      "thread S *\n"
				      "0 c0 - R > S\n"
				      "900 c0 S request tcp::80 conn=1 arrived=100 taken=300\n"
				      "end 1000\n");
	struct trace *t = synth_open(m);
	char *text;

	text = summary_of(t, true);
	assert_null(strstr(text, "at the end"));
	if (!strstr(text, "waited for: 100 % tcp\n"))
		fail_msg("%s", text);
	free(text);
	text = summary_of(t, false);
	assert_non_null(strstr(text, "at a lock or in state D at the end"));
	free(text);
	trace_close(t);
	synth_free(m);
}

TEST(what_a_hypervisor_took_is_said_if_it_is_a_thousandth)
{
	/* Of 1000 us of two CPUs. */
	of_script("queues interrupts\n0 c0 - R > A\n900 c0 A S > -\n900 c0 steal 20\nend 1000\n",
		  "\nthe hypervisor took 0.000 s of the CPUs' time, 1.0 %\n");
	of_script_not(
		"queues interrupts\n0 c0 - R > A\n900 c0 A S > -\n900 c0 steal 1.9\nend 1000\n",
		"hypervisor");
}

TEST(what_the_recorder_took_is_said_too)
{
	of_script(
		"0 c0 - R > A\n500 c0 A S > -\n800 c0 recorder 200\n900 c0 recorder 40\nend 1000\n",
		"\nthe recorder took 0.000 s of the CPUs' time, 12.0 %\n");
	of_script_not("0 c0 - R > A\n500 c0 A S > -\n800 c0 recorder 0.9\nend 1000\n", "recorder");
	/* No longer than since its CPU switched: that is what some recorders said of real-time
	 * threads. */
	of_script("0 c0 - R > A\n500 c0 A S > -\n800 c0 recorder 700\n800 c0 - R > B\n"
		  "850 c0 B S > -\n900 c0 recorder 850\n910 c0 recorder 5000\nend 1000\n",
		  "\nthe recorder took 0.000 s of the CPUs' time, 18.0 %\n");
}

/* A sleeps for 800 with stacks, B for 200 without. */
TEST(of_how_much_a_light_recording_has_stacks_is_said)
{
#define SLEEPS                          \
	"0   c0 - R > B\n"              \
	"0   c1 - R > A\n"              \
	"0   c2 - R > C\n"              \
	"100 c1 A S > -\n"              \
	"500 c0 B S > -\n"              \
	"700 c2 C wakes B\n"            \
	"700 c0 - R > B\n"              \
	"900 c2 C wakes A wake|work\n"  \
	"900 c2 A slept-at recv|main\n" \
	"900 c1 - R > A\n"              \
	"end 1000\n"
	of_script("light 500\n" SLEEPS, "\nuser stacks for 80.0 % of the blocked time\n");
	of_script_not(SLEEPS, "stacks for");
#undef SLEEPS
}

TEST(at_most_four_are_named)
{
	of_script("thread A D schedule\nthread B D schedule\nthread C D schedule\n"
		  "thread D D schedule\nthread E D schedule\nend 1000\n",
		  "\nat a lock or in state D at the end, 5 threads: "
		  "-t 101 (A), -t 102 (B), -t 103 (C), -t 104 (D), ...\n");
}

TEST(who_holds_the_lock_is_said_if_it_is_known)
{
	struct event ev = { .time_ns = 100, .kind = EVENT_WAITS_FOR };
	struct encoder_object lock = {
		.class = "futex", .name = "7:0x10", .own = "", .peer = 202, .owner = 0
	};
	struct synth *m = synth_new();
	struct trace *t;

	synth_thread(m, 101, "client");
	synth_thread(m, 202, "janitor");
	synth_switch(m, 0, 100, 101, 'S', 0, "rt_mutex_slowlock");
	ev.awaited.object = encoder_object(synth_encoder(m), &lock);
	assert_int_equal(encoder_event(synth_encoder(m), &ev), 0);
	synth_end(m, 300);
	t = synth_open(m);
	says(t, "-t 101 (client; -t 202 (janitor) holds it)\n");
	trace_close(t);
	synth_free(m);
}

/* client sleeps until worker wakes it; bystander runs all the time. */
static struct synth *with_notes(void)
{
	struct synth *m = synth_new();

	synth_thread(m, 101, "client");
	synth_thread(m, 202, "worker");
	synth_thread(m, 303, "bystander");
	synth_switch(m, 1, 10, 0, 'R', 303, "");
	synth_switch(m, 0, 100, 101, 'S', 202, "schedule;read");
	synth_waking(m, 0, 5000, 202, 101, "wake_up;write");
	synth_switch(m, 0, 5010, 202, 'S', 101, "schedule;accept");
	for (uint32_t tgid = 101; tgid <= 404; tgid += 101)
		assert_int_equal(encoder_process_note(synth_encoder(m), tgid, "java",
						      "frames are missing", "-XX"),
				 0);
	synth_end(m, 6000);
	return m;
}

/* What stacks of other processes lack says nothing about the table of causes: info has it. */
TEST(causes_have_notes_on_whom_they_tell_of)
{
	struct synth *m = with_notes();
	struct trace *t = synth_open(m);
	struct options o = script_options(101);
	struct format_totals totals = { .known = false };
	struct format_input in = { .trace = t, .options = &o, .totals = &totals };
	FILE *null = fopen("/dev/null", "w");
	struct timelines *tl;
	char *text;

	o.tids = (struct id_list) { NULL, 0 };
	assert_non_null(null);
	assert_int_equal(timelines_new_with_cpus(&tl, t), 0);
	sleep_ends_settle(tl);
	in.timelines = tl;
	text = print_of(&in);
	assert_non_null(strstr(text, "java/101, java/202, java/303 and 1 more: frames are missing: "
				     "-XX\n"));
	free(text);
	assert_int_equal(format_causes.write(&in, null), 0);
	text = print_of(&in);
	if (!strstr(text, "\njava/101, java/202: frames are missing: -XX\n"))
		fail_msg("%s", text);
	free(text);
	word_list_free(&totals.told);
	fclose(null);
	timelines_free(tl);
	trace_close(t);
	synth_free(m);
}

/* On a screen no line is wider than it is. */
TEST(lines_are_cut_to_the_screen)
{
	struct synth *m =
		script_made("thread A D schedule\nthread B D schedule\nthread C D schedule\n"
			    "thread D D schedule\nthread E D schedule\nend 1000\n");
	struct trace *t = synth_open(m);
	struct options o = script_options(101);
	struct format_input in = { .trace = t, .options = &o };
	struct timelines *tl;
	char *text;

	o.tids = (struct id_list) { NULL, 0 };
	o.columns = 60;
	assert_int_equal(timelines_new(&tl, t), 0);
	sleep_ends_settle(tl);
	in.timelines = tl;
	text = print_of(&in);
	if (!strstr(text, "\nat a lock or in state D at the end, 5 threads: -t 101 (A)...\n"))
		fail_msg("%s", text);
	free(text);
	timelines_free(tl);
	trace_close(t);
	synth_free(m);
}

TEST(who_waits_for_work_is_not_named)
{
	of_script_not("thread A S futex_wait|pthread_cond_wait;h\nend 1000\n", "at a lock");
}
