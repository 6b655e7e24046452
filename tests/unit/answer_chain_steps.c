// SPDX-License-Identifier: GPL-2.0-or-later
/* The chain of several waits, a line a link: who, where, waits for what, and what became of it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/chain_steps.h"
#include "answer/path_processes.h"
#include "causes/causes.h"
#include "formats/chain_ends.h"
#include "formats/chain_lines.h"
#include "formats/verdict.h"
#include "synth_many.h"

/* The chain of the whole life of a thread (a number). */
struct life {
	struct options options;
	struct timelines *timelines;
	struct names *names;
	struct cpu_holders *holders;
	struct chain_known *known;
	struct chain_steps *steps;
};

static void life_begin(struct life *l, const struct trace *t)
{
	struct options given;

	options_init(&given);
	l->options = causes_request_options(&given);
	l->options.requests = false;
	assert_int_equal(timelines_new_with_cpus(&l->timelines, t), 0);
	names_new(&l->names, l->timelines, &l->options);
	cpu_holders_new(&l->holders, l->timelines, true);
	chain_known_new(&l->known, l->timelines, l->names, l->holders);
	l->steps = NULL;
}

static void life_sum_up(struct life *l, uint32_t thread)
{
	const struct thread *th = timelines_thread(l->timelines, thread);

	chain_steps_free(l->steps);
	chain_steps_new(&l->steps, l->timelines, &l->options, l->names, l->known);
	chain_steps_add_life(l->steps, thread, th->begin_ns, th->end_ns);
	chain_steps_end(l->steps);
}

static void life_end(struct life *l)
{
	chain_steps_free(l->steps);
	chain_known_free(l->known);
	cpu_holders_free(l->holders);
	names_free(l->names);
	timelines_free(l->timelines);
}

/* ---- lines and verdicts ---------------------------------------------------------------------- */

/* What is said of A's life: its chain, and why it took so long. */
static void gives(const char *script, const char *expected)
{
	struct synth *m = script_made(script);
	struct trace *t = synth_open(m);
	struct options o = { .columns = 80 };
	struct life l;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	life_begin(&l, t);
	for (uint32_t i = 0; i < timelines_threads(l.timelines); i++)
		if (timelines_thread(l.timelines, i)->tid == 101)
			life_sum_up(&l, i);
	chain_lines_put(f, l.steps, l.names, &o, 16);
	verdict_put(f, l.steps, l.names, false, true);
	fclose(f);
	expect_text(text, expected);
	life_end(&l);
	trace_close(t);
	synth_free(m);
}

/* A waits for a lock that B has while it asks C, who sleeps. */
static void a_lock_is_the_joint(void **state)
{
	(void)state;
	gives("thread A *\n"
	      "thread B *\n"
	      "thread C S\n"
	      "0   c0 - R > A\n"
	      "0   c1 - R > B\n"
	      "100 c0 A S > - futex_wait|pthread_mutex_lock@libc.so.6;charge;main "
	      "for=futex:17:0x40\n"
	      "150 c1 B S > - unix_stream_read|recv@libc.so.6;quote;main for=unix:/carrier~C/103\n"
	      "850 c2 - wakes C ttwu_do;tick;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt\n"
	      "850 c2 - R > C\n"
	      "860 c2 C wakes B wake|send@libc.so.6;price;main\n"
	      "860 c1 - R > B\n"
	      "900 c1 B wakes A wake|pthread_mutex_unlock@libc.so.6;quote;main\n"
	      "900 c0 - R > A\n"
	      "end 1000\n",
	      "  A    charge  80 %  waits for a lock\n"
	      "   B   quote   71 %  holds it, waits for unix /carrier C/103\n"
	      "    C          70 %  slept (timer)\n"
	      " because B holds a lock, and waits while C sleeps.");
}

/* Two threads of the program, on a CPU each. */
#define A_AND_B            \
	"thread A *\n"     \
	"thread B *\n"     \
	"0   c0 - R > A\n" \
	"0   c1 - R > B\n"

/* A Mutex of Ruby is a condition inside: A waits for that which B unlocks. */
static void a_mutex_of_ruby_is_a_lock(void **state)
{
	(void)state;
	gives(A_AND_B
	      "100 c0 A S > - futex_wait|pthread_cond_wait@libc.so.6;"
	      "rb_native_cond_wait@libruby-3.1.so.3.1.2;rb_mutex_synchronize@libruby-3.1.so.3.1.2;"
	      "charge;main "
	      "for=futex:17:0x40\n"
	      "900 c1 B wakes A "
	      "wake|pthread_cond_signal@libc.so.6;rb_mutex_unlock@libruby-3.1.so.3.1.2;quote;main\n"
	      "900 c0 - R > A\n"
	      "end 1000\n",
	      "  A  charge  80 %  waits for a Ruby Mutex\n"
	      "   B         80 %  holds it, ran\n"
	      " because B holds a Ruby Mutex, and runs.");
}

/* A sleep of Ruby's is a timed wait for a condition inside, or poll(), of a library without names.
 */
static void a_sleep_of_ruby_is_no_condition(void **state)
{
	static const char *const waits[] = {
		"pthread_cond_timedwait@libc.so.6;@libruby-3.1.so.3.1.2;charge;main "
		"for=futex:17:0x40",
		"ppoll@libc.so.6;@libruby-3.1.so.3.1.2;charge;main for=poll:eventfd~101:3"
	};

	(void)state;
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		char *script;

		assert_true(
			asprintf(&script,
				 A_AND_B
				 "100 c0 A S > - wait|read@libc.so.6;ask;main for=unix:/s~B/102\n"
				 "150 c1 B S > - wait|%s\n"
				 "850 c1 - wakes B "
				 "ttwu_do;tick;__hrtimer_run_queues;asm_sysvec_apic_timer_"
				 "interrupt\n"
				 "850 c1 - R > B\n"
				 "900 c1 B wakes A wake|write@libc.so.6;charge;main\n"
				 "900 c0 - R > A\n"
				 "end 1000\n",
				 waits[i]) > 0);
		gives(script, "  A  ask     80 %  waits for unix /s B/102\n"
			      "   B charge  70 %  slept (timer)\n"
			      " because B sleeps in charge.");
		free(script);
	}
}

/* JavaScript has no names here: then what it called of Node.js says where it waits. */
static void the_function_of_node_is_told(void **state)
{
	(void)state;
	gives(A_AND_B
	      "100 c0 A S > - do_epoll_wait|epoll_pwait@libc.so.6;uv__io_poll;uv_run;"
	      "node::SyncProcessRunner::TryInitializeAndRunLoop;node::SyncProcessRunner::Spawn;"
	      "v8::internal::Builtin_HandleApiCall;Builtins_JSEntry;v8::Function::Call;"
	      "llhttp__internal_execute;non-virtual~thunk~to~node::Parser::OnStreamRead;uv_run;"
	      "node::Start "
	      "for=unix:/s~B/102\n"
	      "900 c1 B wakes A wake|write@libc.so.6;zip;main\n"
	      "900 c0 - R > A\n"
	      "end 1000\n",
	      "  A  node::SyncProcessRunner::Spawn  80 %  waits for unix /s B/102\n"
	      "   B                                 80 %  ran\n"
	      " because B runs.");
}

/* Of many files at one place the name of each says nothing. */
static void many_files_are_one_line(void **state)
{
	(void)state;
	gives(A_AND_B "100 c0 A S > - folio_wait|read@libc.so.6;copy;main for=file:/data/f1\n"
		      "250 c1 B wakes A wake|ready;main\n"
		      "250 c0 - R > A\n"
		      "260 c0 A S > - folio_wait|read@libc.so.6;copy;main for=file:/data/f2\n"
		      "410 c1 B wakes A wake|ready;main\n"
		      "410 c0 - R > A\n"
		      "420 c0 A S > - folio_wait|read@libc.so.6;copy;main for=file:/data/f3\n"
		      "570 c1 B wakes A wake|ready;main\n"
		      "570 c0 - R > A\n"
		      "580 c0 A S > - folio_wait|read@libc.so.6;copy;main for=file:/data/f4\n"
		      "730 c1 B wakes A wake|ready;main\n"
		      "730 c0 - R > A\n"
		      "740 c0 A S > - folio_wait|read@libc.so.6;copy;main for=file:/data/f5\n"
		      "890 c1 B wakes A wake|ready;main\n"
		      "890 c0 - R > A\n"
		      "end 1000\n",
	      "  A  copy  75 %  waits for files in data\n"
	      "   B       75 %  ran\n"
	      "  A        25 %  ran\n"
	      " because B runs.");
}

/* A pause of the thread itself is its choice. */
static void a_pause_of_its_own_is_a_choice(void **state)
{
	(void)state;
	gives("thread A *\n"
	      "0   c0 - R > A\n"
	      "100 c0 A S > - do_nanosleep|clock_nanosleep@libc.so.6;rest;main for=sleep:800us\n"
	      "900 c0 - wakes A ttwu_do;tick;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt\n"
	      "900 c0 - R > A\n"
	      "end 1000\n",
	      "  A rest  80 %  slept (timer)\n"
	      " because A sleeps by choice in rest.");
}

/* Threads of one kind that wait for each other at one lock are one line. */
static void a_convoy_is_one_line(void **state)
{
	(void)state;
	gives("thread A *\n"
	      "thread B *\n"
	      "thread C *\n"
	      "0   c0 A renames-to order-1\n"
	      "0   c1 B renames-to order-2\n"
	      "0   c2 C renames-to order-17\n"
	      "100 c0 A S > - futex_wait|pthread_mutex_lock@libc.so.6;log;main for=futex:17:0x40\n"
	      "110 c1 B S > - futex_wait|pthread_mutex_lock@libc.so.6;log;main for=futex:17:0x40\n"
	      "300 c2 C ran |deflate;zip;log;main\n"
	      "500 c2 C wakes B wake|pthread_mutex_unlock@libc.so.6;log;main\n"
	      "500 c1 - R > B\n"
	      "520 c1 B wakes A wake|pthread_mutex_unlock@libc.so.6;log;main\n"
	      "520 c0 - R > A\n"
	      "end 600\n",
	      "  order-*  log      70 %  waits for a lock\n"
	      "   order-* deflate  70 %  holds it, ran\n"
	      "  order-*           30 %  ran\n"
	      " because order-* holds a lock, and runs deflate.");
}

/* Processes hand a file's lock on as they end; whoever had it first says why. */
static void what_a_chain_said_it_does_not_say_again(void **state)
{
	(void)state;
	gives("thread A *\n"
	      "thread B *\n"
	      "thread C *\n"
	      "thread D *\n"
	      "0   c0 A renames-to flock\n"
	      "0   c2 C renames-to flock\n"
	      "50  c2 C S > - flock_lock_inode|flock@libc.so.6;take;main for=file:/run/job/lock\n"
	      "60  c1 B S > - do_wait|wait4@libc.so.6;job;main for=child:103\n"
	      "100 c0 A S > - flock_lock_inode|flock@libc.so.6;take;main for=file:/run/job/lock\n"
	      "150 c3 D ran |pack;main\n"
	      "500 c3 D wakes C wake|unlock;main\n"
	      "500 c2 - R > C\n"
	      "600 c2 C wakes B wake|do_exit;main\n"
	      "600 c1 - R > B\n"
	      "900 c1 B wakes A wake|unlock;main\n"
	      "900 c0 - R > A\n"
	      "end 1000\n",
	      "  flock take  80 %  waits for the lock file job/lock\n"
	      "   D    pack  40 %  holds it, ran\n"
	      "   B          30 %  holds it, ran\n"
	      " because D holds the lock file job/lock, and runs pack.");
}

/* A JVM calls what it compiled by its whole declaration: of that the method is said, and neither
 * its own library nor code that the JVM makes for itself. */
static void methods_of_a_jvm_are_said(void **state)
{
	(void)state;
	gives(A_AND_B "100 c0 A S > - futex_wait|pthread_cond_wait@libc.so.6;"
		      "monitorenter_nofpu~Runtime1~stub;void~java.util.Stack.push(int);"
		      "void~com.shop.Cart.add(java.lang.String,~int);void~java.lang.Thread.run() "
		      "for=futex:17:0x40\n"
		      "300 c1 B ran |int~com.shop.Stock.count();void~java.lang.Thread.run()\n"
		      "900 c1 B wakes A wake|void~com.shop.Stock.take()\n"
		      "900 c0 - R > A\n"
		      "end 1000\n",
	      "  A  com.shop.Cart.add     80 %  waits for a condition\n"
	      "   B com.shop.Stock.count  80 %  ran\n"
	      " because B runs com.shop.Stock.count.");
}

/* A JVM sleeps at a condition of its own, and GNU make waits until a job of its may begin. */
static void what_programs_wait_for_is_said(void **state)
{
#define UNTIL_TIMER                                                                            \
	"900 c0 - wakes A ttwu_do;tick;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt\n" \
	"900 c0 - R > A\n"                                                                     \
	"end 1000\n"
	(void)state;
	gives("thread A *\n"
	      "0   c0 - R > A\n"
	      "100 c0 A S > - futex_wait|pthread_cond_timedwait@libc.so.6;"
	      "JavaThread::sleep@libjvm.so;JVM_Sleep@libjvm.so;int~com.shop.Job.rest() "
	      "for=futex:17:0x40\n" UNTIL_TIMER,
	      "  A com.shop.Job.rest  80 %  slept (timer)\n"
	      " because A sleeps by choice in com.shop.Job.rest.");
	gives("thread A *\n"
	      "0   c0 - R > A\n"
	      "100 c0 A S > - do_select|pselect@libc.so.6;jobserver_acquire@make;main@make "
	      "for=select:of~1\n" UNTIL_TIMER,
	      "  A jobserver_acquire  80 %  waits for a free job slot (-j), until its timeout\n"
	      " because A waits for a free job slot (-j) in jobserver_acquire.");
#undef UNTIL_TIMER
}

/* Where both have no room a port gives way to a function's name. */
static void a_port_gives_way_to_a_name(void **state)
{
	(void)state;
	gives("thread A *\n"
	      "thread B *\n"
	      "thread C S\n"
	      "0   c0 - R > A\n"
	      "0   c1 - R > B\n"
	      "100 c0 A S > - futex_wait|pthread_mutex_lock@libc.so.6;charge;main "
	      "for=futex:17:0x40\n"
	      "150 c1 B S > - "
	      "tcp_recv|recv@libc.so.6;check_the_whole_catalogue_for_new_prices;main "
	      "for=tcp:10.0.0.1:5432@103<10.0.0.1:40001\n"
	      "850 c2 - wakes C ttwu_do;tick;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt\n"
	      "850 c2 - R > C\n"
	      "860 c2 C wakes B wake|send@libc.so.6;price;main\n"
	      "860 c1 - R > B\n"
	      "900 c1 B wakes A wake|pthread_mutex_unlock@libc.so.6;quote;main\n"
	      "900 c0 - R > A\n"
	      "end 1000\n",
	      "  A    charge                                    80 %  waits for a lock\n"
	      "   B   check_the_whole_catalogue_for_new_prices  71 %  holds it, waits for C\n"
	      "    C                                            70 %  slept (timer)\n"
	      " because B holds a lock, and waits while C sleeps.");
}

/* Of a block of Ruby's that has no room the method is told, not that it is a block. */
static void a_block_is_told_by_its_method(void **state)
{
	(void)state;
	gives(A_AND_B
	      "100 c0 A S > - futex_wait|pthread_mutex_lock@libc.so.6;charge;main "
	      "for=futex:17:0x40\n"
	      "150 c1 B S > - wait|read@libc.so.6;"
	      "block~(2~levels)~in~load_all_prices~(/srv/prices.rb:8);main for=unix:/prices~C/103\n"
	      "850 c1 - wakes B wake|write;main\n"
	      "850 c1 - R > B\n"
	      "900 c1 B wakes A wake|pthread_mutex_unlock@libc.so.6;quote;main\n"
	      "900 c0 - R > A\n"
	      "end 1000\n",
	      "  A  charge                               80 %  waits for a lock\n"
	      "   B load_all_prices (/srv/prices.rb:8)   70 %  holds it, waits for an interrupt\n"
	      " because B holds a lock, and waits for unix /prices C/103 in block (2 levels) in "
	      "load_all_prices (/srv/prices.rb:8).");
}

/* SQLite sleeps a little and looks again whether others have ended their transaction. */
static void a_busy_handler_is_at_a_lock(void **state)
{
	(void)state;
	gives("thread A *\n"
	      "0   c0 - R > A\n"
	      "100 c0 A S > - do_nanosleep|clock_nanosleep@libc.so.6;usleep@libc.so.6;"
	      "unixSleep@libsqlite3.so.0;sqlite3InvokeBusyHandler@libsqlite3.so.0;sqlite3_step@"
	      "libsqlite3.so.0;save;main "
	      "for=sleep:800us\n"
	      "900 c0 - wakes A ttwu_do;tick;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt\n"
	      "900 c0 - R > A\n"
	      "end 1000\n",
	      "  A save  80 %  waits for the lock of the database file, tried again and again\n"
	      " because A waits for the lock of the database file in save.");
}

/* What it ran in the kernel is said, if that is most of it. */
static void what_the_kernel_did_is_said(void **state)
{
	(void)state;
	gives(A_AND_B "100 c0 A S > - pipe_read|read@libc.so.6;main for=pipe:7\n"
		      "300 c1 B ran clear_page;handle_mm_fault;exc_page_fault|fill;main\n"
		      "400 c1 B ran clear_page;handle_mm_fault;exc_page_fault|fill;main\n"
		      "500 c1 B ran |fill;main\n"
		      "900 c1 B wakes A wake|write@libc.so.6;main\n"
		      "900 c0 - R > A\n"
		      "end 1000\n",
	      "  A  main  80 %  waits for data from a pipe\n"
	      "   B fill  80 %  ran (page faults)\n"
	      " because B runs fill, in the kernel for page faults.");
}

/* Every program runs main(): where its samples part, what most of them are in is said; keys() here.
 */
static void most_of_what_main_ran_is_said(void **state)
{
	(void)state;
	gives(A_AND_B "100 c0 A S > - pipe_read|read@libc.so.6;main for=pipe:7\n"
		      "300 c1 B ran |match;keys;call;main\n"
		      "400 c1 B ran |match;keys;call;main\n"
		      "500 c1 B ran |copy;keys;call;main\n"
		      "600 c1 B ran |get;call;main\n"
		      "700 c1 B ran |reply;main\n"
		      "900 c1 B wakes A wake|write@libc.so.6;main\n"
		      "900 c0 - R > A\n"
		      "end 1000\n",
	      "  A  main  80 %  waits for data from a pipe\n"
	      "   B keys  80 %  ran\n"
	      " because B runs keys.");
}

/* Where the recorder could not read which functions of a program's interpreter run, in three of
 * five samples here, the others tell. */
static void samples_without_names_of_code_do_not_count(void **state)
{
#define NODE "uv_run;main\n"
#define NAMELESS " B ran |sha512;pbkdf2;Builtins_InterpreterEntryTrampoline;" NODE
#define NAMED " B ran |sha512;pbkdf2;check%/srv/node.js:2;login%/srv/node.js:3;" NODE
	(void)state;
	gives(A_AND_B "100 c0 A S > - pipe_read|read@libc.so.6;main for=pipe:7\n"
		      "300 c1" NAMELESS "400 c1" NAMED "500 c1" NAMELESS "600 c1" NAMED
		      "700 c1" NAMELESS "900 c1 B wakes A wake|write@libc.so.6;main\n"
		      "900 c0 - R > A\n"
		      "end 1000\n",
	      "  A  main               80 %  waits for data from a pipe\n"
	      "   B check (node.js:2)  80 %  ran\n"
	      " because B runs check (node.js:2).");
}

#define TIMER " ttwu_do;tick;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt\n"
#define LOOKS " A S > - do_select|select@libc.so.6;look;main for=sleep:200us\n"

/* A starts B, and looks every now and then whether it has ended; for the third time at 520. */
#define A_LOOKS_FOR_B                                              \
	"thread A *\n"                                             \
	"born B\n"                                                 \
	"0   c0 - R > A\n"                                         \
	"50  c0 A forks B\n"                                       \
	"50  c0 A new B\n"                                         \
	"60  c1 - R > B\n"                                         \
	"100 c0" LOOKS "150 c1 B ran |sort;main\n"                 \
	"300 c0 - wakes A" TIMER "300 c0 - R > A\n"                \
	"310 c0" LOOKS "510 c0 - wakes A" TIMER "510 c0 - R > A\n" \
	"520 c0" LOOKS

static void a_child_that_is_looked_for_is_waited_for(void **state)
{
	(void)state;
	gives(A_LOOKS_FOR_B "620 c1 B exits\n620 c1 B X > -\n"
			    "720 c0 - wakes A" TIMER "720 c0 - R > A\n"
			    "end 1000\n",
	      "  A  look  50 %  waits for its child\n"
	      "   B sort  50 %  ran\n"
	      "  A        40 %  ran\n"
	      " because B runs sort.");
}

/* B wakes A and keeps it off its CPU before it has ended. */
static void a_child_that_ends_after_it_woke_who_looks_is_waited_for(void **state)
{
	(void)state;
	gives(A_LOOKS_FOR_B "620 c1 B wakes A\n"
			    "620 c0 - R > A\n"
			    "630 c0 A R > -\n"
			    "650 c1 B exits\n650 c1 B X > -\n"
			    "660 c0 - R > A\n"
			    "end 1000\n",
	      "  A        50 %  ran\n"
	      "  A  look  40 %  waits for its child\n"
	      "   B sort  40 %  ran\n"
	      " because A runs.");
}

static void a_quota_is_said(void **state)
{
	(void)state;
	gives("queues\n"
	      "quotas\n"
	      "thread A *\n"
	      "0   c0 - R > A\n"
	      "100 c0 A in-group /pod7\n"
	      "120 c0 A ran |cubic;draw;main\n"
	      "150 c0 A R > -\n"
	      "150 c0 A throttled\n"
	      "900 c0 A unthrottled 150 900 /pod7\n"
	      "900 c0 - R > A\n"
	      "950 c0 A ran |send;main\n"
	      "end 1000\n",
	      "  A cubic  75 %  CPU quota of /pod7 used up: 100 % by itself\n"
	      "  A main   25 %  ran\n"
	      " because A has used up the CPU quota of /pod7.");
}

/* A quota is one of a group: who used it up is another one than who may not run. */
static void who_used_up_a_quota_is_said(void **state)
{
	(void)state;
	gives("queues\n"
	      "quotas\n"
	      "thread A *\n"
	      "thread B *\n"
	      "thread C *\n"
	      "0   c0 - R > A\n"
	      "0   c1 - R > B\n"
	      "0   c2 - R > C\n"
	      "10  c0 A in-group /pod7\n"
	      "10  c1 B in-group /pod7/batch\n"
	      "10  c2 C in-group /pod77\n"
	      "50  c0 A R > -\n"
	      "150 c1 B R > -\n"
	      "900 c0 A unthrottled 150 900 /pod7\n"
	      "900 c0 - R > A\n"
	      "end 1000\n",
	      "  A   75 %  CPU quota of /pod7 used up: 75 % by B\n"
	      "  A   25 %  ran, 40 % of it without CPU\n"
	      " because A may not run, as the CPU quota of /pod7 is used up, 75 % by B.");
}

/*
 * B lets A go on, and C lets B, after S has answered them; then those ask S, A from the port a and
 * B from b.
 */
static char *asks_of_three(const char *a, const char *b)
{
#define RECV " S > - wait|recv@libc.so.6;ask;main for=tcp:10.0.0.5:5432<10.0.0.1:"
#define TAKE " S > - futex_wait|wait@libx.so.1;take;main for=futex:17:0x40\n"
	char *script = NULL;

	assert_true(asprintf(&script,
			     "thread A */B\n"
			     "thread B *\n"
			     "thread C */B\n"
			     "thread S S\n"
			     "0   c0 - R > A\n"
			     "0   c1 - R > B\n"
			     "0   c2 - R > C\n"
			     "100 c0 A" TAKE "100 c1 B" RECV "40001\n"
			     "100 c2 C" RECV "40002\n"
			     "500 c3 - wakes S ttwu_do;tick;__hrtimer_run_queues;"
			     "asm_sysvec_apic_timer_interrupt\n"
			     "500 c3 - R > S\n"
			     "510 c3 S wakes B wake|send@libc.so.6;answer;main\n"
			     "510 c1 - R > B\n"
			     "520 c1 B wakes A wake|wake@libx.so.1;give_back;main\n"
			     "520 c0 - R > A\n"
			     "530 c1 B" TAKE "540 c0 A" RECV "%s\n"
			     "550 c3 S wakes A wake|send@libc.so.6;answer;main\n"
			     "550 c0 - R > A\n"
			     "600 c3 S wakes C wake|send@libc.so.6;answer;main\n"
			     "600 c2 - R > C\n"
			     "610 c2 C wakes B wake|wake@libx.so.1;give_back;main\n"
			     "610 c1 - R > B\n"
			     "620 c1 B" RECV "%s\n"
			     "630 c3 S wakes B wake|send@libc.so.6;answer;main\n"
			     "630 c1 - R > B\n"
			     "end 650\n",
			     a, b) > 0);
#undef RECV
#undef TAKE
	return script;
}

/* Connections that threads have one after another are a pool's, and one that has them keeps others
 * waiting. */
static void a_pool_of_connections_is_known(void **state)
{
	char *script = asks_of_three("40001", "40002");

	(void)state;
	gives(script,
	      "  A    take  65 %  waits for one of 2 connections to 10.0.0.5:5432\n"
	      "   B   ask   63 %  holds it, waits for tcp 10.0.0.5:5432\n"
	      "    S        62 %  slept (timer)\n"
	      "  A          34 %  ran\n"
	      " because B holds one of 2 connections to 10.0.0.5:5432, and waits while S sleeps.");
	free(script);
}

/* Where each thread has its own it was for something else that they waited. */
static void own_connections_are_no_pool(void **state)
{
	char *script = asks_of_three("40003", "40001");

	(void)state;
	gives(script, "  A    take  65 %  waits for a futex\n"
		      "   B   ask   63 %  waits for tcp 10.0.0.5:5432\n"
		      "    S        62 %  slept (timer)\n"
		      "  A          34 %  ran\n"
		      " because S sleeps.");
	free(script);
}

/* A pipe is named by who is at its other end, which is not the same for who writes and who reads.
 */
static void a_pipe_has_another_end(void **state)
{
	(void)state;
	gives("thread A *\n"
	      "thread B *\n"
	      "thread C S\n"
	      "0   c0 - R > A\n"
	      "0   c1 - R > B\n"
	      "50  c1 B S > - pipe_read|read@libc.so.6;pack;main for=pipe:7\n"
	      "60  c0 A wakes B wake;pipe_write|write@libc.so.6;served;main\n"
	      "60  c1 - R > B\n"
	      "100 c0 A S > - pipe_write|write@libc.so.6;served;main for=pipe:7\n"
	      "200 c1 B ran |compress;pack;main\n"
	      "900 c1 B wakes A wake;pipe_read|read@libc.so.6;pack;main\n"
	      "900 c0 - R > A\n"
	      "end 1000\n",
	      "  A  served    80 %  waits for room in the pipe to B\n"
	      "   B compress  80 %  ran\n"
	      " because B runs compress.");
}

/* Who waits for a database's lock before others is a line of its own, as it wants it for something
 * else. */
static void who_is_next_for_a_table_is_said(void **state)
{
#define LOCK " S > - ep_poll|WaitLatch@postgres;ProcSleep@postgres;LockRelationOid@postgres;"
	(void)state;
	gives("thread A *\n"
	      "thread B *\n"
	      "thread C *\n"
	      "0   c0 A renames-to postgres\n"
	      "0   c1 B renames-to postgres\n"
	      "0   c2 C renames-to postgres\n"
	      "90  c1 B" LOCK "AlterTableLookupRelation@postgres for=epoll\n"
	      "100 c0 A" LOCK "parserOpenTable@postgres for=epoll\n"
	      "300 c2 C ran |seq_scan@postgres;exec@postgres\n"
	      "800 c2 C wakes B wake|SetLatch@postgres;LockRelease@postgres;commit@postgres\n"
	      "800 c1 - R > B\n"
	      "850 c1 B wakes A wake|SetLatch@postgres;LockRelease@postgres;commit@postgres\n"
	      "850 c0 - R > A\n"
	      "end 900\n",
	      "  postgres   parserOpenTable     83 %  waits for a table lock\n"
	      "   postgres  AlterTab..Relation  78 %  has it or is next, waits for a table lock\n"
	      "    postgres seq_scan            78 %  holds it, ran\n"
	      " because postgres holds a table lock, and runs seq_scan.");
#undef LOCK
}

/* All threads of a pool wait for what only they could do. */
static void a_pool_that_waits_for_itself_is_said(void **state)
{
#define GET " S > - futex_wait|std::__atomic_futex_wait@libx.so.1;paint;main for=futex:17:0x40\n"
#define TIMES_OUT " - wakes A ttwu_do;tick;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt\n"
	(void)state;
	gives("thread A *\n"
	      "thread B */A\n"
	      "0   c0 A renames-to painter-1\n"
	      "0   c1 B renames-to painter-2\n"
	      "100 c0 A" GET "110 c1 B" GET "900 c0" TIMES_OUT "900 c0 - R > A\n"
	      "end 1000\n",
	      "  painter-* paint  80 %  all 2 wait for the result of a task, in vain\n"
	      " because painter-* waits for the result of a task in paint, as all 2 of that name "
	      "do, "
	      "in vain.");
	gives("thread A *\n"
	      "thread B */A\n"
	      "0   c0 A renames-to painter-1\n"
	      "0   c1 B renames-to painter-2\n"
	      "100 c0 A" GET "900 c0" TIMES_OUT "900 c0 - R > A\n"
	      "end 1000\n",
	      "  painter-* paint  80 %  waits for the result of a task, until its timeout\n"
	      " because painter-* waits for the result of a task in paint.");
#undef GET
#undef TIMES_OUT
}

/* A sleep that nobody ends has no link, and is a step all the same; the lock says who has it. */
static void a_deadlock_is_said(void **state)
{
	(void)state;
	gives("thread A *\n"
	      "thread B *\n"
	      "0   c0 - R > A\n"
	      "200 c0 A S > - futex_wait|pthread_mutex_lock@libc.so.6;transfer;main "
	      "for=futex:17:0x40\n"
	      "200 c0 A held-by B\n"
	      "end 1000\n",
	      "  A transfer  80 %  waits for a lock held by B, never woken\n"
	      " because A waits for a lock in transfer, which is held by B, and is never woken.");
}

/* ---- laws ------------------------------------------------------------------------------------ */

/* What chains came down to has all of their time, the unknown part too, and nothing twice. */
static void ends_add_up(const struct life *l)
{
	uint64_t all_ns = 0, unknown_ns = 0, of_steps_ns = 0;
	uint32_t n_steps;
	const struct chain_step *at = chain_steps_list(l->steps, &n_steps);
	size_t n;
	struct chain_end_sum *sums = chain_ends(l->steps, l->names, &n);

	for (uint32_t k = 1; k < n_steps; k++)
		of_steps_ns += at[k].is_end && at[k].end == CHAIN_UNKNOWN ? at[k].ns : 0;
	for (size_t i = 0; i < n; i++) {
		all_ns += sums[i].ns;
		if (!strncmp(names_text(l->names, sums[i].words), "unknown: ", 9))
			unknown_ns += sums[i].ns;
		assert_true(!i || sums[i].ns <= sums[i - 1].ns);
		for (size_t k = 0; k < i; k++)
			assert_true(sums[k].who != sums[i].who || sums[k].at != sums[i].at ||
				    sums[k].words != sums[i].words);
	}
	assert_int_equal(all_ns, chain_steps_total_ns(l->steps));
	assert_int_equal(unknown_ns, of_steps_ns);
	free(sums);
}

/* Checks each thread that lived. */
static void on_lives(const struct trace *t, void (*check)(struct life *l, uint32_t thread))
{
	struct life l;

	life_begin(&l, t);
	for (uint32_t i = 0; i < timelines_threads(l.timelines); i++) {
		const struct thread *th = timelines_thread(l.timelines, i);

		if (th->begin_ns < th->end_ns)
			check(&l, i);
	}
	life_end(&l);
}

/*
 * A path is a partition of its interval: what a thread's life came down to adds up to its length,
 * to the nanosecond, and each step has what is below it.
 */
static void path_adds_up(struct life *l, uint32_t thread)
{
	const struct thread *th = timelines_thread(l->timelines, thread);
	const struct chain_step *at;
	uint64_t first_ns = 0, ends_ns = 0, *below_ns;
	uint32_t n;

	life_sum_up(l, thread);
	at = chain_steps_list(l->steps, &n);
	below_ns = calloc(n + 1, sizeof(*below_ns));
	assert_non_null(below_ns);
	for (uint32_t k = 1; k < n; k++) {
		first_ns += at[k].above ? 0 : at[k].ns;
		ends_ns += at[k].is_end ? at[k].ns : 0;
		below_ns[at[k].above] += at[k].ns;
		assert_true(at[k].above < k);
		assert_true(at[k].no_cpu_ns <= at[k].ns);
	}
	for (uint32_t k = 1; k < n; k++)
		if (!at[k].is_end)
			assert_int_equal(below_ns[k], at[k].ns);
	free(below_ns);
	assert_int_equal(chain_steps_total_ns(l->steps), th->end_ns - th->begin_ns);
	assert_int_equal(first_ns, th->end_ns - th->begin_ns);
	assert_int_equal(ends_ns, th->end_ns - th->begin_ns);
	ends_add_up(l);
}

static void paths_add_up(const struct trace *t, const char *name, void *arg)
{
	(void)name;
	(void)arg;
	on_lives(t, path_adds_up);
}

/* The most that one process has by itself in [from_ns, to_ns), and what that one has. */
static void most_of_part(struct life *l, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
			 uint32_t of, uint64_t *most_ns, uint64_t *of_ns)
{
	uint64_t *own_ns = calloc(timelines_threads(l->timelines), sizeof(*own_ns));
	struct path_processes p;

	assert_non_null(own_ns);
	path_processes_find(&p, l->timelines, &l->options, thread, from_ns, to_ns);
	for (uint32_t k = 0; k < p.n; k++) {
		own_ns[p.at[k].leader] += p.at[k].ns;
		if (k)
			own_ns[p.at[p.at[k].above].leader] -= p.at[k].ns;
	}
	*most_ns = 0;
	for (uint32_t k = 0; k < timelines_threads(l->timelines); k++)
		*most_ns = own_ns[k] > *most_ns ? own_ns[k] : *most_ns;
	*of_ns = own_ns[of];
	path_processes_free(&p);
	free(own_ns);
}

#define PARTS 7

/* Stretches follow each other, and who is said to have one has most of each of its parts. */
static void stretches_of_life(struct life *l, uint32_t thread)
{
	const struct thread *th = timelines_thread(l->timelines, thread);
	uint64_t len = (th->end_ns - th->begin_ns) / PARTS, at = th->begin_ns;
	struct path_stretch *s;
	size_t n;

	s = path_processes_stretches(l->timelines, &l->options, thread, th->begin_ns, th->end_ns,
				     PARTS, &n);
	assert_in_range(n, 1, PARTS);
	for (size_t k = 0; k < n; k++) {
		assert_int_equal(s[k].from_ns, at);
		assert_true(s[k].to_ns > at);
		while (at < s[k].to_ns) {
			uint64_t to = th->end_ns - at < 2 * len ? th->end_ns : at + len;
			uint64_t most_ns, of_ns;

			most_of_part(l, thread, at, to, s[k].leader, &most_ns, &of_ns);
			assert_int_equal(of_ns, most_ns);
			at = to;
		}
		assert_int_equal(at, s[k].to_ns);
	}
	assert_int_equal(at, th->end_ns);
	free(s);
}

static void stretches_are_of_who_has_most(const struct trace *t, const char *name, void *arg)
{
	(void)name;
	(void)arg;
	on_lives(t, stretches_of_life);
}

static void stretches_of_paths(void **state)
{
	(void)state;
	on_schedules(SCHEDULE_WHOLE, stretches_are_of_who_has_most);
	on_schedules(SCHEDULE_LOSSY, stretches_are_of_who_has_most);
	on_recorded(stretches_are_of_who_has_most, NULL);
}

/*
 * The processes on a path partition it: each has what those below it have, and something of its own
 * perhaps, and the first one has all of it. What is said to be steps is no more than that.
 */
static void processes_of_life(struct life *l, uint32_t thread)
{
	const struct thread *th = timelines_thread(l->timelines, thread);
	struct path_processes p;
	struct long_step *steps;
	uint64_t *below_ns, steps_ns = 0;
	size_t n;

	path_processes_find(&p, l->timelines, &l->options, thread, th->begin_ns, th->end_ns);
	assert_int_equal(p.at[0].ns, th->end_ns - th->begin_ns);
	below_ns = calloc(p.n, sizeof(*below_ns));
	assert_non_null(below_ns);
	for (uint32_t k = 1; k < p.n; k++) {
		assert_true(p.at[k].above < k);
		below_ns[p.at[k].above] += p.at[k].ns;
	}
	for (uint32_t k = 0; k < p.n; k++)
		assert_true(below_ns[k] <= p.at[k].ns);
	steps = path_processes_steps(&p, &n);
	for (size_t k = 0; k < n; k++) {
		steps_ns += steps[k].ns;
		assert_true(!k || steps[k].ns <= steps[k - 1].ns);
	}
	assert_true(steps_ns <= below_ns[0]);
	free(steps);
	free(below_ns);
	path_processes_free(&p);
}

static void processes_add_up(const struct trace *t, const char *name, void *arg)
{
	(void)name;
	(void)arg;
	on_lives(t, processes_of_life);
}

static void processes_of_paths_add_up(void **state)
{
	(void)state;
	on_schedules(SCHEDULE_WHOLE, processes_add_up);
	on_schedules(SCHEDULE_LOSSY, processes_add_up);
	on_recorded(processes_add_up, NULL);
}

static void whole_lives_add_up(void **state)
{
	(void)state;
	on_schedules(SCHEDULE_WHOLE, paths_add_up);
}

static void lossy_lives_add_up(void **state)
{
	(void)state;
	on_schedules(SCHEDULE_LOSSY, paths_add_up);
}

static void recorded_lives_add_up(void **state)
{
	(void)state;
	on_recorded(paths_add_up, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lock_is_the_joint),
		cmocka_unit_test(a_mutex_of_ruby_is_a_lock),
		cmocka_unit_test(a_sleep_of_ruby_is_no_condition),
		cmocka_unit_test(the_function_of_node_is_told),
		cmocka_unit_test(many_files_are_one_line),
		cmocka_unit_test(a_pause_of_its_own_is_a_choice),
		cmocka_unit_test(a_convoy_is_one_line),
		cmocka_unit_test(what_a_chain_said_it_does_not_say_again),
		cmocka_unit_test(methods_of_a_jvm_are_said),
		cmocka_unit_test(what_programs_wait_for_is_said),
		cmocka_unit_test(a_port_gives_way_to_a_name),
		cmocka_unit_test(a_block_is_told_by_its_method),
		cmocka_unit_test(a_busy_handler_is_at_a_lock),
		cmocka_unit_test(a_child_that_is_looked_for_is_waited_for),
		cmocka_unit_test(a_child_that_ends_after_it_woke_who_looks_is_waited_for),
		cmocka_unit_test(what_the_kernel_did_is_said),
		cmocka_unit_test(most_of_what_main_ran_is_said),
		cmocka_unit_test(samples_without_names_of_code_do_not_count),
		cmocka_unit_test(a_quota_is_said),
		cmocka_unit_test(who_used_up_a_quota_is_said),
		cmocka_unit_test(a_pool_of_connections_is_known),
		cmocka_unit_test(own_connections_are_no_pool),
		cmocka_unit_test(a_pipe_has_another_end),
		cmocka_unit_test(who_is_next_for_a_table_is_said),
		cmocka_unit_test(a_pool_that_waits_for_itself_is_said),
		cmocka_unit_test(a_deadlock_is_said),
		cmocka_unit_test(processes_of_paths_add_up),
		cmocka_unit_test(stretches_of_paths),
		cmocka_unit_test(whole_lives_add_up),
		cmocka_unit_test(lossy_lives_add_up),
		cmocka_unit_test(recorded_lives_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
