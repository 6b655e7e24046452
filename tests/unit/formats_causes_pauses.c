// SPDX-License-Identifier: GPL-2.0-or-later
/* --format=causes: which waiting is a pause by choice or for lack of work, and which is none. */
#include "test.h"
#include <stdlib.h>
#include <string.h>

#include "synth_script.h"

#define MORE "         "

/* Whether what comes first is among the causes, and not among the pauses. */
static void is_cause(const char *script, const char *sentence, bool expected)
{
	struct options o;
	char *got, *all, *at;

	options_init(&o);
	got = script_formatted(script, &o, "causes");
	all = strstr(got, " all of them\n");
	at = strstr(got, sentence);
	if (!at || !all || (at < all) != expected)
		fail_msg("%s", got);
	free(got);
}

#define NAPS(asks, request)                                                             \
	"0    c0 - R > A\n"                                                             \
	"1    c1 - R > B\n"                                                             \
	"2    c1 B S > - wait|recv;serve for=pipe:12\n" asks "20   c1 - R > B\n"        \
	"30   c0 A S > - wait|recv;ask for=pipe:13\n"                                   \
	"100  c1 B S > - nap|sleep;serve for=sleep:1ms\n"                               \
	"1100 c1 - wakes B tick;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt\n" \
	"1100 c1 - R > B\n" request "1200 c1 B wakes A wake|send;serve\n"               \
	"1200 c0 - R > A\n"                                                             \
	"end 2000\n"

/* A waits for B, which naps: only if A asked B before, or B works for a request, is that a cause.
 */
TEST(a_nap_counts_when_somebody_waits_for_it)
{
	is_cause(NAPS("5 c2 - R > C\n10 c2 C wakes B wake|send\n", ""), "B/102 slept in nap",
		 false);
	is_cause(NAPS("10 c0 A wakes B wake|send;ask\n", ""), "B/102 slept in nap", true);
	is_cause(NAPS("5 c2 - R > C\n10 c2 C wakes B wake|send\n",
		      "1150 c1 B request tcp::80 conn=1 arrived=15 taken=21 answered=1150\n"),
		 "B/102 slept in nap", true);
}

/* A waits for room in a pipe that B reads, who naps; and then for what B writes. */
TEST(a_nap_of_who_should_read_counts)
{
#define PIPE(slept)                                                                     \
	"0    c0 - R > A\n"                                                             \
	"1    c1 - R > B\n"                                                             \
	"30   c0 A S > - " slept " for=pipe:12\n"                                       \
	"100  c1 B S > - nap|sleep;serve for=sleep:1ms\n"                               \
	"1100 c1 - wakes B tick;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt\n" \
	"1100 c1 - R > B\n"                                                             \
	"1200 c1 B wakes A wake|use;serve\n"                                            \
	"1200 c0 - R > A\n"                                                             \
	"end 2000\n"
	is_cause(PIPE("anon_pipe_write|write;tell"), "B/102 slept in nap", true);
	is_cause(PIPE("anon_pipe_read|read;hear"), "B/102 slept in nap", false);
}

#define TIMER "tick;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt\n"

/* Example of section 17: A has asked B, which waits for a lock that S holds while it naps. */
TEST(a_nap_under_a_lock_counts_for_who_waits_for_an_answer)
{
	is_cause("0    c0 - R > A\n"
		 "0    c1 - R > B\n"
		 "0    c2 - R > S\n"
		 "10   c1 B S > - do_epoll_wait|loop for=epoll:9\n"
		 "50   c0 A wakes B wake|ask\n"
		 "50   c1 - R > B\n"
		 "60   c0 A S > - wait|recv;ask for=unix:B/102\n"
		 "100  c1 B S > - do_epoll_wait|take_row for=epoll:9\n"
		 "200  c2 S S > - nap|sleep;hold for=sleep:500us\n"
		 "700  c2 - wakes S " TIMER "700  c2 - R > S\n"
		 "800  c2 S wakes B wake|unlock;hold\n"
		 "800  c1 - R > B\n"
		 "900  c1 B wakes A wake|reply\n"
		 "900  c0 - R > A\n"
		 "end 2000\n",
		 "S/119 slept in nap", true);
}

/* A blocking command of a server: B answers A when C, which naps, has sent something. */
TEST(a_nap_before_an_answer_counts)
{
	is_cause("0    c0 - R > A\n"
		 "0    c1 - R > B\n"
		 "0    c2 - R > C\n"
		 "10   c1 B S > - do_epoll_wait|loop for=epoll:9\n"
		 "50   c0 A wakes B wake|ask\n"
		 "50   c1 - R > B\n"
		 "60   c0 A S > - wait|recv;ask for=tcp:B/102\n"
		 "70   c1 B S > - do_epoll_wait|loop for=epoll:9\n"
		 "100  c2 C S > - nap|sleep;rest for=sleep:500us\n"
		 "700  c2 - wakes C " TIMER "700  c2 - R > C\n"
		 "710  c2 C wakes B wake|push\n"
		 "710  c1 - R > B\n"
		 "720  c1 B wakes A wake|reply\n"
		 "720  c0 - R > A\n"
		 "end 2000\n",
		 "C/103 slept in nap", true);
}

/* Who waits for a child, or for the end of a thread, waits also while that naps. */
TEST(a_nap_of_a_child_counts)
{
#define CHILD(slept, woke)                                 \
	"born B\n"                                         \
	"0    c0 - R > A\n"                                \
	"10   c0 A forks B\n"                              \
	"10   c1 A new B clone|start\n"                    \
	"20   c1 - R > B\n"                                \
	"30   c0 A S > - " slept "\n"                      \
	"100  c1 B S > - nap|sleep;rest for=sleep:500us\n" \
	"600  c1 - wakes B " TIMER "600  c1 - R > B\n"     \
	"650  c1 B wakes A " woke "\n"                     \
	"650  c0 - R > A\n"                                \
	"end 2000\n"
	is_cause(CHILD("do_wait|wait4;main for=child:102~B", "do_notify_parent;do_exit|exit"),
		 "B/102 slept in nap", true);
	is_cause(CHILD("futex_wait|pthread_join;main for=futex:7", "mm_release;do_exit|exit"),
		 "B/102 slept in nap", true);
	/* It has only been told that there is something to do. */
	is_cause(CHILD("futex_wait|take;main for=futex:7", "futex_wake|put;main"),
		 "B/102 slept in nap", false);
}

/* A lock that is known by the kernel's function alone; and one for which A does not wait on. */
TEST(a_wait_at_a_lock_is_none_of_choice)
{
	is_cause("0    c0 - R > A\n"
		 "0    c1 - R > B\n"
		 "30   c0 A S > - schedule;locks_lock_inode_wait;flock_lock|f for=file:/l\n"
		 "100  c1 B S > - nap|sleep;hold for=sleep:500us\n"
		 "600  c1 - wakes B " TIMER "600  c1 - R > B\n"
		 "650  c1 B wakes A wake|close\n"
		 "650  c0 - R > A\n"
		 "end 2000\n",
		 "B/102 held file /l", true);
	is_cause("0    c0 - R > A\n"
		 "30   c0 A S > - futex_wait|pthread_mutex_timedlock;f for=futex:7\n"
		 "90000 c0 - wakes A " TIMER "90000 c0 A R > B\n"
		 "90010 c0 B S > A\n"
		 "end 100000\n",
		 "A/101 slept in futex_wait", true);
}

/* D naps, and then has something for R, which passes it on to A: nobody had asked. */
TEST(who_waits_for_work_waits_for_whoever_brings_it)
{
#define WORK(before)                                                                    \
	"0    c0 - R > A\n"                                                             \
	"0    c1 - R > R\n"                                                             \
	"0    c2 - R > D\n" before "80   c0 A S > - futex_wait|take;work for=futex:8\n" \
	"90   c1 R S > - anon_pipe_read|read;relay for=pipe:12\n"                       \
	"110  c2 D S > - nap|sleep;rest for=sleep:500us\n"                              \
	"700  c2 - wakes D " TIMER "700  c2 - R > D\n"                                  \
	"710  c2 D wakes R anon_pipe_write|write;send\n"                                \
	"710  c1 - R > R\n"                                                             \
	"720  c1 R wakes A futex_wake|put;relay\n"                                      \
	"720  c0 - R > A\n"                                                             \
	"end 2000\n"
	is_cause(WORK(""), "D/104 slept in nap", false);
	/* To release a lock is no question; to wake who waits for something is one. */
	is_cause(WORK("10 c1 R S > - futex_wait|pthread_mutex_lock;put for=futex:9\n"
		      "20 c0 A wakes R futex_wake|pthread_mutex_unlock\n20 c1 - R > R\n"),
		 "D/104 slept in nap", false);
	is_cause(WORK("10 c1 R S > - anon_pipe_read|read;relay for=pipe:13\n"
		      "20 c0 A wakes R anon_pipe_write|write;ask\n20 c1 - R > R\n"),
		 "D/104 slept in nap", true);
}

/* A poll() that times out is a pause, unless it waits for somebody's message. */
TEST(a_timeout_of_a_question_is_no_pause)
{
#define POLL(what)                                                                      \
	"0    c0 - R > A\n"                                                             \
	"100  c0 A S > - do_sys_poll|poll;ask for=poll:" what "\n"                      \
	"1100 c0 - wakes A tick;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt\n" \
	"1100 c0 A R > B\n"                                                             \
	"1110 c0 B S > A\n"                                                             \
	"end 2000\n"
	is_cause(POLL("udp~10.0.0.53:53"), "A/101 slept in do_sys_poll", true);
	is_cause(POLL("tcp~:80"), "A/101 slept in do_sys_poll", false);
}

/* In state D a thread waits for a device, also if a timer ends that. */
TEST(an_uninterruptible_sleep_is_no_pause)
{
#define SLEEP(letter)                                                                   \
	"0    c0 - R > A\n"                                                             \
	"100  c0 A " letter " > - rq_qos_wait|write;flush\n"                            \
	"1100 c0 - wakes A tick;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt\n" \
	"1100 c0 A R > B\n"                                                             \
	"1110 c0 B S > A\n"                                                             \
	"end 2000\n"
	is_cause(SLEEP("D"), "A/101 slept in rq_qos_wait", true);
	is_cause(SLEEP("S"), "A/101 slept in rq_qos_wait", false);
}

/* Of a thread that only waits for work it is said where, and not what others did meanwhile. */
TEST(who_has_no_work_is_named)
{
	struct options o = script_options(119);
	char *got;

	o.json = true;
	got = script_formatted(
		"0    c0 - R > S\n"
		"0    c1 - R > C\n"
		"10   c0 S S > - wait|recv;serve for=tcp:peer:99\n"
		"100  c1 C S > - nap|nanosleep;think for=sleep:1ms\n"
		"900  c1 - wakes C tick;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt\n"
		"900  c1 - R > C\n"
		"910  c1 C wakes S wake|send;ask\n"
		"910  c0 - R > S\n"
		"950  c0 S request tcp::80 conn=1 arrived=910 taken=915 answered=950\n"
		"end 2000\n",
		&o, "causes");
	if (!strstr(got, "\"S/119 slept in wait | recv for tcp peer:99, for lack of work\""))
		fail_msg("%s", got);
	assert_null(strstr(got, "nanosleep"));
	free(got);
}

/* A thread that waits for the next request has no work; one that serves one, and asks, has. */
TEST(waiting_for_a_request_is_no_cause)
{
	is_cause("0    c0 - R > S\n"
		 "10   c0 S S > - wait|recv;serve for=tcp:peer:99\n"
		 "900  c0 - wakes S ready;net_rx_action;asm_common_interrupt\n"
		 "900  c0 - R > S\n"
		 "950  c0 S S > - wait|recv;ask for=tcp:10.0.0.7:5432\n"
		 "1900 c0 - wakes S ready;net_rx_action;asm_common_interrupt\n"
		 "1900 c0 - R > S\n"
		 "1950 c0 S request tcp::80 conn=1 arrived=900 taken=905 answered=1950\n"
		 "end 2000\n",
		 "slept in wait | recv for\n" MORE "tcp 10.0.0.7:5432", true);
	is_cause("0    c0 - R > S\n"
		 "10   c0 S S > - wait|recv;serve for=tcp:peer:99\n"
		 "900  c0 - wakes S ready;net_rx_action;asm_common_interrupt\n"
		 "900  c0 - R > S\n"
		 "905  c0 S R > X\n"
		 "915  c0 X S > S\n"
		 "950  c0 S request tcp::80 conn=1 arrived=900 taken=905 answered=950\n"
		 "end 2000\n",
		 "slept in wait | recv for tcp", false);
}

/* B waits in poll() until A connects; until A sends something; while it works for a request. */
TEST(a_connection_is_work)
{
#define POLLS(woke, request)                                     \
	"0    c0 - R > A\n"                                      \
	"1    c1 - R > B\n"                                      \
	"100  c1 B S > - do_sys_poll|poll;serve for=poll:of:2\n" \
	"1100 c0 A wakes B " woke "|send;main\n"                 \
	"1100 c1 - R > B\n" request "end 2000\n"
	is_cause(POLLS("wake;tcp_child_process;tcp_v4_rcv", ""), "B/102 slept in do_sys_poll",
		 false);
	is_cause(POLLS("wake;unix_stream_connect", ""), "B/102 slept in do_sys_poll", false);
	is_cause(POLLS("wake;tcp_rcv_established", ""), "A/101 ran", true);
	is_cause(POLLS("wake;handle_userfault;asm_exc_page_fault", ""), "A/101 ran", true);
	/* Of another thread, whom an interrupt hit there. */
	is_cause(POLLS("wake;net_rx_action;asm_common_interrupt;unix_stream_connect", ""),
		 "B/102 slept in do_sys_poll", true);
	is_cause(POLLS("wake;tcp_child_process",
		       "1500 c1 B request tcp::80 arrived=50 taken=60 answered=1500\n"),
		 "A/101 ran", true);
}

/* A waits for a lock that B has while it waits for a connection; then A does so, or something else.
 */
TEST(the_turn_to_wait_for_work_is_no_lock)
{
#define TURNS(holds, then, woke, request)                                    \
	"0    c0 - R > A\n"                                                  \
	"0    c1 - R > B\n"                                                  \
	"0    c2 - R > C\n"                                                  \
	"10   c1 B S > - " holds "\n"                                        \
	"20   c0 A S > - futex_wait|pthread_mutex_lock;accept for=futex:8\n" \
	"1000 c2 C wakes B wake;unix_stream_connect|connect;main\n"          \
	"1001 c1 - R > B\n"                                                  \
	"1010 c1 B wakes A futex_wake|unlock;accept\n"                       \
	"1010 c0 - R > A\n"                                                  \
	"1020 c0 A S > - " then "\n"                                         \
	"1500 c2 C wakes A " woke "|connect;main\n"                          \
	"1500 c0 - R > A\n" request "end 2000\n"
#define WAITS "do_epoll_wait|wait;accept for=epoll:A:4"
#define FSYNCS "wait|fsync;main for=file:/j"
#define SLEPT "A/101 slept in futex_wait | pthread_mutex_lock"
	is_cause(TURNS(WAITS, WAITS, "wake;unix_stream_connect", ""), SLEPT, false);
	is_cause(TURNS(WAITS, FSYNCS, "wake;io", ""), "B/102 held futex 8", true);
	/* A client was there already. */
	is_cause(TURNS(WAITS, FSYNCS, "wake;io",
		       "1600 c0 A request tcp::80 arrived=900 taken=1015 answered=1600\n"),
		 SLEPT, false);
	/* It had work before. */
	is_cause(TURNS(WAITS, WAITS, "wake;unix_stream_connect",
		       "1600 c0 A request tcp::80 arrived=5 taken=15 answered=1600\n"),
		 "B/102 held futex 8", true);
}
