// SPDX-License-Identifier: GPL-2.0-or-later
/* --show: a slow request and the usual one of its endpoint, step by step: made events in, rows out.
 */
#include "test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "synth_many.h"

/*
 * S answers three requests, and waits in each for a lock that L has: for 100, 200 and 3000 us. When
 * it is woken for the last one X has the CPU for 500 us.
 */
static const char service[] = "queues\n"
			      "thread S *\n"
			      "thread L *\n"
			      "0 c0 - R > S\n"
			      "0 c1 - R > L\n"
			      "1100 c0 S S > - lock|take;serve;main for=futex:17:lock\n"
			      "1200 c1 L wakes S wake|unlock;main\n"
			      "1200 c0 S queued! c0\n"
			      "1200 c0 - R > S\n"
			      "1400 c0 S request tcp::80 conn=1 arrived=1000 taken=1050\n"
			      "2100 c0 S S > - lock|take;serve;main for=futex:17:lock\n"
			      "2300 c1 L wakes S wake|unlock;main\n"
			      "2300 c0 S queued! c0\n"
			      "2300 c0 - R > S\n"
			      "2500 c0 S request tcp::80 conn=1 arrived=2000 taken=2050\n"
			      "3100 c0 S S > X lock|take;serve;main for=futex:17:lock\n"
			      "6100 c1 L wakes S wake|unlock;main\n"
			      "6100 c0 S queued! c0\n"
			      "6600 c0 X S > S\n"
			      "7000 c0 S request tcp::80 conn=1 arrived=3000 taken=3050\n"
			      "end 8000\n";

static const char expected[] =
	"A request to tcp :80 that took 4.000 ms, and beside it the usual one, the median\n"
	"  of 3, 0.500 ms:\n"
	"        AT      SLOW     USUAL    CHANGE   (times in ms, since each arrived)\n"
	"    +0.000     0.050     0.050    +0.000   arrived on connection 1, and was q...\n"
	"    +0.050                                 read by S (119)\n"
	"    +0.050     0.050     0.050    +0.000   ran\n"
	"    +0.100     3.000     0.200    +2.800 ! slept in lock | take for futex 17:...\n"
	"    +3.100     0.500         -    +0.500 ! had no CPU: 100 % X\n"
	"    +3.600     0.400     0.200    +0.200   ran\n"
	"    +4.000                                 answered\n";

static char *shown(const char *script, unsigned int given)
{
	struct options o;
	char *text, *tree;

	options_init(&o);
	o.show = 1;
	o.given |= given;
	o.requests = given & GIVEN_REQUESTS;
	text = script_formatted(script, &o, "causes");
	tree = strstr(text, "\n\n");
	if (tree)
		tree[1] = 0;
	return text;
}

TEST(a_slow_request_is_beside_the_usual_one)
{
	expect_text(shown(service, GIVEN_REQUESTS), expected);
}

/* So it is for a wait of the thread that answers. */
TEST(a_wait_is_in_its_request)
{
	expect_text(shown(service, 0), expected);
}

/* Where there is only one nothing is usual: the wait alone is shown. */
TEST(one_request_is_alone)
{
	char *text = shown("queues\n"
			   "thread S *\n"
			   "thread L *\n"
			   "0 c0 - R > S\n"
			   "0 c1 - R > L\n"
			   "1100 c0 S S > - lock|take;serve;main for=futex:17:lock\n"
			   "1200 c1 L wakes S wake|unlock;main\n"
			   "1200 c0 S queued! c0\n"
			   "1200 c0 - R > S\n"
			   "1400 c0 S request tcp::80 conn=1 arrived=1000 taken=1050\n"
			   "end 2000\n",
			   GIVEN_REQUESTS);

	assert_null(strstr(text, "usual"));
	assert_non_null(strstr(text, "took 400.000 us"));
	free(text);
}
