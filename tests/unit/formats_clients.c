// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests (--requests) in the formats that show waits: made events in, what is written out. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
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

static void a_tree_says_who_read_and_who_answered(void **state)
{
	struct options o = of_requests(":80");

	(void)state;
	o.unit = UNIT_NS;
	expect_text(script_formatted(script, &o, "tree"),
		    "[request tcp :80] S (119)\n"
		    "  +0.000100000 s  took 800000 ns\n"
		    "    answered by S (119), which ran 300000 ns, slept 300000 ns\n"
		    "      in send < work\n"
		    "      asleep in lock\n"
		    "      woken by L (112), which ran 300000 ns\n"
		    "        in wake < unlock\n"
		    "    queued: 200000 ns\n"
		    "      for tcp :81: 150000 ns\n"
		    "        read by S (119), which ran 150000 ns\n"
		    "      read by S (119), which ran 50000 ns\n"
		    "  +0.000940000 s  took 10000 ns\n"
		    "    queued: 5000 ns; who read it is not known\n"
		    "    answered by S (119), which ran 5000 ns\n"
		    "      in an unknown place (no stack)\n");
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

static void labels_in_json_are_no_links(void **state)
{
	struct options o = of_requests(":80");
	char *json = script_formatted(script, &o, "json");

	(void)state;
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

static void the_command_of_a_cause_shows_the_request(void **state)
{
	struct options o = of_requests(":80"), causes = causes_options(&o);
	char *text = script_formatted(script, &causes, "causes");

	(void)state;
	has(text, "chainwalk -f tree --requests -p 119 --from 0.000100 --to 0.000901");
	free(text);
	options_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tree_says_who_read_and_who_answered),
		cmocka_unit_test(labels_in_json_are_no_links),
		cmocka_unit_test(the_command_of_a_cause_shows_the_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
