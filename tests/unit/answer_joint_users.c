// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests that wait for what others have, a connection or a lock: made events in, steps out. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/chain_steps.h"
#include "causes/causes.h"
#include "formats/chain_lines.h"
#include "formats/verdict.h"
#include "synth_many.h"
#include "words/request_words.h"

/* The steps of all requests for /price. */
static void prices_wait(const char *script, const char *expected)
{
	struct synth *m = script_made(script);
	struct trace *t = synth_open(m);
	struct options given, o, shown = { .columns = 80 };
	struct timelines *tl;
	struct names *names;
	struct chain_steps *steps;
	struct chain_known *known;
	struct cpu_holders *holders;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	options_init(&given);
	o = causes_request_options(&given);
	assert_int_equal(timelines_new_with_cpus(&tl, t), 0);
	names_new(&names, tl, &o);
	cpu_holders_new(&holders, tl, true);
	chain_known_new(&known, tl, names, holders);
	chain_steps_new(&steps, tl, &o, names, known);
	for (uint32_t i = timelines_threads(tl); i < timelines_clients_end(tl); i++) {
		const struct thread *client = timelines_thread(tl, i);

		for (uint32_t k = 0; k < client->n_waits; k++) {
			const struct wait *w = &client->waits[k];
			struct chosen_wait c = {
				.wait = w,
				.shown = { .blocked_from_ns = w->out_ns,
					   .blocked_to_ns = w->wake_ns },
				.thread = i,
			};

			if (!strcmp(request_route(tl, timelines_request_of(tl, w)), "GET /price"))
				chain_steps_add(steps, &c);
		}
	}
	chain_steps_end(steps);
	chain_lines_put(f, steps, names, &shown, 16);
	verdict_put(f, steps, names, false, true);
	fclose(f);
	expect_text(text, expected);
	chain_steps_free(steps);
	chain_known_free(known);
	cpu_holders_free(holders);
	names_free(names);
	timelines_free(tl);
	trace_close(t);
	synth_free(m);
}

/*
 * A, a proxy, passes a request for prices on to B. A visitor asks for something else, and so ends
 * the sleep of A's in which it waits for B, whose answer is there a moment later.
 */
static void a_proxy_waits_for_who_answers(void **state)
{
	(void)state;
	prices_wait(
		"thread A *\n"
		"thread B S\n"
		"thread C S\n"
		"0   c0 - R > A\n"
		"10  c1 - R > B\n"
		"11  c1 B S > - unix_accept|accept@libc.so.6;serve for=unix:/b\n"
		"110 c0 A wakes B send\n"
		"111 c1 - R > B\n"
		"113 c1 B S > - hrtimer_nanosleep|nanosleep;work;serve for=sleep:787us\n"
		"120 c0 A S > - ep_poll|epoll_wait@libc.so.6 for=epoll:7\n"
		"890 c2 - R > C\n"
		"895 c1 - wakes B "
		"ttwu_do;tick;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt\n"
		"896 c1 - R > B\n"
		"900 c2 C wakes A wake|send;visit\n"
		"900 c2 A ready tcp:10.0.0.1:50001@103<10.0.0.1:80\n"
		"901 c0 - R > A\n"
		"905 c1 B request unix:/b conn=5 arrived=110 taken=112 answered=904 stack=send\n"
		"920 c0 A request tcp::80 conn=2 arrived=900 taken=902 route=GET+/logo\n"
		"950 c0 A request tcp::80 conn=1 arrived=100 taken=105 route=GET+/price\n"
		"end 1000\n",
		"  A  epoll_wait  92 %  waits for B (unix socket)\n"
		"   B nanosleep   91 %  slept (timer)\n"
		" because B sleeps in nanosleep.");
}

/*
 * A, an event loop, has two connections to a store, S and T. Two quotes ask the store by these, and
 * then a carrier, C and D, who sleep: C until 1000, D until 1200. Three prices come in the
 * meantime.
 */
#define LOOP " S > - ep_poll|epoll_wait@libc.so.6;loop;main for=epoll:7\n"
#define QUOTES                                                                              \
	"thread A *\n"                                                                      \
	"thread C S\n"                                                                      \
	"thread D S/C\n"                                                                    \
	"thread S S\n"                                                                      \
	"thread T S/S\n"                                                                    \
	"0    c0 - R > A\n"                                                                 \
	"10   c1 - R > S\n"                                                                 \
	"11   c1 S S > - tcp_recvmsg|recv;serve for=tcp:10.0.0.1:40001@101<10.0.0.1:5432\n" \
	"12   c1 - R > T\n"                                                                 \
	"13   c1 T S > - tcp_recvmsg|recv;serve for=tcp:10.0.0.1:40002@101<10.0.0.1:5432\n" \
	"14   c1 - R > C\n"                                                                 \
	"15   c1 C S > - tcp_recvmsg|recv;serve for=tcp:10.0.0.1:40003@101<10.0.0.1:99\n"   \
	"16   c1 - R > D\n"                                                                 \
	"17   c1 D S > - tcp_recvmsg|recv;serve for=tcp:10.0.0.1:40004@101<10.0.0.1:99\n"   \
	"120  c0 A wakes S send\n"                                                          \
	"121  c1 - R > S\n"                                                                 \
	"130  c1 S request tcp::5432 conn=1 arrived=120 taken=122\n"                        \
	"131  c1 S S > - tcp_recvmsg|recv;serve for=tcp:10.0.0.1:40001@101<10.0.0.1:5432\n" \
	"140  c0 A wakes T send\n"                                                          \
	"141  c1 - R > T\n"                                                                 \
	"150  c1 T request tcp::5432 conn=2 arrived=140 taken=142\n"                        \
	"151  c1 T S > - tcp_recvmsg|recv;serve for=tcp:10.0.0.1:40002@101<10.0.0.1:5432\n" \
	"160  c0 A wakes C send\n"                                                          \
	"161  c1 - R > C\n"                                                                 \
	"163  c1 C S > - hrtimer_nanosleep|nanosleep;price;serve for=sleep:837us\n"         \
	"170  c0 A wakes D send\n"                                                          \
	"171  c1 - R > D\n"                                                                 \
	"173  c1 D S > - hrtimer_nanosleep|nanosleep;price;serve for=sleep:1ms\n"           \
	"180  c0 A" LOOP
#define CARRIER_ANSWERS                                                                         \
	"1000 c1 - wakes C ttwu_do;tick;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt\n" \
	"1001 c1 - R > C\n"                                                                     \
	"1005 c1 C wakes A wake|send;serve\n"                                                   \
	"1005 c0 - R > A\n"                                                                     \
	"1006 c1 C request tcp::99 conn=3 arrived=160 taken=162\n"                              \
	"1007 c1 C S > - tcp_recvmsg|recv;serve for=tcp:10.0.0.1:40003@101<10.0.0.1:99\n"
#define OTHER_CARRIER                                                                           \
	"1200 c1 - wakes D ttwu_do;tick;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt\n" \
	"1201 c1 - R > D\n"                                                                     \
	"1205 c1 D wakes A wake|send;serve\n"                                                   \
	"1205 c0 - R > A\n"                                                                     \
	"1206 c1 D request tcp::99 conn=4 arrived=170 taken=172\n"                              \
	"1210 c0 A request tcp::80 conn=12 arrived=105 taken=106 route=GET+/quote\n"            \
	"end 1300\n"
/* S is asked at a time, and answers ten later. */
#define STORE_ANSWERS(asked, woken, answered, slept)                                     \
	asked " c0 A wakes S send\n" woken " c1 - R > S\n" answered                      \
	      " c1 S request tcp::5432 conn=1 arrived=" asked " taken=" woken "\n" slept \
	      " c1 S S > - tcp_recvmsg|recv;serve for=tcp:10.0.0.1:40001@101<10.0.0.1:5432\n"
#define ANSWER(at, connection, arrived, taken, route)                                   \
	at " c0 A request tcp::80 conn=" connection " arrived=" arrived " taken=" taken \
	   " route=GET+/" route "\n"

/* Nobody asks the store until C has answered: then a quote gives its connection to the prices. */
#define LENT                                                                         \
	QUOTES                                                                       \
	"300  c0 - wakes A tick;rx\n"                                                \
	"300  c0 - R > A\n"                                                          \
	"305  c0 A" LOOP "400  c0 - wakes A tick;rx\n"                               \
	"400  c0 - R > A\n"                                                          \
	"405  c0 A" LOOP CARRIER_ANSWERS ANSWER("1010", "11", "100", "101", "quote") \
		STORE_ANSWERS("1020", "1022", "1030", "1031")                        \
			ANSWER("1040", "13", "300", "301", "price")                  \
				STORE_ANSWERS("1050", "1052", "1060", "1061")        \
					ANSWER("1070", "14", "400", "401",           \
					       "price") "1071 c0 A" LOOP OTHER_CARRIER

static void a_request_waits_for_a_connection(void **state)
{
	(void)state;
	prices_wait(
		LENT,
		"  A               95 %  waits for one of 2 connections to S :5432 (2 at once)\n"
		"   A   loop       92 %  holds it (GET /quote), waits for an event\n"
		"    C  nanosleep  91 %  slept (timer)\n"
		" because A holds one of 2 connections to S :5432 for GET /quote, and "
		"waits while C sleeps in nanosleep.");
}

/* Where prices ask the carrier themselves they wait for that one. */
#define OWN                                                                \
	QUOTES CARRIER_ANSWERS ANSWER("1010", "13", "100", "101", "price") \
		STORE_ANSWERS("1020", "1022", "1030", "1031")              \
			ANSWER("1040", "11", "102", "103", "price") "1071 c0 A" LOOP OTHER_CARRIER

static void own_questions_are_no_wait_for_a_connection(void **state)
{
	(void)state;
	prices_wait(OWN, "  A  loop       89 %  waits for an event\n"
			 "   C nanosleep  89 %  slept (timer)\n"
			 " because C sleeps in nanosleep.");
}

/* Three threads of a program, each on a CPU of its own. */
#define L_M_AND_S           \
	"thread L *\n"      \
	"thread M */L\n"    \
	"thread S */L\n"    \
	"0    c0 - R > S\n" \
	"0    c1 - R > L\n" \
	"0    c2 - R > M\n"

/* S and M wait for a lock, which L has while it answers a report. */
#define LOCK " S > - futex_wait|pthread_mutex_lock@libc.so.6;take;main for=futex:17:0x40\n"
static void who_has_a_lock_is_said_with_its_request(void **state)
{
	(void)state;
	prices_wait(L_M_AND_S
		    "10   c2 M renames-to S\n"
		    "200  c0 S" LOCK "300  c2 M" LOCK "400  c1 L ran |report;main\n"
		    "900  c1 L wakes S wake|pthread_mutex_unlock@libc.so.6;report;main\n"
		    "900  c0 - R > S\n"
		    "950  c1 L wakes M wake|pthread_mutex_unlock@libc.so.6;report;main\n"
		    "950  c2 - R > M\n"
		    "960  c0 S request tcp::80 conn=1 arrived=150 taken=160 route=GET+/price\n"
		    "980  c1 L request tcp::80 conn=2 arrived=100 taken=110 route=GET+/report\n"
		    "end 1000\n",
		    "  S  take    86 %  waits for a lock (2 at once)\n"
		    "   L report  86 %  holds it (GET /report), ran\n"
		    " because L holds a lock for GET /report, and runs report.");
}

/* Where it has no room a route is left out. */
static void a_route_gives_way(void **state)
{
	(void)state;
	prices_wait(
		"thread L *\n"
		"thread C *\n"
		"thread S */L\n"
		"0    c0 - R > S\n"
		"0    c1 - R > L\n"
		"0    c2 C renames-to packer\n"
		"200  c0 S" LOCK "300  c1 L S > - pipe_write|write@libc.so.6;report_it_all;main "
		"for=pipe:7\n"
		"800  c2 C wakes L wake;pipe_read|read@libc.so.6;main\n"
		"800  c1 - R > L\n"
		"900  c1 L wakes S wake|pthread_mutex_unlock@libc.so.6;report;main\n"
		"900  c0 - R > S\n"
		"960  c0 S request tcp::80 conn=1 arrived=150 taken=160 route=GET+/price\n"
		"980  c1 L request tcp::80 conn=2 arrived=100 taken=110 "
		"route=GET+/the/report/of/this/month\n"
		"end 1000\n",
		"  S        take           86 %  waits for a lock\n"
		"   L       report_it_all  62 %  holds it, waits for room in the pipe to packer\n"
		"    packer                62 %  ran\n"
		"   L                      25 %  holds it (GET /the/report/of/this/month), ran\n"
		" because L holds a lock for GET /the/report/of/this/month, and waits while "
		"packer runs.");
}

/* L gives the lock to M, and M at once to S: it was L that kept it. */
static void who_had_a_lock_first_is_said(void **state)
{
	(void)state;
	prices_wait(L_M_AND_S
		    "200  c0 S" LOCK "300  c2 M" LOCK "400  c1 L ran |report;main\n"
		    "900  c1 L wakes M wake|pthread_mutex_unlock@libc.so.6;report;main\n"
		    "900  c2 - R > M\n"
		    "950  c2 M wakes S wake|pthread_mutex_unlock@libc.so.6;take;main\n"
		    "950  c0 - R > S\n"
		    "960  c0 S request tcp::80 conn=1 arrived=150 taken=160 route=GET+/price\n"
		    "970  c2 M request tcp::80 conn=3 arrived=150 taken=160 route=GET+/item\n"
		    "980  c1 L request tcp::80 conn=2 arrived=100 taken=110 route=GET+/report\n"
		    "end 1000\n",
		    "  S    take    93 %  waits for a lock\n"
		    "   M   take    74 %  has it or is next, waits for a lock\n"
		    "    L  report  74 %  holds it (GET /report), ran\n"
		    " because L holds a lock for GET /report, and runs report.");
}

/* L has the lock for longest, and works for nobody; M has it for a moment, for a report. */
static void who_works_for_nobody_has_a_lock_for_nobody(void **state)
{
	(void)state;
	prices_wait(L_M_AND_S
		    "200  c0 S" LOCK "400  c1 L ran |tidy;main\n"
		    "800  c1 L wakes S wake|pthread_mutex_unlock@libc.so.6;tidy;main\n"
		    "800  c0 - R > S\n"
		    "810  c0 S" LOCK "850  c2 M ran |report;main\n"
		    "900  c2 M wakes S wake|pthread_mutex_unlock@libc.so.6;report;main\n"
		    "900  c0 - R > S\n"
		    "960  c0 S request tcp::80 conn=1 arrived=150 taken=160 route=GET+/price\n"
		    "970  c2 M request tcp::80 conn=3 arrived=150 taken=160 route=GET+/report\n"
		    "end 1000\n",
		    "  S  take  85 %  waits for a lock\n"
		    "   L tidy  74 %  holds it, ran\n"
		    " because L holds a lock, and runs tidy.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_proxy_waits_for_who_answers),
		cmocka_unit_test(a_request_waits_for_a_connection),
		cmocka_unit_test(who_has_a_lock_is_said_with_its_request),
		cmocka_unit_test(who_had_a_lock_first_is_said),
		cmocka_unit_test(who_works_for_nobody_has_a_lock_for_nobody),
		cmocka_unit_test(a_route_gives_way),
		cmocka_unit_test(own_questions_are_no_wait_for_a_connection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
