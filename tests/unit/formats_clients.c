// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests (--requests) in the formats that show waits: made events in, what is written out. */
#include "test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "causes/causes.h"
#include "synth_script.h"

/* S reads at 300 what came at 100; up to 250 it works for another. It waits for L, and answers. */
static const char script[] =
	"thread S *\n"
	"0   c0 - R > S\n"
	"0   c1 - R > L\n"
	"250 c0 S request tcp::81 conn=1 arrived=45 taken=50\n"
	"400 c0 S S > - lock\n"
	"700 c1 L wakes S wake;unlock\n"
	"700 c0 - R > S\n"
	"900 c0 S request tcp::80 conn=2 arrived=100 taken=300 stack=send;work\n"
	"950 c0 S request tcp::80 arrived=940 taken=945 by=Q\n"
	"end 1000\n";

static struct options of_requests(const char *endpoint)
{
	struct options o;
	char why[100];

	options_init(&o);
	o.requests = true;
	assert_int_equal(regex_list_add(&o.endpoints, endpoint, why, sizeof(why)), 0);
	return o;
}

TEST(a_tree_tells_a_request_in_order_of_time)
{
	struct options o = of_requests(":80");

	o.unit = UNIT_NS;
	expect_text(script_formatted(script, &o, "tree"),
		    "[request tcp :80] S (119)\n"
		    "  +0.000100000 s  took 800000 ns\n"
		    "          +0 ns      200000 ns  arrived on connection 2, and was queued\n"
		    "                                  for tcp :81: 150000 ns\n"
		    "                                    meanwhile S (119) ran 150000 ns\n"
		    "                                  meanwhile S (119) ran 50000 ns\n"
		    "     +200000 ns                 read by S (119)\n"
		    "     +200000 ns      100000 ns  ran\n"
		    "     +300000 ns      300000 ns  slept\n"
		    "                                  in lock\n"
		    "                                  woken by L (112), which ran 300000 ns\n"
		    "                                    in wake < unlock\n"
		    "     +600000 ns      200000 ns  ran\n"
		    "     +800000 ns                 answered in send < work\n"
		    "  +0.000940000 s  took 10000 ns\n"
		    "          +0 ns        5000 ns  arrived, and was queued\n"
		    "       +5000 ns                 read by a thread that is not known; answered "
		    "by S (119), which until then\n"
		    "       +5000 ns        5000 ns  ran\n"
		    "      +10000 ns                 answered\n");
	options_free(&o);
}

/* F asks B, of another process, and then itself; both work for one trace. */
static const char traced[] = "thread F *\n"
			     "thread B S\n"
			     "0   c0 - R > F\n"
			     "110 c0 F context c0ffee 1 /cart\n"
			     "200 c0 F wakes B send;ask\n"
			     "200 c1 - R > B\n"
			     "210 c0 F S > - recv;ask\n"
			     "220 c1 B context c0ffee 2 /stock\n"
			     "500 c1 B wakes F send;reply\n"
			     "500 c0 - R > F\n"
			     "500 c1 B request tcp::81 conn=2 arrived=200 taken=220\n"
			     "510 c1 B context -\n"
			     "600 c0 F request request:log arrived=590 taken=590 probed\n"
			     "800 c0 F request tcp::80 conn=1 arrived=100 taken=100\n"
			     "end 1000\n";

TEST(requests_of_one_trace_are_one_story)
{
	struct options o = of_requests(":80 /cart");

	o.unit = UNIT_NS;
	expect_text(
		script_formatted(traced, &o, "tree"),
		"[request tcp :80 /cart] F (106)\n"
		"  +0.000100000 s  took 700000 ns\n"
		"                                trace 00000000000000000000000000c0ffee, span "
		"0000000000000001\n"
		"          +0 ns                 arrived on connection 1\n"
		"          +0 ns                 read by F (106)\n"
		"          +0 ns      110000 ns  ran\n"
		"     +100000 ns      300000 ns  | [request tcp :81 /stock] B, of the same trace\n"
		"     +100000 ns       20000 ns  | arrived on connection 2, and was queued\n"
		"     +120000 ns                 | read by B (102)\n"
		"     +120000 ns      280000 ns  | ran\n"
		"     +400000 ns                 | answered\n"
		"     +110000 ns      290000 ns  slept\n"
		"                                  in recv < ask\n"
		"                                  woken by B (102), which ran 290000 ns\n"
		"                                    in send < reply\n"
		"     +400000 ns      300000 ns  ran\n"
		"     +700000 ns                 answered\n");
	options_free(&o);
	o = of_requests(":81 /stock");
	o.unit = UNIT_NS;
	expect_text(script_formatted(traced, &o, "tree"),
		    "[request tcp :81 /stock] B (102)\n"
		    "  +0.000200000 s  took 300000 ns\n"
		    "                                trace 00000000000000000000000000c0ffee, span "
		    "0000000000000002\n"
		    "                                a part of [request tcp :80 /cart] F, which "
		    "arrived 100000 ns before and took 700000 ns\n"
		    "          +0 ns       20000 ns  arrived on connection 2, and was queued\n"
		    "                                  meanwhile B (102) ran 20000 ns\n"
		    "      +20000 ns                 read by B (102)\n"
		    "      +20000 ns      280000 ns  ran\n"
		    "     +300000 ns                 answered\n");
	options_free(&o);
}

TEST(a_trace_id_chooses_its_requests)
{
	struct options o = of_requests(":8");
	char *text;

	o.trace_id[1] = 0xc0ffee;
	o.unit = UNIT_NS;
	o.depth = 1;
	text = script_formatted(traced, &o, "folded");
	expect_text(text,
		    "[request tcp :80 /cart] F;--;[unknown stack];F;[depth limit] 290000\n"
		    "[request tcp :80 /cart] F;--;[unknown stack];F;[running] 410000\n"
		    "[request tcp :81 /stock] B;--;[unknown stack];B;[running] 280000\n"
		    "[request tcp :81 /stock] B;[queued];--;[unknown stack];B;[running] 20000\n");
	o.trace_id[0] = 1;
	expect_text(script_formatted(traced, &o, "folded"), "");
	options_free(&o);
}

/* What --from and --to leave of it; the times are since it arrived. */
TEST(a_tree_tells_the_part_that_is_shown)
{
	struct options o = of_requests(":80");

	o.unit = UNIT_NS;
	o.from_ns = 250000;
	o.to_ns = 500000;
	o.given |= GIVEN_RANGE;
	expect_text(script_formatted(script, &o, "tree"),
		    "[request tcp :80] S (119)\n"
		    "  +0.000250000 s  took 250000 ns; cut by --from or --to, in all 800000 ns\n"
		    "     +150000 ns       50000 ns  was still queued\n"
		    "                                  meanwhile S (119) ran 50000 ns\n"
		    "     +200000 ns                 read by S (119)\n"
		    "     +200000 ns      100000 ns  ran\n"
		    "     +300000 ns      100000 ns  slept\n"
		    "                                  in lock\n"
		    "                                  woken by L (112), which ran 100000 ns\n"
		    "                                    in wake < unlock\n");
	options_free(&o);
}

/* --mode=classic has no times of its links. */
TEST(a_classic_tree_is_as_of_waits)
{
	struct options o = of_requests(":80");

	o.unit = UNIT_NS;
	o.mode = MODE_CLASSIC;
	o.from_ns = 250000;
	o.to_ns = 500000;
	o.given |= GIVEN_RANGE;
	expect_text(script_formatted(script, &o, "tree"),
		    "[request tcp :80] S (119)\n"
		    "  +0.000250000 s  took 250000 ns; cut by --from or --to, in all 800000 ns\n"
		    "    answered by S (119)\n"
		    "      in send < work\n"
		    "      asleep in lock\n"
		    "      last woken by L (112), whose own last waking is not in the trace\n"
		    "        in wake < unlock\n"
		    "    queued: 50000 ns\n"
		    "      read by S (119), whose own last waking is not in the trace\n");
	options_free(&o);
}

/* S waits for a lock in three tries, of which timers end two, and runs between them. */
TEST(tries_of_one_wait_are_told_as_one)
{
	struct options o = of_requests(":80");

	o.unit = UNIT_NS;
	expect_text(script_formatted("thread S *\n"
				     "thread L *\n"
				     "0    c0 - R > S\n"
				     "0    c1 - R > L\n"
				     "100  c0 S S > - lock for=futex:17:lock\n"
				     "400  c0 - wakes S "
				     "wake;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt\n"
				     "400  c0 - R > S\n"
				     "410  c0 S S > - lock for=futex:17:lock\n"
				     "700  c0 - wakes S "
				     "wake;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt\n"
				     "700  c0 - R > S\n"
				     "710  c0 S S > - lock for=futex:17:lock\n"
				     "900  c1 L wakes S wake;unlock\n"
				     "900  c0 - R > S\n"
				     "1000 c0 S request tcp::80 conn=2 arrived=0 taken=0\n"
				     "end 1000\n",
				     &o, "tree"),
		    "[request tcp :80] S (119)\n"
		    "  +0.000000000 s  took 1000000 ns\n"
		    "          +0 ns                 arrived on connection 2\n"
		    "          +0 ns                 read by S (119)\n"
		    "          +0 ns      100000 ns  ran\n"
		    "     +100000 ns      800000 ns  slept for futex 17:lock, in 3 tries\n"
		    "                                  in lock\n"
		    "                                  woken by L (112), which ran 780000 ns\n"
		    "                                    in wake < unlock\n"
		    "     +900000 ns      100000 ns  ran\n"
		    "    +1000000 ns                 answered\n");
	options_free(&o);
}

/* Fails, and says so, unless the text has that part. */
static void has(const char *text, const char *part)
{
	if (strstr(text, part))
		return;
	fprintf(stderr, "---- no %s in\n%s", part, text);
	fail();
}

TEST(labels_in_json_are_no_links)
{
	struct options o = of_requests(":80");
	char *json = script_formatted(script, &o, "json");

	has(json, "\"name\":\"[request tcp :80] S\",\"start\":100000,\"wake\":900000,");
	has(json, "{\"labels\":[\"queued\",\"for tcp :81\"],\"links\":[{\"name\":\"S\",\"tid\":119,"
		  "\"pid\":119,\"context\":\"task\",\"stack\":{\"user\":[],\"kernel\":[]}}],"
		  "\"end\":\"running\",\"ns\":150000}");
	has(json, "{\"labels\":[\"queued\"],\"links\":[],\"end\":\"unknown\",\"ns\":5000}");
	has(json, "{\"links\":[{\"name\":\"S\",\"tid\":119,\"pid\":119,\"context\":\"task\","
		  "\"stack\":{\"user\":[],\"kernel\":[\"work\",\"send\"]}}],"
		  "\"end\":\"running\",\"ns\":300000}");
	assert_null(strstr(json, "interrupt"));
	free(json);
	options_free(&o);
}

TEST(json_says_what_a_request_was)
{
	struct options o = of_requests(":80");
	char *json = script_formatted(script_requests, &o, "json");

	has(json, "\"request\":{\"endpoint\":\"tcp :80 /cart\",\"taken\":50000,\"first_answer\":"
		  "250000,\"connection\":1,\"reader\":119,\"writer\":119,\"trace_id\":"
		  "\"00000000010000000000000000c0ffee\",\"span_id\":\"0000000000000007\","
		  "\"route\":\"/cart\",\"over\":0,\"marks\":[]},\"stack\"");
	has(json, "\"request\":{\"endpoint\":\"tcp :80 first\",\"taken\":300000,\"first_answer\":"
		  "900000,\"connection\":2,\"reader\":119,\"writer\":119,\"over\":0,"
		  "\"marks\":[\"first\"]},\"stack\"");
	free(json);
	options_free(&o);
	o = of_requests("f");
	json = script_formatted(script_requests, &o, "json");
	has(json,
	    "\"request\":{\"endpoint\":\"f\",\"taken\":910000,\"first_answer\":950000,"
	    "\"reader\":119,\"writer\":119,\"over\":0,\"label\":\"x,y\",\"marks\":[\"probed\"]},");
	free(json);
	options_free(&o);
}

TEST(the_command_of_a_cause_shows_the_request)
{
	struct options o = of_requests(":80"), causes = causes_options(&o);
	char *text = script_formatted(script, &causes, "causes");

	has(text, "chainwalk -f tree --requests -p 119 --from 0.000100 --to 0.000901");
	free(text);
	options_free(&o);
}
