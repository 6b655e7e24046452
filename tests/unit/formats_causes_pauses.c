// SPDX-License-Identifier: GPL-2.0-or-later
/* --format=causes: which waiting is a pause by choice or for lack of work, and which is none. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
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
static void a_nap_counts_when_somebody_waits_for_it(void **state)
{
	(void)state;
	is_cause(NAPS("5 c2 - R > C\n10 c2 C wakes B wake|send\n", ""), "B/102 slept in nap",
		 false);
	is_cause(NAPS("10 c0 A wakes B wake|send;ask\n", ""), "B/102 slept in nap", true);
	is_cause(NAPS("5 c2 - R > C\n10 c2 C wakes B wake|send\n",
		      "1150 c1 B request tcp::80 conn=1 arrived=15 taken=21 answered=1150\n"),
		 "B/102 slept in nap", true);
}

/* A waits for room in a pipe that B reads, who naps; and then for what B writes. */
static void a_nap_of_who_should_read_counts(void **state)
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
	(void)state;
	is_cause(PIPE("anon_pipe_write|write;tell"), "B/102 slept in nap", true);
	is_cause(PIPE("anon_pipe_read|read;hear"), "B/102 slept in nap", false);
}

/* A poll() that times out is a pause, unless it waits for somebody's message. */
static void a_timeout_of_a_question_is_no_pause(void **state)
{
#define POLL(what)                                                                      \
	"0    c0 - R > A\n"                                                             \
	"100  c0 A S > - do_sys_poll|poll;ask for=poll:" what "\n"                      \
	"1100 c0 - wakes A tick;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt\n" \
	"1100 c0 A R > B\n"                                                             \
	"1110 c0 B S > A\n"                                                             \
	"end 2000\n"
	(void)state;
	is_cause(POLL("udp~10.0.0.53:53"), "A/101 slept in do_sys_poll", true);
	is_cause(POLL("tcp~:80"), "A/101 slept in do_sys_poll", false);
}

/* In state D a thread waits for a device, also if a timer ends that. */
static void an_uninterruptible_sleep_is_no_pause(void **state)
{
#define SLEEP(letter)                                                                   \
	"0    c0 - R > A\n"                                                             \
	"100  c0 A " letter " > - rq_qos_wait|write;flush\n"                            \
	"1100 c0 - wakes A tick;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt\n" \
	"1100 c0 A R > B\n"                                                             \
	"1110 c0 B S > A\n"                                                             \
	"end 2000\n"
	(void)state;
	is_cause(SLEEP("D"), "A/101 slept in rq_qos_wait", true);
	is_cause(SLEEP("S"), "A/101 slept in rq_qos_wait", false);
}

/* Of a thread that only waits for work it is said where, and not what others did meanwhile. */
static void who_has_no_work_is_named(void **state)
{
	struct options o = script_options(119);
	char *got;

	(void)state;
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
static void waiting_for_a_request_is_no_cause(void **state)
{
	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_nap_counts_when_somebody_waits_for_it),
		cmocka_unit_test(a_nap_of_who_should_read_counts),
		cmocka_unit_test(a_timeout_of_a_question_is_no_pause),
		cmocka_unit_test(an_uninterruptible_sleep_is_no_pause),
		cmocka_unit_test(who_has_no_work_is_named),
		cmocka_unit_test(waiting_for_a_request_is_no_cause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
