// SPDX-License-Identifier: GPL-2.0-or-later
/* Folded lines: how they are written, and which waits are in them (chain-semantics, section 5). */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fold/folded.h"
#include "fold/process_lines.h"
#include "synth_script.h"

static void folds(const char *script, const struct options *o, const char *expected)
{
	expect_text(script_folded(script, o), expected);
}

static struct regex_list regex(regex_t *r, const char *pattern)
{
	assert_int_equal(regcomp(r, pattern, REG_EXTENDED | REG_NOSUB), 0);
	return (struct regex_list) { .regex = r, .n = 1 };
}

/* A waits for B, which waits for C; all have user stacks. */
static const char chain[] = "0   c0 - R > B\n"
			    "0   c1 - R > A\n"
			    "0   c2 - R > C\n"
			    "100 c1 A S > - ksleep;ksys|usleep;umain\n"
			    "300 c0 B D > - klock|ulock\n"
			    "700 c2 C wakes B kunlock|uunlock\n"
			    "700 c0 - R > B\n"
			    "900 c0 B wakes A kwake;ksend|usend\n"
			    "930 c1 - R > A\n"
			    "950 c1 A R > - kpre|upre\n"
			    "970 c1 - R > A\n"
			    "end 1000\n";

/* ---- how a line is written ------------------------------------------------------------------ */

static void both_parts_of_a_stack_with_a_delimiter(void **state)
{
	struct options o = script_options(101);

	(void)state;
	folds(chain, &o,
	      "A;umain;usleep;-;ksys;ksleep;--;kwake;ksend;-;usend;B;--;kunlock;-;uunlock;C;"
	      "[running] 400\n"
	      "A;umain;usleep;-;ksys;ksleep;--;kwake;ksend;-;usend;B;[running] 400\n"
	      "A;umain;usleep;-;ksys;ksleep;[runnable] 30\n");
}

static void without_ends(void **state)
{
	struct options o = script_options(101);

	(void)state;
	o.no_ends = true;
	folds(chain, &o,
	      "A;umain;usleep;-;ksys;ksleep 30\n"
	      "A;umain;usleep;-;ksys;ksleep;--;kwake;ksend;-;usend;B 400\n"
	      "A;umain;usleep;-;ksys;ksleep;--;kwake;ksend;-;usend;B;--;kunlock;-;uunlock;C "
	      "400\n");
}

static void without_delimiters(void **state)
{
	struct options o = script_options(101);

	(void)state;
	o.no_delim = true;
	folds(chain, &o,
	      "A;umain;usleep;ksys;ksleep;[runnable] 30\n"
	      "A;umain;usleep;ksys;ksleep;kwake;ksend;usend;B;[running] 400\n"
	      "A;umain;usleep;ksys;ksleep;kwake;ksend;usend;B;kunlock;uunlock;C;[running] 400\n");
}

static void kernel_or_user_frames_only(void **state)
{
	struct options o = script_options(101);

	(void)state;
	o.user = false;
	folds(chain, &o,
	      "A;ksys;ksleep;--;kwake;ksend;B;--;kunlock;C;[running] 400\n"
	      "A;ksys;ksleep;--;kwake;ksend;B;[running] 400\n"
	      "A;ksys;ksleep;[runnable] 30\n");
	o.user = true;
	o.kernel = false;
	folds(chain, &o,
	      "A;umain;usleep;--;usend;B;--;uunlock;C;[running] 400\n"
	      "A;umain;usleep;--;usend;B;[running] 400\n"
	      "A;umain;usleep;[runnable] 30\n");
}

static void blocked_stacks_of_wakers(void **state)
{
	struct options o = script_options(101);

	(void)state;
	o.blocked_stacks = true;
	folds(chain, &o,
	      "A;umain;usleep;-;ksys;ksleep;--;kwake;ksend;-;usend;B;-;ulock;-;klock;--;kunlock;-;"
	      "uunlock;C;[running] 400\n"
	      "A;umain;usleep;-;ksys;ksleep;--;kwake;ksend;-;usend;B;[running] 400\n"
	      "A;umain;usleep;-;ksys;ksleep;[runnable] 30\n");
}

static void annotations(void **state)
{
	struct options o = script_options(101);

	(void)state;
	o.annotate = true;
	o.depth = 1;
	folds(chain, &o,
	      "A;umain;usleep;-;ksys_[k];ksleep_[k];--;kwake_[w];ksend_[w];-;usend_[w];B_[w];"
	      "[depth limit] 400\n"
	      "A;umain;usleep;-;ksys_[k];ksleep_[k];--;kwake_[w];ksend_[w];-;usend_[w];B_[w];"
	      "[running] 400\n"
	      "A;umain;usleep;-;ksys_[k];ksleep_[k];[runnable] 30\n");
}

static void hostile_names_are_cleaned(void **state)
{
	struct options o;

	(void)state;
	options_init(&o);
	folds("0   c0 - R > A\n"
	      "10  c0 A renames-to x;y\033[2J\302\233\377\303\244\n"
	      "100 c0 A S > - f\x01"
	      "g;\302\205\n"
	      "200 c0 A renames-to --\n"
	      "300 c1 B wakes A\n"
	      "300 c0 - R > A\n"
	      "400 c0 A S > - f\n"
	      "end 1000\n",
	      &o,
	      "[--];f;[not woken] 600\n"
	      "x:y?[2J??\303\244;?;f?g;--;[unknown stack];B;[running] 200\n");
}

static void names_are_those_of_the_moment(void **state)
{
	struct options o;

	(void)state;
	options_init(&o);
	o.tids = (struct id_list) { (uint32_t[]) { 101 }, 1 };
	folds("0   c0 - R > B\n"
	      "100 c1 A S > - recv\n"
	      "200 c0 B wakes A w\n"
	      "200 c1 - R > A\n"
	      "250 c0 B renames-to bob\n"
	      "260 c1 A renames-to alice\n"
	      "300 c1 A S > - recv\n"
	      "400 c0 B wakes A w\n"
	      "400 c1 - R > A\n"
	      "end 1000\n",
	      &o,
	      "A;recv;--;w;B;[running] 100\n"
	      "alice;recv;--;w;bob;[running] 100\n");
}

static void frames_without_a_symbol(void **state)
{
	struct synth *m = synth_new();
	struct encoder *e = synth_encoder(m);
	struct options o;
	struct trace *t;
	uint32_t module = encoder_module(e, encoder_text(e, "/usr/lib/libfoo.so.1"), NULL, 0);
	uint32_t frames[2] = { encoder_frame(e, 0, 0x1000), encoder_frame(e, 0, 0x2000) };

	(void)state;
	options_init(&o);
	assert_int_equal(encoder_name(e, frames[0], encoder_text(e, ""), module, 0), 0);
	synth_thread(m, 101, "A");
	assert_int_equal(
		encoder_event(e, &(struct event) { .time_ns = 100000,
						   .cpu = 0,
						   .kind = CHAINLOG_SWITCH,
						   .tid = 101,
						   .state = 'S',
						   .kstack = encoder_stack(e, frames, 2, 0) }),
		0);
	synth_end(m, 1000000);
	t = synth_open(m);
	expect_text(trace_folded(t, &o), "A;[unknown];[libfoo.so.1];[not woken] 900\n");
	trace_close(t);
	synth_free(m);
}

static void weights_in_us_add_up_to_the_rounded_sum(void **state)
{
	struct options o = script_options(101);
	static const char script[] = "0     c0 - R > B\n"
				     "10    c1 A S > - one\n"
				     "10.4  c0 B wakes A w\n"
				     "10.4  c1 - R > A\n"
				     "20    c1 A S > - three\n"
				     "20.3  c0 B wakes A w\n"
				     "20.3  c1 - R > A\n"
				     "30    c1 A S > - two\n"
				     "31.7  c0 B wakes A w\n"
				     "31.7  c1 - R > A\n"
				     "end 1000\n";

	(void)state;
	/* 2.4 us in all: the largest remainder is rounded up. */
	folds(script, &o, "A;two;--;w;B;[running] 2\n");
	o.unit = UNIT_NS;
	folds(script, &o,
	      "A;one;--;w;B;[running] 400\n"
	      "A;three;--;w;B;[running] 300\n"
	      "A;two;--;w;B;[running] 1700\n");
	o.top = 2;
	folds(script, &o,
	      "A;one;--;w;B;[running] 400\n"
	      "A;two;--;w;B;[running] 1700\n"
	      "[other] 300\n");
}

/* ---- which waits ---------------------------------------------------------------------------- */

static void parts_and_states(void **state)
{
	struct options o = script_options(101);

	(void)state;
	o.depth = 0;
	o.user = false;
	o.parts = PART_RUNNABLE;
	folds(chain, &o, "A;ksys;ksleep;[runnable] 30\n");
	o.parts = PART_PREEMPTED;
	folds(chain, &o, "A;kpre;[preempted] 20\n");
	o.parts = PART_BLOCKED | PART_PREEMPTED;
	folds(chain, &o, "A;kpre;[preempted] 20\nA;ksys;ksleep;[depth limit] 800\n");
	o.tids.n = 0;
	o.parts = PART_BLOCKED;
	strcpy(o.states, "D");
	folds(chain, &o, "B;klock;[depth limit] 400\n");
}

static void time_window_clips(void **state)
{
	struct options o = script_options(101);

	(void)state;
	o.user = false;
	o.from_ns = 200000;
	o.to_ns = 500000;
	/* 200..300 B ran, 300..500 it waited for C. */
	folds(chain, &o,
	      "A;ksys;ksleep;--;kwake;ksend;B;--;kunlock;C;[running] 200\n"
	      "A;ksys;ksleep;--;kwake;ksend;B;[running] 100\n");
	o.from_ns = 910000;
	o.to_ns = UINT64_MAX;
	folds(chain, &o, "A;ksys;ksleep;[runnable] 20\n");
}

/* A part of a window that is taken away again, as it is not shown, ends at a packet. */
static void time_window_clips_at_a_packet(void **state)
{
	struct options o = script_options(101);

	(void)state;
	o.user = false;
	o.to_ns = 500000;
	folds("0   c0 - R > C\n"
	      "0   c1 - R > B\n"
	      "50  c1 B S > A nap\n"
	      "60  c0 C S > - recv\n"
	      "100 c1 A S > - wait4\n"
	      "650 c0 - wakes C net_rx_action;asm_common_interrupt\n"
	      "660 c0 - R > C\n"
	      "700 c0 C wakes B zap_other_threads\n"
	      "710 c1 - R > B\n"
	      "900 c1 B wakes A do_exit;get_signal\n"
	      "910 c1 B X > A do_exit;get_signal\n"
	      "end 1000\n",
	      &o,
	      "A;wait4;--;do_exit;get_signal;B;--;zap_other_threads;C;--;net_rx_action;"
	      "asm_common_interrupt;[network] 400\n");
}

static void wait_lengths(void **state)
{
	struct options o;

	(void)state;
	options_init(&o);
	o.depth = 0;
	o.user = false;
	o.min_wait_ns = 830000;
	folds(chain, &o, "A;ksys;ksleep;[depth limit] 800\nA;ksys;ksleep;[runnable] 30\n");
	o.min_wait_ns = 0;
	o.max_wait_ns = 829999;
	folds(chain, &o, "B;klock;[depth limit] 400\n");
}

static void stacks_within_and_without(void **state)
{
	struct options o;
	regex_t r;

	(void)state;
	options_init(&o);
	o.depth = 0;
	o.user = false;
	o.parts = PART_BLOCKED;
	o.within = regex(&r, "^usleep$");
	folds(chain, &o, "A;ksys;ksleep;[depth limit] 800\n");
	o.without = o.within;
	o.within.n = 0;
	folds(chain, &o, "B;klock;[depth limit] 400\n");
	regfree(&r);
}

static void names_processes_and_kernel_threads(void **state)
{
	struct options o;
	regex_t r;

	(void)state;
	options_init(&o);
	o.depth = 0;
	o.user = false;
	o.parts = PART_BLOCKED;
	o.names = regex(&r, "^[BX]");
	folds(chain, &o, "B;klock;[depth limit] 400\n");
	regfree(&r);
	o.names.n = 0;
	o.processes.ids = (struct id_list) { (uint32_t[]) { 102 }, 1 };
	folds(chain, &o, "B;klock;[depth limit] 400\n");
}

static void without_kernel_threads(void **state)
{
	struct synth *m = synth_new();
	struct options o;
	struct trace *t;

	(void)state;
	options_init(&o);
	synth_thread_full(
		m, &(struct encoder_thread) { .tid = 101,
					      .tgid = 101,
					      .state = 'S',
					      .flags = CHAINLOG_THREAD_KTHREAD,
					      .name = encoder_text(synth_encoder(m), "kworker") });
	synth_thread(m, 102, "user");
	synth_end(m, 1000000);
	t = synth_open(m);
	expect_text(trace_folded(t, &o), "kworker;[unknown stack];[not woken] 1000\n"
					 "user;[unknown stack];[not woken] 1000\n");
	o.no_kthreads = true;
	expect_text(trace_folded(t, &o), "user;[unknown stack];[not woken] 1000\n");
	trace_close(t);
	synth_free(m);
}

/* ---- other formats over the same waits ------------------------------------------------------ */

static void formatted(const char *format, const struct options *o, const char *expected)
{
	struct synth *m = script_made(chain);
	struct trace *t = synth_open(m);

	expect_text(trace_formatted(t, o, format), expected);
	trace_close(t);
	synth_free(m);
}

static void a_tree_of_words(void **state)
{
	struct options o = script_options(101);

	(void)state;
	formatted("tree", &o,
		  "A (101)\n"
		  "  +0.000100000 s  slept 800.000 us (S), runnable 30.000 us\n"
		  "    in ksleep < ksys | usleep < umain\n"
		  "    woken by B (102), which ran 400.000 us, slept 400.000 us\n"
		  "      in kwake < ksend | usend\n"
		  "      asleep in klock | ulock\n"
		  "      woken by C (103), which ran 400.000 us\n"
		  "        in kunlock | uunlock\n");
}

static void a_table_of_threads(void **state)
{
	struct options o = script_options(101);

	(void)state;
	o.unit = UNIT_NS;
	formatted("threads", &o,
		  "    TID     PID NAME                   RUNNING       BLOCKED      RUNNABLE     "
		  "PREEMPTED       UNKNOWN      LIFETIME     WAITS       LONGEST        WAITED    "
		  "INTERRUPTS\n"
		  "    101     101 A                       150000        800000         30000      "
		  "   20000             0       1000000         1        830000        830000      "
		  "       -\n"
		  "                all of them             150000             -         30000      "
		  "   20000             -             -         1        830000        830000      "
		  "       -\n"
		  "(times in ns; 1 threads; WAITED: blocked, runnable)\n");
}

/*
 * A and C are programs that have a thread called "pool" each, B and D: by their stacks "work" is
 * A's and "serve" C's, and what is in "main" is of both. F, of E's process, has a name of its own.
 * G is called as A was before it named itself.
 */
static void whose_stacks_are_whose_is_beside_the_lines(void **state)
{
	static const char script[] = "thread A S\n"
				     "thread B S/A\n"
				     "thread C S\n"
				     "thread D S/C\n"
				     "thread E S\n"
				     "thread F S/E\n"
				     "thread G S\n"
				     "0 c0 A renames-to gate\n"
				     "0 c0 B renames-to pool\n"
				     "0 c0 D renames-to pool\n"
				     "0 c0 G renames-to gate\n"
				     "9 c0 A renames-to shop\n"
				     "10 c1 - woken A\n"
				     "10 c1 - R > A\n"
				     "11 c1 A S > B klock|main\n"
				     "12 c1 B S > C klock|get;work;start\n"
				     "13 c1 C S > D klock|main\n"
				     "14 c1 D S > E klock|get;serve;start\n"
				     "15 c1 E S > F klock|main\n"
				     "16 c1 F S > G klock|main\n"
				     "17 c1 G S > - klock|main\n"
				     "20 c1 - woken A\n"
				     "20 c1 - woken B\n"
				     "20 c1 - woken C\n"
				     "20 c1 - woken D\n"
				     "20 c1 - woken E\n"
				     "20 c1 - woken F\n"
				     "20 c1 - woken G\n"
				     "20 c1 - R > B\n"
				     "21 c1 B S > D klock|main;start\n"
				     "22 c1 D S > A klock|main;start\n"
				     "23 c1 A S > C klock|main;start\n"
				     "24 c1 C S > - klock|main;start\n"
				     "30 c1 - woken B\n"
				     "30 c1 - woken D\n"
				     "40 c1 - R > B\n"
				     "41 c1 B S > D klock\n"
				     "42 c1 D S > - klock\n"
				     "end 200\n";
	struct synth *m = script_made(script);
	struct trace *t = synth_open(m);
	struct folded lines = { .n = 0 };
	struct options o, shown;
	struct timelines *tl;
	struct fold *fold;
	char *text, *notes;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	(void)state;
	options_init(&shown);
	assert_true(process_lines_wanted(&shown));
	o = shown;
	o.root = ROOT_BESIDE;
	assert_int_equal(timelines_new(&tl, t), 0);
	fold_new(&fold, tl, &o, FOLD_BY_NAME);
	folded_add(&lines, fold_rows(fold), NULL, ROOT_NONE);
	folded_write(&lines, &shown, f);
	fclose(f);
	notes = strstr(text, "[note]");
	assert_non_null(notes);
	assert_string_equal(notes, "[note] process;C;C 0\n"
				   "[note] process;C;pool;start;serve 0\n"
				   "[note] process;E;E 0\n"
				   "[note] process;E;F 0\n"
				   "[note] process;shop;pool;start;work 0\n"
				   "[note] process;shop;shop 0\n");
	*notes = '\0';
	expect_text(text, script_folded(script, &shown));
	folded_free(&lines);
	fold_free(fold);
	timelines_free(tl);
	trace_close(t);
	synth_free(m);
}

/* Frames are told apart as such: what ends where others go on, and names that begin as others. */
static void paths_are_as_short_as_they_can_be(void **state)
{
	static const struct {
		const char *text, *process;
	} lines[] = {
		{ ";p;a", "one" },
		{ ";p;a b;c", "two" },
		{ ";p;a;c", "one" },
		{ ";p;b;x;[end]", "one" },
		{ ";p;b;x;y", "two" },
		{ ";p;b;x;--;w;one", "one" },
		{ ";p;b;x;--;w;two", "two" },
		{ ";p;c", NULL },
		{ ";p;c;d", "one" },
	};
	struct owned_line owned[sizeof(lines) / sizeof(lines[0])];
	struct process_lines p = { .n = 0 };
	struct text_buf text = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		owned[i] = (struct owned_line) { strdup(lines[i].text), lines[i].process };
	process_lines_split(&p, owned, sizeof(lines) / sizeof(lines[0]));
	process_lines_put(&text, &p);
	assert_string_equal(text.p, "[note] process;one;p;a 0\n"
				    "[note] process;one;p;b;x;[end] 0\n"
				    "[note] process;one;p;c;d 0\n"
				    "[note] process;two;p;a b 0\n"
				    "[note] process;two;p;b;x;y 0\n");
	text_free(&text);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		free(owned[i].text);
}

/* Too many: those with the names alone remain. */
static void what_is_told_of_processes_is_bounded(void **state)
{
	struct process_lines p = { .n = 0 };
	struct text_buf text = { 0 };
	char path[32];

	(void)state;
	process_lines_add(&p, "java", ";pool", 5);
	for (int i = 0; i < PROCESS_LINES_MAX; i++)
		process_lines_add(&p, "java", path,
				  (size_t)snprintf(path, sizeof(path), ";x;%d", i));
	process_lines_put(&text, &p);
	assert_string_equal(text.p, "[note] process;java;pool 0\n");
	text_free(&text);
}

/* Renderers draw nothing for it. Equal ones of several traces are one. */
static void a_note_is_a_line_without_time(void **state)
{
	struct options o = { .unit = UNIT_NS };
	struct folded lines = { .n = 0 };
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	(void)state;
	folded_note(&lines, "java/1; compiled\nframes");
	folded_note(&lines, "java/1");
	folded_note(&lines, "java/1; compiled\nframes");
	folded_write(&lines, &o, f);
	fclose(f);
	assert_string_equal(text, "[note] java/1: compiled?frames 0\n[note] java/1 0\n");
	free(text);
	folded_free(&lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_parts_of_a_stack_with_a_delimiter),
		cmocka_unit_test(without_ends),
		cmocka_unit_test(without_delimiters),
		cmocka_unit_test(kernel_or_user_frames_only),
		cmocka_unit_test(blocked_stacks_of_wakers),
		cmocka_unit_test(annotations),
		cmocka_unit_test(hostile_names_are_cleaned),
		cmocka_unit_test(names_are_those_of_the_moment),
		cmocka_unit_test(frames_without_a_symbol),
		cmocka_unit_test(weights_in_us_add_up_to_the_rounded_sum),
		cmocka_unit_test(parts_and_states),
		cmocka_unit_test(time_window_clips),
		cmocka_unit_test(time_window_clips_at_a_packet),
		cmocka_unit_test(wait_lengths),
		cmocka_unit_test(stacks_within_and_without),
		cmocka_unit_test(names_processes_and_kernel_threads),
		cmocka_unit_test(whose_stacks_are_whose_is_beside_the_lines),
		cmocka_unit_test(paths_are_as_short_as_they_can_be),
		cmocka_unit_test(what_is_told_of_processes_is_bounded),
		cmocka_unit_test(without_kernel_threads),
		cmocka_unit_test(a_tree_of_words),
		cmocka_unit_test(a_table_of_threads),
		cmocka_unit_test(a_note_is_a_line_without_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
