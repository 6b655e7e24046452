// SPDX-License-Identifier: GPL-2.0-or-later
/* Sleeps in event loops that other requests ended (chain-semantics, section 14). */
#include "test.h"
#include <stdio.h>

#include "oracle_script.h"
#include "synth_script.h"

#define PACKET "ready;net_rx_action;asm_common_interrupt;mwait;do_idle"

/* What begins with that, of both engines: of requests, or of threads. */
static void folds(const char *script, bool requests, const char *begin, const char *expected)
{
	both_fold(script,
		  (struct oracle_asked) { .depth = OPTIONS_DEPTH_DEFAULT, .requests = requests },
		  begin, expected);
}

/*
 * S takes a request at 100, asks D, and sleeps in its loop from 200 on. Another request comes at
 * 300; S reads it, and sleeps again from 320 on, until D answers at 900. S answers at 950. C, which
 * sleeps from 150 on, is woken with it.
 */
#define SERVED(other)                                                                     \
	"0   c0 - R > S\n"                                                                \
	"0   c1 - R > D\n"                                                                \
	"0   c3 - R > C\n"                                                                \
	"150 c3 C S > - recv\n"                                                           \
	"200 c0 S S > - poll for=epoll:S:4\n"                                             \
	"300 c2 - wakes S " PACKET "\n"                                                   \
	"300 c0 - R > S\n"                                                                \
	"320 c0 S S > - poll for=epoll:S:4\n"                                             \
	"900 c1 D wakes S reply\n"                                                        \
	"900 c0 - R > S\n"                                                                \
	"950 c0 S wakes C send\n"                                                         \
	"950 c3 - R > C\n"                                                                \
	"950 c0 S request tcp::80 arrived=100 taken=100 conn=1 answered=950 stack=send\n" \
	"980 c0 S request tcp::81 " other " conn=2 answered=980\n"                        \
	"end 1000\n"

#define OF_80 "[request tcp :80] S;"

TEST(example_the_wait_goes_on_to_what_the_answer_needed)
{
	folds(SERVED("arrived=300 taken=310"), true, OF_80,
	      OF_80 "--;send;S;--;reply;D;[running] 680000\n" OF_80 "--;send;S;[running] 170000\n");
}

/* C is woken right behind the answer, or when S has slept in between; or it works for another. */
TEST(a_waking_behind_the_answer_is_one_of_it)
{
#define BEHIND(then)                                                                           \
	"0   c0 - R > S\n"                                                                     \
	"0   c1 - R > D\n"                                                                     \
	"0   c3 - R > C\n"                                                                     \
	"150 c3 C S > - recv\n"                                                                \
	"200 c0 S S > - poll for=epoll:S:4\n"                                                  \
	"300 c2 - wakes S tick;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt\n"         \
	"300 c0 - R > S\n"                                                                     \
	"320 c0 S S > - poll for=epoll:S:4\n"                                                  \
	"900 c1 D wakes S reply\n"                                                             \
	"900 c0 - R > S\n"                                                                     \
	"950 c0 S request unix:/s arrived=100 taken=100 conn=1 answered=949 stack=send\n" then \
	"970 c0 S wakes C send\n"                                                              \
	"970 c3 - R > C\n"                                                                     \
	"end 1000\n"
	folds(BEHIND(""), false, "C;",
	      "C;recv;--;send;S;--;reply;D;[running] 680000\n"
	      "C;recv;--;send;S;[running] 140000\n");
	folds(BEHIND("955 c0 S R > -\n960 c0 - R > S\n"), false, "C;recv;--;send;S;--;reply;",
	      "C;recv;--;send;S;--;reply;D;[running] 580000\n");
}

/* The other request came before the sleep, or after it; or this one was taken after its begin. */
TEST(only_a_request_that_came_in_the_sleep_ends_it)
{
	static const char packet[] = OF_80
		"--;send;S;--;ready;net_rx_action;asm_common_interrupt;[network] 100000\n" OF_80
		"--;send;S;--;reply;D;[running] 580000\n" OF_80 "--;send;S;[running] 170000\n";

	folds(SERVED("arrived=199.999 taken=310"), true, OF_80, packet);
	folds(SERVED("arrived=300.001 taken=310"), true, OF_80, packet);
	folds(SERVED("arrived=200 taken=310"), true, OF_80,
	      OF_80 "--;send;S;--;reply;D;[running] 680000\n" OF_80 "--;send;S;[running] 170000\n");
}

/* As SERVED(), but a timer ends the first sleep, and no other request came. */
#define TIMED(between, then)                                                                       \
	"0   c0 - R > S\n"                                                                         \
	"0   c1 - R > D\n"                                                                         \
	"0   c3 - R > C\n"                                                                         \
	"150 c3 C S > - recv\n"                                                                    \
	"200 c0 S S > - poll for=epoll:S:4\n"                                                      \
	"300 c2 - wakes S tick;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt\n"             \
	"300 c0 - R > S\n" between "1800 c0 S S > - poll for=epoll:S:4\n" then "2000 c0 - R > S\n" \
	"2050 c0 S request tcp::80 arrived=100 taken=100 conn=1 answered=2050 stack=send\n"        \
	"end 2100\n"
#define REPLIES "2000 c1 D wakes S reply\n"

TEST(example_a_timer_of_the_loop_does_not_end_the_wait)
{
	folds(TIMED("320 c0 S R > X\n1790 c0 X S > S\n", REPLIES), true, OF_80,
	      OF_80 "--;send;S;--;reply;D;[running] 300000\n" OF_80
		    "--;send;S;[runnable] 1470000\n" OF_80 "--;send;S;[running] 180000\n");
}

/* Whom an interrupt wakes meanwhile, or a softirq of others, the loop's thread has not woken. */
TEST(interrupts_that_hit_the_loop_are_not_its_work)
{
	static const char *const stacks[] = { "done;blk_complete_reqs;__local_bh_enable_ip;send",
					      "tick;hrtimer_interrupt;asm_sysvec_x;f" };
	char script[1500];

	for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++) {
		snprintf(script, sizeof(script),
			 TIMED("310 c0 S wakes C %s\n310 c3 - R > C\n320 c0 S R > X\n"
			       "1790 c0 X S > S\n",
			       REPLIES),
			 stacks[i]);
		folds(script, true, OF_80,
		      OF_80 "--;send;S;--;reply;D;[running] 300000\n" OF_80
			    "--;send;S;[runnable] 1470000\n" OF_80 "--;send;S;[running] 180000\n");
	}
}

/* It led to work: to more of it, to somebody woken, to another sleep; or to what a packet ended. */
TEST(a_timer_that_led_to_work_is_what_was_waited_for)
{
#define TIMER \
	OF_80 \
	"--;send;S;--;tick;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt;[timer] 100000\n"
	folds(TIMED("", REPLIES), true, OF_80,
	      OF_80 "--;send;S;--;reply;D;[running] 200000\n" TIMER OF_80
		    "--;send;S;[running] 1650000\n");
	folds(TIMED("310 c0 S wakes C ask\n310 c3 - R > C\n320 c0 S R > X\n1790 c0 X S > S\n",
		    REPLIES),
	      true, OF_80,
	      OF_80 "--;send;S;--;reply;D;[running] 200000\n" TIMER OF_80
		    "--;send;S;[runnable] 1470000\n" OF_80 "--;send;S;[running] 180000\n");
	folds(TIMED("320 c0 S S > - nap\n1790 c1 D wakes S nudge\n1790 c0 - R > S\n", REPLIES),
	      true, OF_80,
	      OF_80 "--;send;S;--;nudge;D;[running] 1470000\n" OF_80
		    "--;send;S;--;reply;D;[running] 200000\n" TIMER OF_80
		    "--;send;S;[running] 180000\n");
	folds(TIMED("320 c0 S R > X\n1790 c0 X S > S\n", "2000 c2 - wakes S " PACKET "\n"), true,
	      OF_80,
	      OF_80
	      "--;send;S;--;ready;net_rx_action;asm_common_interrupt;[network] 200000\n" TIMER OF_80
	      "--;send;S;[runnable] 1470000\n" OF_80 "--;send;S;[running] 180000\n");
}

/*
 * S has another request at 50, for which it asks E, takes one at 100, for which it asks D, and
 * sleeps in its loop from 200 on. E answers at 300; so does S, and sleeps from 320 on, until D
 * answers at 900, which it was asked at that time.
 */
#define ASKED(arrival, by)                                                                \
	"0   c0 - R > S\n"                                                                \
	"0   c1 - R > D\n"                                                                \
	"0   c2 - R > E\n"                                                                \
	"200 c0 S S > - poll for=epoll:S:4\n"                                             \
	"300 c2 E wakes S replied\n"                                                      \
	"300 c0 - R > S\n"                                                                \
	"301 c2 E request tcp::91 arrived=60 taken=60 conn=3 answered=301\n"              \
	"310 c0 S request tcp::81 arrived=50 taken=50 conn=2 answered=310\n"              \
	"320 c0 S S > - poll for=epoll:S:4\n"                                             \
	"900 c1 " by "\n"                                                                 \
	"900 c0 - R > S\n"                                                                \
	"901 c1 D request tcp::90 arrived=" arrival " taken=400 conn=4 answered=901\n"    \
	"950 c0 S request tcp::80 arrived=100 taken=100 conn=1 answered=950 stack=send\n" \
	"end 1000\n"

TEST(example_a_reply_for_another_request_does_not_end_the_wait)
{
	static const char of_d[] = OF_80 "--;send;S;--;reply;D;[running] 680000\n" OF_80
					 "--;send;S;[running] 170000\n";
	static const char of_e[] = OF_80 "--;send;S;--;replied;E;[running] 100000\n" OF_80
					 "--;send;S;--;reply;D;[running] 580000\n" OF_80
					 "--;send;S;[running] 170000\n";

	folds(ASKED("260", "D wakes S reply"), true, OF_80, of_d);
	folds(ASKED("300", "D wakes S reply"), true, OF_80, of_d);
	/* It was asked only then. */
	folds(ASKED("300.001", "D wakes S reply"), true, OF_80, of_e);
	/* What D was asked is not what ended the sleep. */
	folds(ASKED("99", "- wakes S " PACKET), true, OF_80,
	      OF_80 "--;send;S;--;ready;net_rx_action;asm_common_interrupt;[network] 580000\n" OF_80
		    "--;send;S;--;replied;E;[running] 100000\n" OF_80
		    "--;send;S;[running] 170000\n");
}

/*
 * S asks D, until 300, and then F, until 900. Before each of them answers, E does, for another
 * request: at 200 and at 500.
 */
#define TWO_STAGES(asked, by)                                                             \
	"0   c0 - R > S\n"                                                                \
	"0   c1 - R > D\n"                                                                \
	"0   c2 - R > E\n"                                                                \
	"0   c3 - R > F\n"                                                                \
	"150 c0 S S > - poll for=epoll:S:4\n"                                             \
	"200 c2 E wakes S replied\n"                                                      \
	"200 c0 - R > S\n"                                                                \
	"210 c0 S S > - poll for=epoll:S:4\n"                                             \
	"300 c1 D wakes S looked\n"                                                       \
	"300 c0 - R > S\n"                                                                \
	"301 c1 D request tcp::90 arrived=" asked " taken=160 conn=4 answered=301\n"      \
	"320 c0 S S > - poll for=epoll:S:4\n"                                             \
	"500 c2 E wakes S replied\n"                                                      \
	"500 c0 - R > S\n"                                                                \
	"510 c0 S request tcp::81 arrived=50 taken=50 conn=2 answered=510\n"              \
	"520 c0 S S > - poll for=epoll:S:4\n"                                             \
	"900 c3 " by "\n"                                                                 \
	"900 c0 - R > S\n"                                                                \
	"901 c3 F request tcp::92 arrived=310 taken=400 conn=5 answered=901\n"            \
	"950 c0 S request tcp::80 arrived=100 taken=100 conn=1 answered=950 stack=send\n" \
	"end 1000\n"

/* Of a reply from far away it is not known when it was asked for, so of none before it for whom. */
TEST(each_reply_is_for_what_was_asked_for_before_it)
{
	folds(TWO_STAGES("160", "F wakes S reply"), true, OF_80,
	      OF_80 "--;send;S;--;looked;D;[running] 140000\n" OF_80
		    "--;send;S;--;reply;F;[running] 560000\n" OF_80 "--;send;S;[running] 150000\n");
	folds(TWO_STAGES("160", "- wakes S " PACKET), true, OF_80,
	      OF_80 "--;send;S;--;looked;D;[running] 90000\n" OF_80
		    "--;send;S;--;ready;net_rx_action;asm_common_interrupt;[network] 380000\n" OF_80
		    "--;send;S;--;replied;E;[running] 230000\n" OF_80
		    "--;send;S;[running] 150000\n");
	/* What it was passed on for is known by itself. */
	folds(TWO_STAGES("150", "- wakes S " PACKET), true, OF_80,
	      OF_80 "--;send;S;--;looked;D;[running] 140000\n" OF_80
		    "--;send;S;--;ready;net_rx_action;asm_common_interrupt;[network] 380000\n" OF_80
		    "--;send;S;--;replied;E;[running] 180000\n" OF_80
		    "--;send;S;[running] 150000\n");
}

/*
 * S asks D for what it took at 100, and E for what it took at 50. E's answer ends the only sleep,
 * or the second one; D's comes at a time of its own, with S's behind it.
 */
#define BATCH(arrival, more, answer)                                                             \
	"0   c0 - R > S\n"                                                                       \
	"0   c1 - R > D\n"                                                                       \
	"0   c2 - R > E\n"                                                                       \
	"200 c0 S S > - poll for=epoll:S:4\n" more "850 c2 E wakes S replied\n"                  \
	"880 c0 - R > S\n"                                                                       \
	"890 c2 E request tcp::91 arrived=60 taken=60 conn=3 answered=851\n"                     \
	"910 c0 S request tcp::81 arrived=50 taken=50 conn=2 answered=910\n"                     \
	"950 c0 S request tcp::80 arrived=100 taken=100 conn=1 answered=950 stack=send\n"        \
	"960 c1 D request tcp::90 arrived=" arrival " taken=" arrival " conn=4 answered=" answer \
	" stack=give\n"                                                                          \
	"980 c1 D R > X\n"                                                                       \
	"end 1000\n"

TEST(example_a_request_that_is_passed_on_waits_for_that_answer)
{
	static const char of_d[] =
		OF_80 "--;send;S;--;give;D;[running] 650000\n" OF_80
		      "--;send;S;[runnable] 30000\n" OF_80 "--;send;S;[running] 170000\n";
	static const char of_e[] =
		OF_80 "--;send;S;--;replied;E;[running] 650000\n" OF_80
		      "--;send;S;[runnable] 30000\n" OF_80 "--;send;S;[running] 170000\n";

	folds(BATCH("140", "", "870"), true, OF_80, of_d);
	folds(BATCH("100", "", "850"), true, OF_80, of_d);
	folds(BATCH("200", "", "949.999"), true, OF_80, of_d);
	/* It came before or after, was answered while S slept on, or behind S's own answer. */
	folds(BATCH("99.999", "", "870"), true, OF_80, of_e);
	folds(BATCH("200.001", "", "870"), true, OF_80, of_e);
	folds(BATCH("140", "", "849.999"), true, OF_80, of_e);
	folds(BATCH("140", "", "950"), true, OF_80, of_e);
	/* All sleeps before it are for that answer, and none behind it. */
	folds(BATCH("140",
		    "300 c2 E wakes S replied\n300 c0 - R > S\n350 c0 S S > - poll for=epoll:S:4\n",
		    "870"),
	      true, OF_80,
	      OF_80 "--;send;S;--;give;D;[running] 600000\n" OF_80
		    "--;send;S;[runnable] 30000\n" OF_80 "--;send;S;[running] 220000\n");
	folds(BATCH("140",
		    "300 c2 E wakes S replied\n300 c0 - R > S\n350 c0 S S > - poll for=epoll:S:4\n",
		    "340"),
	      true, OF_80,
	      OF_80 "--;send;S;--;give;D;[running] 100000\n" OF_80
		    "--;send;S;--;replied;E;[running] 500000\n" OF_80
		    "--;send;S;[runnable] 30000\n" OF_80 "--;send;S;[running] 220000\n");
}

/* For C, which S wakes while it answers one request only; then while it answers two. */
TEST(threads_wait_for_the_only_request_that_is_answered)
{
	folds(SERVED("arrived=300 taken=950"), false, "C;",
	      "C;recv;--;send;S;--;reply;D;[running] 680000\n"
	      "C;recv;--;send;S;[running] 120000\n");
	folds(SERVED("arrived=300 taken=310"), false, "C;",
	      "C;recv;--;send;S;--;ready;net_rx_action;asm_common_interrupt;[network] 100000\n"
	      "C;recv;--;send;S;--;reply;D;[running] 580000\n"
	      "C;recv;--;send;S;[running] 120000\n");
}

/* The other request came in two sleeps: both go on in the last one, across a lock. */
TEST(all_of_them_go_on_in_the_last_one)
{
	folds("0   c0 - R > S\n"
	      "0   c1 - R > D\n"
	      "0   c3 - R > L\n"
	      "200 c0 S S > - poll for=epoll:S:4\n"
	      "300 c2 - wakes S " PACKET "\n"
	      "300 c0 - R > S\n"
	      "310 c0 S S > - lock for=futex:m\n"
	      "350 c3 L wakes S unlock\n"
	      "350 c0 - R > S\n"
	      "360 c0 S S > - wait for=io_uring:S:5\n"
	      "400 c2 - wakes S " PACKET "\n"
	      "400 c0 - R > S\n"
	      "410 c0 S S > - poll for=epoll:S:4\n"
	      "500 c1 D wakes S reply\n"
	      "500 c0 - R > S\n"
	      "600 c0 S request tcp::80 arrived=100 taken=100 conn=1 answered=600 stack=send\n"
	      "700 c0 S request tcp::81 arrived=300 taken=301 conn=2 answered=700\n"
	      "800 c0 S request tcp::81 arrived=390 taken=610 conn=3 answered=800\n"
	      "end 1000\n",
	      true, OF_80,
	      OF_80 "--;send;S;--;reply;D;[running] 230000\n" OF_80
		    "--;send;S;--;unlock;L;[running] 40000\n" OF_80 "--;send;S;[running] 230000\n");
}
