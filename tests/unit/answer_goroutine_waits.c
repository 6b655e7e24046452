// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests to Go programs that wait for another goroutine (chain-semantics, section 19). */
#include "test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "synth_many.h"

#define IDLE "S > - futex_wait|runtime.futex;runtime.stopm;runtime.mcall for=futex:17:0x40\n"
#define SERVES "stack=send|write;net/http.(*conn).serve;runtime.goexit.abi0\n"
#define REFRESHES "|main.recompute;main.refresh;main.main.func1;runtime.goexit.abi0\n"

/* The chain of the slowest requests to :80, to be freed. */
static char *chain_of(const char *script)
{
	struct options o;
	char *text, *begin, *end, *chain;

	options_init(&o);
	text = script_formatted(script, &o, "causes");
	begin = strstr(text, "Requests to tcp :80 ");
	assert_non_null(begin);
	end = strstr(begin, "endpoints; more");
	assert_non_null(end);
	*end = 0;
	chain = strdup(begin);
	assert_non_null(chain);
	free(text);
	return chain;
}

static void has(const char *script, const char *a, const char *b)
{
	char *chain = chain_of(script);

	if (!strstr(chain, a) || !strstr(chain, b))
		fail_msg("expected:\n%s%sgot:\n%s", a, b, chain);
	free(chain);
}

static void has_not(const char *script, const char *words)
{
	char *chain = chain_of(script);

	if (strstr(chain, words))
		fail_msg("not expected: %s\ngot:\n%s", words, chain);
	free(chain);
}

/* S has read a request, or three; T computes, and lets S go on, which answers them. */
#define QUICK                                                           \
	"queues\n"                                                      \
	"thread S *\n"                                                  \
	"thread T */S\n"                                                \
	"0 c0 - R > S\n"                                                \
	"0 c1 - R > T\n"                                                \
	"250 c0 S request tcp::80 conn=1 arrived=200 taken=210 " SERVES \
	"350 c0 S request tcp::80 conn=2 arrived=300 taken=310 " SERVES \
	"450 c0 S request tcp::80 conn=3 arrived=400 taken=410 " SERVES
#define COMPUTES                                                                         \
	"1200 c1 T ran " REFRESHES "1400 c1 T ran " REFRESHES "1800 c1 T ran " REFRESHES \
	"1900 c1 T wakes S wake|runtime.futex;runtime.startm;runtime.wakep\n"            \
	"1900 c0 - R > S\n"
#define ONE "1960 c0 S request tcp::80 conn=1 arrived=1100 taken=1100\n"
#define OTHERS                                                       \
	"1970 c0 S request tcp::80 conn=2 arrived=1120 taken=1120\n" \
	"1980 c0 S request tcp::80 conn=3 arrived=1130 taken=1130\n"

TEST(requests_that_end_together_waited_at_a_lock)
{
	has(QUICK "1150 c0 S " IDLE COMPUTES ONE OTHERS "end 3000\n",
	    "%  waits for a lock or a channel\n", "   T main.recompute  ");
	has(QUICK "1150 c0 S " IDLE COMPUTES ONE OTHERS "end 3000\n", "because T holds a lock or a",
	    "%  holds it, ran");
}

/* It may as well be one that works for the request. */
TEST(one_request_waited_for_another_goroutine)
{
	has(QUICK "1150 c0 S " IDLE COMPUTES ONE "end 3000\n", "%  waits for another goroutine\n",
	    "   T main.recompute  ");
	has_not(QUICK "1150 c0 S " IDLE COMPUTES ONE "end 3000\n", "holds it");
}

/* While S has no CPU, others of its process may compute: that is no reason. */
TEST(a_goroutine_without_a_cpu_waits_for_none)
{
	static const char script[] =
		QUICK "1150 c0 S R > X\n"
		      "1200 c1 T ran " REFRESHES "1400 c1 T ran " REFRESHES
		      "1800 c1 T ran " REFRESHES "1900 c0 X S > S\n" ONE OTHERS "end 3000\n";

	has_not(script, "goroutine");
	has_not(script, "a lock or a channel");
}

/* T asks F, and sleeps in the scheduler until the answer is there. */
#define ASKS(end_stack)                                                                   \
	QUICK                                                                             \
	"thread F *\n"                                                                    \
	"0 c2 - R > F\n"                                                                  \
	"1000 c2 F S > - wait_woken|read;serve_feed;main for=tcp::90\n"                   \
	"1050 c1 T wakes F "                                                              \
	"wake|syscall.write;net.(*conn).Write;main.askFeed;main.refresh;" end_stack       \
	"1050 c2 - R > F\n"                                                               \
	"1060 c1 T S > - ep_poll|runtime.epollwait;runtime.netpoll;runtime.findRunnable " \
	"for=epoll\n"                                                                     \
	"1150 c0 S " IDLE "1880 c2 F wakes T wake|write;serve_feed;main\n"                \
	"1880 c1 - R > T\n"                                                               \
	"1885 c2 F request tcp::90 conn=9 arrived=1050 taken=1051\n"                      \
	"1900 c1 T wakes S wake|runtime.futex;runtime.startm;runtime.wakep\n"             \
	"1900 c0 - R > S\n"
#define ASKED "main.main.func1;runtime.goexit.abi0\n"

TEST(what_another_one_asked_for_is_waited_for_at_a_lock)
{
	has(ASKS(ASKED) ONE "end 3000\n", "%  waits for a lock or a channel\n", "main.askFeed");
	has(ASKS(ASKED) ONE "end 3000\n", "%  holds it, waits for ", "   F ");
}

/* The question came after the request was taken: it may be its own. */
TEST(its_own_question_is_no_lock)
{
	static const char late[] =
		ASKS(ASKED) "1960 c0 S request tcp::80 conn=1 arrived=1010 taken=1020\n"
			    "end 3000\n";

	has_not(late, "a lock or a channel");
	has_not(late, "goroutine");
}

/* Other programs have threads for what they do. */
TEST(only_go_has_goroutines)
{
	static const char script[] =
		"queues\n"
		"thread S *\n"
		"thread T */S\n"
		"0 c0 - R > S\n"
		"0 c1 - R > T\n"
		"250 c0 S request tcp::80 conn=1 arrived=200 taken=210 stack=send|reply;main\n"
		"1150 c0 S S > - futex_wait|take;serve;main for=futex:17:0x40\n"
		"1200 c1 T ran |crunch;main\n"
		"1400 c1 T ran |crunch;main\n"
		"1900 c1 T wakes S wake|give;main\n"
		"1900 c0 - R > S\n" ONE OTHERS "end 3000\n";

	has_not(script, "goroutine");
	has_not(script, "a lock or a channel");
}
