// SPDX-License-Identifier: GPL-2.0-or-later
/* Sleeps in event loops that other requests ended (chain-semantics, section 14). */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"
#include "synth_script.h"

#define PACKET "ready;net_rx_action;asm_common_interrupt;mwait;do_idle"

/* What begins with that, of both engines: of requests, or of threads. */
static void folds(const char *script, bool requests, const char *begin, const char *expected)
{
	struct oracle_asked asked = { .depth = OPTIONS_DEPTH_DEFAULT, .requests = requests };
	struct synth *m = script_made(script);
	struct trace *t = synth_open(m);
	struct options o;
	char *all = oracle_folded(t, &asked), *lines = calloc(1, 1 << 16), *at = lines;

	assert_non_null(lines);
	options_init(&o);
	o.requests = requests;
	o.parts = PART_BLOCKED | PART_RUNNABLE | PART_PREEMPTED;
	o.unit = UNIT_NS;
	expect_text(trace_folded(t, &o), all);
	for (char *line = all, *end; (end = strchr(line, '\n')); line = end + 1)
		if (!strncmp(line, begin, strlen(begin)))
			at = stpncpy(at, line, (size_t)(end + 1 - line));
	free(all);
	expect_text(lines, expected);
	trace_close(t);
	synth_free(m);
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

static void example_the_wait_goes_on_to_what_the_answer_needed(void **state)
{
	(void)state;
	folds(SERVED("arrived=300 taken=310"), true, OF_80,
	      OF_80 "--;send;S;--;reply;D;[running] 680000\n" OF_80 "--;send;S;[running] 170000\n");
}

/* The other request came before the sleep, or after it; or this one was taken after its begin. */
static void only_a_request_that_came_in_the_sleep_ends_it(void **state)
{
	static const char packet[] = OF_80
		"--;send;S;--;ready;net_rx_action;asm_common_interrupt;[network] 100000\n" OF_80
		"--;send;S;--;reply;D;[running] 580000\n" OF_80 "--;send;S;[running] 170000\n";

	(void)state;
	folds(SERVED("arrived=199.999 taken=310"), true, OF_80, packet);
	folds(SERVED("arrived=300.001 taken=310"), true, OF_80, packet);
	folds(SERVED("arrived=200 taken=310"), true, OF_80,
	      OF_80 "--;send;S;--;reply;D;[running] 680000\n" OF_80 "--;send;S;[running] 170000\n");
}

/* For C, which S wakes while it answers one request only; then while it answers two. */
static void threads_wait_for_the_only_request_that_is_answered(void **state)
{
	(void)state;
	folds(SERVED("arrived=300 taken=950"), false, "C;",
	      "C;recv;--;send;S;--;reply;D;[running] 680000\n"
	      "C;recv;--;send;S;[running] 120000\n");
	folds(SERVED("arrived=300 taken=310"), false, "C;",
	      "C;recv;--;send;S;--;ready;net_rx_action;asm_common_interrupt;[network] 100000\n"
	      "C;recv;--;send;S;--;reply;D;[running] 580000\n"
	      "C;recv;--;send;S;[running] 120000\n");
}

/* The other request came in two sleeps: both go on in the last one, across a lock. */
static void all_of_them_go_on_in_the_last_one(void **state)
{
	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(example_the_wait_goes_on_to_what_the_answer_needed),
		cmocka_unit_test(only_a_request_that_came_in_the_sleep_ends_it),
		cmocka_unit_test(threads_wait_for_the_only_request_that_is_answered),
		cmocka_unit_test(all_of_them_go_on_in_the_last_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
