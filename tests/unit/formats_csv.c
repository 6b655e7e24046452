// SPDX-License-Identifier: GPL-2.0-or-later
/* --format=csv: what is written, to the byte. */
#include "test.h"

#include "export_read.h"

#define STACK_HEADER                                                                               \
	"start_ns,wake_ns,end_ns,wall_time,thread,tid,pid,process,kind,state,flags,"               \
	"blocked_ns,runnable_ns,preempted_ns,waker,waker_tid,waker_pid,waker_handler,waker_stack," \
	"end_running_ns,end_runnable_ns,end_interrupt_ns,end_not_woken_ns,end_unknown_ns,"         \
	"end_depth_limit_ns,end_loop_ns,end_timer_ns,end_network_ns,end_disk_ns,stack"
#define CSV_HEADER STACK_HEADER "\n"

TEST(a_row_is_a_wait)
{
	struct options o = script_options(101);

	o.parts = PART_BLOCKED | PART_RUNNABLE | PART_PREEMPTED;
	expect_text(script_formatted(script_chain, &o, "csv"),
		    CSV_HEADER "100000,900000,930000,,A,101,101,A,sleep,S,,800000,30000,0,"
			       "B,102,102,,kwake;ksend;-;usend,400000,0,0,0,0,0,0,400000,0,0,"
			       "umain;usleep;-;ksys;ksleep\n"
			       "950000,,970000,,A,101,101,A,preempted,R,,0,0,20000,"
			       ",,,,,0,0,0,0,0,0,0,0,0,0,upre;-;kpre\n"
			       "1000000,,2000000,,A,101,101,A,sleep,S,not_woken still,1000000,0,0,"
			       ",,,,,0,0,0,1000000,0,0,0,0,0,0,umain;usleep;-;ksys;ksleep\n");
}

TEST(an_interrupt_as_waker_has_a_handler)
{
	struct options o = script_options(102);

	o.user = false;
	expect_text(script_formatted(script_chain, &o, "csv"),
		    CSV_HEADER "300000,700000,700000,,B,102,102,B,sleep,D,,400000,0,0,"
			       "[interrupt],,,hrtimer_wakeup,try_to_wake_up;hrtimer_wakeup;"
			       "__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt,"
			       "0,0,0,0,0,0,0,400000,0,0,klock\n");
}

TEST(csv_shows_what_options_choose)
{
	struct options o = script_options(101);

	o.top = 2;
	o.depth = 1;
	o.kernel = false;
	/* The longest ones first; B slept from 300 to 700, and that is beyond the depth. */
	expect_text(script_formatted(script_chain, &o, "csv"),
		    CSV_HEADER "1000000,,2000000,,A,101,101,A,sleep,S,not_woken still,1000000,0,0,"
			       ",,,,,0,0,0,1000000,0,0,0,0,0,0,umain;usleep\n"
			       "100000,900000,930000,,A,101,101,A,sleep,S,,800000,30000,0,"
			       "B,102,102,,usend,400000,0,0,0,0,400000,0,0,0,0,umain;usleep\n");
	o = script_options(101);
	o.parts = PART_BLOCKED;
	o.from_ns = 650000;
	o.to_ns = 750000;
	o.kernel = false;
	o.mode = MODE_CLASSIC;
	/* The times are the whole wait's, the amounts what is shown; classic gives all to one end.
	 */
	expect_text(script_formatted(script_chain, &o, "csv"),
		    CSV_HEADER "100000,900000,930000,,A,101,101,A,sleep,S,,100000,0,0,"
			       "B,102,102,,usend,0,0,0,0,0,0,0,100000,0,0,umain;usleep\n");
}

/*
 * B worked for A for 400 us, of which three samples of four say sort, and waited for C, which ran
 * for as long, in copy by its one sample: copy has more of the time, sort more of the samples.
 */
TEST(stacks_that_wakers_ran_have_columns)
{
	struct options o = script_options(101);

	expect_text(script_formatted("0   c0 - R > B\n"
				     "0   c1 - R > A\n"
				     "0   c2 - R > C\n"
				     "100 c1 A S > - recv\n"
				     "150 c0 B ran |sort;main\n"
				     "200 c0 B ran |sort;main\n"
				     "250 c0 B ran copy|sort;main\n"
				     "300 c0 B S > - lock\n"
				     "500 c2 C ran copy|sort;main\n"
				     "700 c2 C wakes B wake\n"
				     "700 c0 - R > B\n"
				     "800 c0 B ran |sort;main\n"
				     "900 c0 B wakes A send\n"
				     "900 c1 - R > A\n"
				     "end 950\n",
				     &o, "csv"),
		    STACK_HEADER ",ran_1,ran_1_ns,ran_2,ran_2_ns,ran_3,ran_3_ns\n"
				 "100000,900000,900000,,A,101,101,A,sleep,S,,800000,0,0,"
				 "B,102,102,,send,800000,0,0,0,0,0,0,0,0,0,recv,"
				 "main;sort;-;copy,500000,main;sort,300000,,\n");
}

/* What a process may call itself, and what a function may be called, stays in its field. */
TEST(hostile_names_stay_in_their_fields)
{
	static const struct {
		const char *name, *written;
	} names[] = {
		{ "a,b", "\"a,b\"" },
		{ "a\"b", "\"a\"\"b\"" },
		{ "\"", "\"\"\"\"" },
		{ "a\nb\r", "a?b?" },
		{ "\",\"\n1,2", "\"\"\",\"\"?1,2\"" },
		{ "\377\033[31m", "??[31m" },
		{ "a;b", "a:b" },
		{ " a ", " a " },
		/* No spreadsheet takes them for a formula. */
		{ "=1+1", "'=1+1" },
		{ "+1", "'+1" },
		{ "-1", "'-1" },
		{ "@x", "'@x" },
		{ "=a,b\"", "\"'=a,b\"\"\"" },
		{ "a=b", "a=b" },
		{ "", "[unknown]" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct synth *m = synth_new();
		struct options o;
		struct trace *t;
		char expected[1024];
		struct bytes b;

		synth_thread_full(m, &(struct encoder_thread) {
					     .tid = 7,
					     .tgid = 7,
					     .state = 'S',
					     .name = encoder_text(synth_encoder(m), names[i].name),
					     .kstack = synth_kstack(m, "x,\"y;z") });
		synth_end(m, 1000);
		t = synth_open(m);
		options_init(&o);
		b = trace_exported(t, &o, "csv");
		snprintf(expected, sizeof(expected),
			 CSV_HEADER "0,,1000,,%s,7,7,%s,sleep,S,not_woken since_start "
				    "still,1000,0,0,,,,,,0,0,0,1000,0,0,0,0,0,0,"
				    "\"z;x,\"\"y\"\n",
			 names[i].written, *names[i].name ? names[i].written : "");
		expect_text((char *)b.p, expected);
		trace_close(t);
		synth_free(m);
	}
}

TEST(rows_of_requests_have_more_columns)
{
	struct options o = script_options(119);

	o.requests = true;
	expect_text(
		script_formatted(script_requests, &o, "csv"),
		"start_ns,wake_ns,end_ns,wall_time,thread,tid,pid,process,kind,state,flags,"
		"blocked_ns,runnable_ns,preempted_ns,waker,waker_tid,waker_pid,waker_handler,"
		"waker_stack,end_running_ns,end_runnable_ns,end_interrupt_ns,end_not_woken_ns,"
		"end_unknown_ns,end_depth_limit_ns,end_loop_ns,end_timer_ns,end_network_ns,end_"
		"disk_ns,stack,object,endpoint,taken_ns,connection,reader_tid,marks,label,"
		"route,trace_id,span_id,over_ns\n"
		"45000,250000,250000,,[request tcp :80 /cart] "
		"S,119,119,S,sleep,S,,205000,0,0,S,119,119,,[unknown "
		"stack],205000,0,0,0,0,0,0,0,0,0,,tcp :80,tcp :80 "
		"/cart,50000,1,119,,,/cart,00000000010000000000000000c0ffee,0000000000000007,0\n"
		"100000,900000,900000,,[request tcp :80 first] "
		"S,119,119,S,sleep,S,,800000,0,0,S,119,119,,send;work,800000,0,0,0,0,0,0,0,0,0,"
		",tcp :80,tcp :80 first,300000,2,119,first,,,,,0\n"
		"910000,950000,950000,,[request f] "
		"S,119,119,S,sleep,S,,40000,0,0,S,119,119,,[unknown "
		"stack],40000,0,0,0,0,0,0,0,0,0,,request f,f,910000,,119,probed,\"x,y\",,,,0\n");
}

TEST(wall_time_is_utc_to_the_nanosecond)
{
	struct synth *m = synth_new();
	struct options o;
	struct trace *t;
	char *text;

	/* 2000-02-29 23:59:59.5 is when the trace's clock was at 0. */
	synth_info(m, &(struct chainlog_info) {
			      .host = "h", .cpus = 1, .wall_ns = 951868799500000000 });
	synth_thread(m, 7, "seven");
	synth_switch(m, 0, 1500000007, 7, 'S', 0, "wait");
	synth_end(m, 2000000000);
	t = synth_open(m);
	options_init(&o);
	text = (char *)trace_exported(t, &o, "csv").p;
	assert_non_null(strstr(text, ",2000-03-01T00:00:01.000000007Z,seven,7,"));
	free(text);
	trace_close(t);
	synth_free(m);
}
