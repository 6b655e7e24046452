// SPDX-License-Identifier: GPL-2.0-or-later
/* The first screen, where there are requests: made events in, lines of 80 columns out. */
#include "test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "synth_many.h"

/* What is before the table of causes, to be freed. */
static char *overview(const char *script, unsigned int given)
{
	struct options o;
	char *text, *table;

	options_init(&o);
	o.given |= given;
	text = script_formatted(script, &o, "causes");
	table = strstr(text, "  SHARE ");
	assert_non_null(table);
	*table = 0;
	return text;
}

/*
 * S (threads are called by letters) answers three requests; for the last one it waits from 1200 to
 * 1900 for a lock that L keeps, a thread of another process, who works, and has no CPU for 200.
 */
static const char lock[] =
	"queues\n"
	"thread S *\n"
	"thread L *\n"
	"0 c0 - R > S\n"
	"0 c1 - R > L\n"
	"250 c0 S request tcp::80 conn=1 arrived=200 taken=210\n"
	"320 c0 S ran |parse;serve;main\n"
	"450 c0 S request tcp::80 conn=1 arrived=300 taken=310\n"
	"1200 c0 S S > - lock|take;serve;main for=futex:17:lock\n"
	"1300 c1 L ran |crunch;hold;main\n"
	"1400 c1 L ran |crunch;hold;main\n"
	"1450 c1 L ran |count;hold;main\n"
	"1500 c1 L R > X\n"
	"1700 c1 X S > L\n"
	"1900 c1 L wakes S wake|unlock;main\n"
	"1900 c1 S queued! c0\n"
	"1900 c0 - R > S\n"
	"2000 c0 S request tcp::80 conn=1 arrived=1000 taken=1100 stack=send;reply\n"
	"end 3000\n";

TEST(a_chain_is_shown_a_line_a_link)
{
	expect_text(
		overview(lock, 0),
		"Requests to tcp :80 S/119 are sometimes slow because L runs hold, without a CPU\n"
		"  for 29 % of that.\n"
		"3 requests (1000.0/s), median 0.150 ms, slowest: 1.000 ms\n"
		"  S  take  70 %  waits for a futex\n"
		"   L hold  70 %  ran, 29 % of it without CPU\n"
		"1 of 1 endpoints; more: chainwalk -f requests\n"
		"\n");
}

/*
 * S and T are threads of one process. S waits from 1200 to 1500 for T, who compresses, and then
 * compresses itself; the request in the middle was parsed, of the one before it there is no sample.
 */
static const char both_compress[] =
	"thread S *\n"
	"thread T */S\n"
	"0 c0 - R > S\n"
	"0 c1 - R > T\n"
	"250 c0 S request tcp::80 conn=1 arrived=200 taken=210\n"
	"320 c0 S ran |parse;serve;main\n"
	"450 c0 S request tcp::80 conn=1 arrived=300 taken=300\n"
	"1200 c0 S S > - lock|take;serve;main for=futex:17:lock\n"
	"1300 c1 T ran |crunch;compress;main\n"
	"1500 c1 T wakes S wake|unlock;main\n"
	"1500 c0 - R > S\n"
	"1700 c0 S ran |crunch;compress;main\n"
	"2000 c0 S request tcp::80 conn=1 arrived=1000 taken=1000 stack=send;reply\n"
	"end 3000\n";

TEST(branches_of_a_quarter_are_shown)
{
	expect_text(overview(both_compress, 0),
		    "Requests to tcp :80 S/119 are sometimes slow because S runs crunch.\n"
		    "3 requests (1000.0/s), median 0.150 ms, slowest: 1.000 ms\n"
		    "  S  crunch  70 %  ran\n"
		    "  S  take    30 %  waits for a futex\n"
		    "   T crunch  30 %  ran\n"
		    "1 of 1 endpoints; more: chainwalk -f requests\n"
		    "\n");
}

/* Most samples of T have no callers, or no stack: they do not say that it does not compress. */
TEST(cut_stacks_do_not_hide_a_function)
{
	char *text = overview("thread S *\n"
			      "thread T */S\n"
			      "0 c0 - R > S\n"
			      "0 c1 - R > T\n"
			      "1200 c0 S S > - lock|take;serve;main for=futex:17:lock\n"
			      "1300 c1 T ran |crunch;compress;main\n"
			      "1310 c1 T ran |copy;compress;main\n"
			      "1320 c1 T ran |+block\n"
			      "1330 c1 T ran |+block\n"
			      "1340 c1 T ran |+block\n"
			      "1350 c1 T ran |+other\n"
			      "1500 c1 T wakes S wake|unlock;main\n"
			      "1500 c0 - R > S\n"
			      "2000 c0 S request tcp::80 conn=1 arrived=1000 taken=1000 "
			      "stack=send;reply\n"
			      "end 3000\n",
			      0);

	if (!strstr(text, "  S  take      30 %  waits for a futex\n   T compress  30 %  ran\n"))
		fail_msg("%s", text);
	free(text);
}

TEST(first_requests_of_connections_are_called_that)
{
	char *text = overview("thread S *\n"
			      "0 c0 - R > S\n"
			      "1200 c0 S S > - lock|take;serve;main for=futex:17:lock\n"
			      "1500 c1 B wakes S wake|unlock;main\n"
			      "1500 c0 - R > S\n"
			      "2000 c0 S request tcp::80 conn=1 arrived=1000 taken=1000 first\n"
			      "end 3000\n",
			      0);

	if (strncmp(text, "First requests of connections to tcp :80 S/119 ", 47))
		fail_msg("%s", text);
	free(text);
}

TEST(options_about_waits_have_no_requests)
{
	expect_text(overview(lock, GIVEN_WAIT), "");
	expect_text(overview(lock, GIVEN_STATE), "");
}

/* No line is too long, unless it is one word, and none ends in a space. */
static void check_lines(const char *text, unsigned int *lines)
{
	for (const char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		size_t begin = strspn(line, " ");
		size_t word = strcspn(line + begin, " \n");

		if ((end - line > 80 && line + begin + word != end) ||
		    (end > line && end[-1] == ' '))
			fprintf(stderr, "%s", text);
		assert_true(end - line <= 80 || line + begin + word == end);
		assert_true(end == line || end[-1] != ' ');
		++*lines;
	}
}

/*
 * S asks D, a database, which others ask, too: the requests that D answers take longer in all, but
 * S's are made of them, and come first. With an event loop S keeps its second client waiting.
 */
TEST(who_asks_comes_first)
{
	static const char script[] =
		"thread S *\n"
		"thread D *\n"
		"0    c0 - R > S\n"
		"0    c1 - R > D\n"
		"50   c0 S S > - ep_poll|epoll_wait@libc.so.6;main for=epoll:S:4\n"
		"90   c0 - wakes S ready;net_rx_action;asm_common_interrupt\n"
		"90   c0 - R > S\n"
		"200  c0 S S > - recv|recv@libc.so.6;ask;serve;main for=unix:/d~D/104\n"
		"900  c1 D wakes S send|answer;main\n"
		"900  c0 - R > S\n"
		"900  c1 D request unix:/d conn=3 arrived=200 taken=210\n"
		"950  c0 S request tcp::80 conn=1 arrived=90 taken=100\n"
		"980  c0 S request tcp::80 conn=2 arrived=92 taken=960\n"
		"1900 c1 D request unix:/d conn=4 arrived=100 taken=910\n"
		"end 3000\n";

	expect_text(
		overview(script, 0),
		"Requests to tcp :80 S/119 take 0.860 ms because the event loop of S waits while\n"
		"  D runs.\n"
		"2 requests (666.7/s), median 0.860 ms, slowest: 0.888 ms\n"
		"  (queue)      96 %  event loop of S busy with others\n"
		"   S      ask  79 %  waits for unix /d D/104\n"
		"    D          79 %  ran\n"
		"Requests to unix /d D/104 take 0.700 ms because D runs for others.\n"
		"2 requests (666.7/s), median 0.700 ms, slowest: 1.800 ms\n"
		"  (queue)   38 %  D busy with others\n"
		"   D        38 %  ran\n"
		"  D         55 %  ran\n"
		"2 of 2 endpoints; more: chainwalk -f requests\n"
		"\n");
}

/* For whom it ran comes before how much of that it had no CPU. */
TEST(who_runs_for_others_may_have_no_cpu)
{
	char *text = overview("queues\n"
			      "thread D *\n"
			      "0    c1 - R > D\n"
			      "300  c1 D R > X\n"
			      "600  c1 X S > D\n"
			      "910  c1 D request unix:/d conn=3 arrived=100 taken=110\n"
			      "935  c1 D request unix:/d conn=4 arrived=120 taken=920\n"
			      "end 3000\n",
			      0);

	if (!strstr(text, "because D runs for others, without a CPU\n  for 38 % of that.\n"))
		fail_msg("%s", text);
	free(text);
}

/* Two that read requests, from one connection after another: each is a worker, and no loop. */
TEST(workers_are_no_event_loop)
{
#define WORKS                                                              \
	"queues\n"                                                         \
	"thread S *\n"                                                     \
	"thread T *\n"                                                     \
	"0 c0 T renames-to S\n"                                            \
	"0 c0 - R > S\n"                                                   \
	"50 c0 S S > - ep_poll|epoll_wait@libc.so.6;main for=epoll:of~2\n" \
	"90 c0 - wakes S ready;net_rx_action;asm_common_interrupt\n"       \
	"90 c0 - R > S\n"                                                  \
	"900 c0 S request tcp::80 conn=1 arrived=90 taken=100\n"           \
	"910 c1 T request tcp::80 conn=2 arrived=900 taken=905\n"
	char *workers = overview(WORKS "980 c0 S request tcp::80 conn=3 arrived=92 taken=960\n"
				       "end 3000\n",
				 0);
	char *loop = overview(WORKS "980 c0 S request tcp::80 conn=3 arrived=92 taken=960\n"
				    "990 c0 S request tcp::80 conn=1 arrived=985 taken=986\n"
				    "end 3000\n",
			      0);

	if (strstr(workers, "event loop") || !strstr(workers, "  S busy with others\n"))
		fail_msg("workers: %s", workers);
	if (!strstr(loop, "  event loop of S busy with others\n"))
		fail_msg("a loop: %s", loop);
	free(workers);
	free(loop);
#undef WORKS
}

/* A route keeps another one waiting in an event loop: it is named. */
TEST(the_route_that_keeps_others_waiting_is_named)
{
	static const char script[] =
		"thread S *\n"
		"0    c0 - R > S\n"
		"50   c0 S S > - ep_poll|epoll_wait@libc.so.6;main for=epoll:of~2\n"
		"100  c0 - wakes S ready;net_rx_action;asm_common_interrupt\n"
		"100  c0 - R > S\n"
		"110  c0 S context c0ffee 7 /pay\n"
		"200  c0 S S > - do_nanosleep|clock_nanosleep@libc.so.6;record;main "
		"for=sleep:700us\n"
		"900  c0 - wakes S "
		"ttwu_do;tick;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt\n"
		"900  c0 - R > S\n"
		"950  c0 S request tcp::80 conn=1 arrived=100 taken=105\n"
		"960  c0 S context c0ffee01 8 /list\n"
		"980  c0 S request tcp::80 conn=2 arrived=120 taken=955\n"
		"end 3000\n";
	char *text = overview(script, 0);

	assert_non_null(strstr(text,
			       "Requests to tcp :80 S/119 take 0.850 ms because the event loop "
			       "of S sleeps in\n  record.\n"));
	assert_non_null(strstr(text, "event loop of S busy with /pay\n"));
	free(text);
}

/*
 * A hundred reports take 60 each, and a hundred carts 10, one of them 50, as L keeps a lock: that
 * is the slowest one beyond the median of its route, and another one takes as long as the others.
 */
TEST(routes_are_compared_with_themselves)
{
	struct text_buf b = { 0 };
	unsigned int at = 100;
	char line[300], *text;

	text_puts(&b, "thread S *\nthread L *\n0 c0 - R > S\n0 c1 - R > L\n");
	for (unsigned int i = 0; i < 198; i++) {
		unsigned int took = i == 100 ? 50 : i % 2 ? 60 : 10;

		if (i == 100)
			snprintf(line, sizeof(line),
				 "%u c0 S S > - lock|take;serve;main for=futex:17:lock\n"
				 "%u c1 L wakes S wake|unlock;main\n%u c0 - R > S\n",
				 at + 2, at + 42, at + 42);
		text_puts(&b, i == 100 ? line : "");
		snprintf(line, sizeof(line),
			 "%u c0 S request tcp::80 conn=1 arrived=%u taken=%u route=GET+/%s\n",
			 at + took, at, at, i % 2 ? "report" : "cart");
		text_puts(&b, line);
		at += took + 1;
	}
	text_puts(&b, "end 9000\n");
	text = overview(b.p, 0);
	if (!strstr(text,
		    "198 requests of 2 routes (22000.0/s), median 0.050 ms, slowest: 0.050 ms\n"
		    "    1 GET /cart of 99, 100 % of the delay; median 0.010 ms, p99 0.050 ms\n"))
		fail_msg("%s", text);
	assert_null(strstr(text, "GET /report"));
	if (!strstr(text, "  S  take  80 %  waits for a futex\n"))
		fail_msg("%s", text);
	free(text);
	text_free(&b);
}

/* A client is told for which servers it waited: A asks S twice, once by poll(), and D once. */
TEST(a_client_is_told_its_servers)
{
	static const char script[] = "0    c0 - R > A\n"
				     "0    c1 - R > S\n"
				     "100  c0 A S > - wait|recv;ask for=unix:/s~S/119\n"
				     "200  c1 S wakes A wake|reply\n"
				     "200  c0 - R > A\n"
				     "300  c0 A S > - do_sys_poll|poll;ask for=poll:unix~/s~S/119\n"
				     "900  c1 S wakes A wake|reply\n"
				     "900  c0 - R > A\n"
				     "1000 c0 A S > - wait|recv;ask for=tcp:10.0.0.5:53\n"
				     "1050 c0 - wakes A ready;net_rx_action;asm_common_interrupt\n"
				     "1050 c0 - R > A\n"
				     "1100 c0 A S > - wait|recv;ask for=udp:10.0.0.6:53\n"
				     "1105 c0 - wakes A ready;net_rx_action;asm_common_interrupt\n"
				     "1105 c0 - R > A\n"
				     "1200 c0 A S > - do_poll|poll;rest for=poll:tcp~:80\n"
				     "1900 c0 - wakes A tick;__hrtimer_run_queues;"
				     "asm_sysvec_apic_timer_interrupt\n"
				     "1900 c0 - R > A\n"
				     "end 2000\n";

	expect_text(
		overview(script, GIVEN_WHO),
		"A/101 waited for others for 0.001 of 0.002 s because S runs.\n"
		"  A  poll  79 %  waits for unix /s S/119\n"
		"   S       79 %  ran\n\n"
		"waited for unix /s S/119: 2 times, p50 0.100 ms, p99 0.600 ms, longest 0.600 ms,\n"
		"  in all 0.700 ms\n"
		"waited for tcp 10.0.0.5:53: 1 time, p50 0.050 ms, p99 0.050 ms, longest\n"
		"  0.050 ms, in all 0.050 ms\n"
		"2 of 3 servers; more: chainwalk -f objects\n\n");
	expect_text(overview(script, 0),
		    "A/101 waited for others for 0.001 of 0.002 s because S runs.\n"
		    "  A  poll  79 %  waits for unix /s S/119\n"
		    "   S       79 %  ran\n\n");
}

TEST(lines_are_of_80_columns)
{
	unsigned int lines = 0;

	for (uint32_t seed = 1; seed <= 100; seed++) {
		struct schedule *s = schedule_new(seed, seed % 2 ? SCHEDULE_WHOLE : SCHEDULE_LOSSY);
		struct options o;
		char *script, *text, *table;

		schedule_requests(s, seed % 2 == 0);
		schedule_sample(s);
		script = schedule_script(s);
		options_init(&o);
		text = script_formatted(script, &o, "causes");
		table = strstr(text, "  SHARE ");
		if (table) {
			*table = 0;
			check_lines(text, &lines);
		}
		free(text);
		free(script);
		schedule_free(s);
	}
	assert_true(lines > 300);
}
