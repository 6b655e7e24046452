// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables as JSON, and on a screen. */
#include "test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "synth_script.h"

/* A waits for a peer and for a file, each time for B, and then for nothing known. */
static const char waits[] = "0    c0 - R > A\n"
			    "0    c1 - R > B\n"
			    "100  c0 A S > - krecv|recv;main for=tcp:10.0.0.5:80\n"
			    "200  c1 B wakes A kwake|bsend\n"
			    "200  c0 - R > A\n"
			    "300  c0 A D > - kio|pread;main for=file:/a/\"file\"\n"
			    "600  c1 B wakes A kwake|bsend\n"
			    "600  c0 - R > A\n"
			    "700  c0 A S > - kfutex|lock;main\n"
			    "800  c1 B wakes A kwake|bsend\n"
			    "800  c0 - R > A\n"
			    "end 1000\n";

static struct options as_json(void)
{
	struct options o = script_options(101);

	o.json = true;
	return o;
}

TEST(a_row_is_an_object)
{
	struct options o = as_json();

	expect_text(script_formatted(waits, &o, "objects"),
		    "{\"object\":\"[file /a/\\\"file\\\"]\",\"waits\":1,\"blocked_ns\":300000,"
		    "\"longest_ns\":300000,\"p50_ns\":300000,\"p99_ns\":300000,\"waited\":\"A\","
		    "\"ended_by\":\"B\",\"objects\":1,\"held_by\":[]}\n"
		    "{\"object\":null,\"waits\":1,\"blocked_ns\":100000,"
		    "\"longest_ns\":100000,\"p50_ns\":100000,\"p99_ns\":100000,\"waited\":\"A\","
		    "\"ended_by\":\"B\",\"objects\":1,\"held_by\":[]}\n"
		    "{\"object\":\"[tcp 10.0.0.5:80]\",\"waits\":1,\"blocked_ns\":100000,"
		    "\"longest_ns\":100000,\"p50_ns\":100000,\"p99_ns\":100000,\"waited\":\"A\","
		    "\"ended_by\":\"B\",\"objects\":1,\"held_by\":[]}\n");
	expect_text(script_formatted(waits, &o, "wakers"),
		    "{\"waker\":\"B\",\"target\":\"A\",\"count\":3,\"blocked_ns\":500000,"
		    "\"longest_ns\":300000}\n");
	o.top = 1;
	expect_text(script_formatted(waits, &o, "threads"),
		    "{\"tid\":101,\"pid\":101,\"name\":\"A\",\"running_ns\":500000,"
		    "\"blocked_ns\":500000,\"runnable_ns\":0,\"preempted_ns\":0,\"unknown_ns\":0,"
		    "\"lifetime_ns\":1000000,\"waits\":3,\"longest_ns\":300000,"
		    "\"waited_ns\":500000,\"blocked_for_file_ns\":300000,"
		    "\"blocked_for_tcp_ns\":100000,\"blocked_for_others_ns\":100000,"
		    "\"interrupts_ns\":null}\n");
}

TEST(a_bar_is_an_object)
{
	struct options o = as_json();

	o.by_name = true;
	expect_text(script_formatted(waits, &o, "hist"),
		    "{\"from_ns\":64000,\"to_ns\":128000,\"count\":2,\"name\":\"A\"}\n"
		    "{\"from_ns\":256000,\"to_ns\":512000,\"count\":1,\"name\":\"A\"}\n");
	o.by_name = false;
	o.unit = UNIT_NS;
	expect_text(script_formatted(waits, &o, "hist"),
		    "{\"from_ns\":65536,\"to_ns\":131072,\"count\":2}\n"
		    "{\"from_ns\":262144,\"to_ns\":524288,\"count\":1}\n");
}

TEST(what_is_not_known_is_null)
{
	struct options o;

	options_init(&o);
	o.json = true;
	expect_text(script_formatted("0    c0 - R > A\n"
				     "390  c0 - disk-done vda flush 0 - -\n"
				     "end 1000\n",
				     &o, "io"),
		    "{\"device\":\"vda\",\"does\":\"flush\",\"requests\":1,\"bytes\":0,"
		    "\"queued_p50_ns\":null,\"queued_p99_ns\":null,\"device_p50_ns\":null,"
		    "\"device_p99_ns\":null,\"device_longest_ns\":0,\"asked_by\":\"[unknown]\"}\n");
}

TEST(requests_are_three_tables)
{
	struct options o;

	options_init(&o);
	o.json = true;
	expect_text(
		script_formatted(
			"0   c0 - R > S\n"
			"900 c0 S request tcp::80 conn=7 arrived=100 taken=300 answered=900\n"
			"end 1000\n",
			&o, "requests"),
		"{\"table\":\"endpoints\",\"endpoint\":\"tcp :80 S/119\",\"route\":null,"
		"\"service\":\"tcp :80 S/119\",\"requests\":1,"
		"\"per_second\":1000.0,\"mean_ns\":800000,\"p50_ns\":800000,\"p90_ns\":800000,"
		"\"p99_ns\":800000,\"p99_9_ns\":800000,\"longest_ns\":800000,\"open\":0,"
		"\"from_before_the_recording\":0,\"incomplete\":0,\"pipelined\":0,"
		"\"of_several_writes\":0,\"not_sent_at_once\":0,\"on_older_connections\":0}\n"
		"{\"table\":\"time\",\"endpoint\":\"tcp :80 S/119\",\"all_ns\":600000,"
		"\"median_ns\":600000,\"slowest_ns\":600000,\"what\":\"ran\",\"kind\":\"ran\"}\n"
		"{\"table\":\"time\",\"endpoint\":\"tcp :80 S/119\",\"all_ns\":200000,"
		"\"median_ns\":200000,\"slowest_ns\":200000,\"what\":\"queued\","
		"\"kind\":\"queued\"}\n"
		"{\"table\":\"slowest\",\"endpoint\":\"tcp :80 S/119\",\"arrived_ns\":100000,"
		"\"took_ns\":800000,\"over_ns\":0,\"queued_ns\":200000,\"connection\":7,\"read_"
		"by\":\"S/119\","
		"\"answered_by\":\"S/119\"}\n");
}

static void fits(char *text, size_t columns, size_t lines)
{
	size_t n = 0;

	for (const char *line = text; *line; line += strcspn(line, "\n") + 1, n++)
		/* But for what stands below in brackets. */
		if (*line != '(' && strcspn(line, "\n") > columns)
			fail_msg("wider than %zu: %.*s\n%s", columns, (int)strcspn(line, "\n"),
				 line, text);
	if (n > lines)
		fail_msg("%zu lines:\n%s", n, text);
	free(text);
}

TEST(on_a_screen_it_fits)
{
	struct options o;

	options_init(&o);
	o.lines = 40;
	for (o.columns = 40; o.columns < 200; o.columns++) {
		fits(script_formatted(waits, &o, "threads"), o.columns, 40);
		fits(script_formatted(waits, &o, "objects"), o.columns, 40);
		fits(script_formatted(waits, &o, "wakers"), o.columns, 40);
	}
	o.columns = 60;
	expect_text(script_formatted(waits, &o, "objects"),
		    "OBJECT            WAITS BLOCKED LONGEST  WAITED  ENDED BY\n"
		    "[file /a/\"file\"]      1   0.300   0.300  A       B\n"
		    "not known             1   0.100   0.100  A       B\n"
		    "[tcp 10.0.0.5:80]     1   0.100   0.100  A       B\n"
		    "all of them           3   0.500   0.300\n"
		    "(times in ms; 3 objects; --wide shows 2 more columns)\n");
}

TEST(names_are_cut_in_the_middle)
{
	struct options o = script_options(101);

	o.columns = 40;
	expect_text(script_formatted("0    c0 - R > A\n"
				     "100  c0 A S > - k for=file:/var/lib/äöü/a/very/long/name\n"
				     "200  c0 B wakes A wake\n"
				     "200  c0 - R > A\n"
				     "end 300\n",
				     &o, "objects"),
		    "OBJECT             WAITS BLOCKED LONGEST\n"
		    "[file /v..ng/name]     1   0.100   0.100\n"
		    "all of them            1   0.100   0.100\n"
		    "(times in ms; 1 objects; --wide shows 4 more columns)\n");
}

TEST(a_low_screen_has_fewer_rows)
{
	char script[4096] = "0 c0 - R > A\n";
	struct options o = script_options(101);

	for (int i = 1; i <= 30; i++)
		snprintf(script + strlen(script), sizeof(script) - strlen(script),
			 "%d00 c0 A S > - k for=file:/f%02d\n"
			 "%d50 c0 - R > A\n",
			 i, i, i);
	strcat(script, "end 9000\n");
	o.lines = 15;
	o.columns = 80;
	o.quiet = true;
	fits(script_formatted(script, &o, "objects"), 80, 14);
	o.quiet = false; /* the summary stands below */
	fits(script_formatted(script, &o, "objects"), 80, 9);
	o.lines = 0;
	o.columns = 0;
	fits(script_formatted(script, &o, "objects"), 200, 33);
}

/* The first endpoints, and where the time of the first one went: no single requests. */
TEST(requests_on_a_screen)
{
	char script[4096] = "0   c0 - R > S\n", line[200];
	struct options o;
	char *text;

	options_init(&o);
	for (int i = 1; i <= 5; i++) {
		snprintf(line, sizeof(line),
			 "%d00 c0 S request tcp::8%d conn=%d arrived=%d00 taken=%d30 "
			 "answered=%d00\n",
			 9 * i, i, i, i, i, 9 * i);
		strcat(script, line);
	}
	strcat(script, "end 9000\n");
	o.columns = 80;
	o.lines = 24;
	o.quiet = true;
	text = script_formatted(script, &o, "requests");
	assert_non_null(strstr(text, "--wide shows all 5 endpoints"));
	assert_non_null(strstr(text, "tcp :85 S/119: where the time went\n"));
	assert_null(strstr(text, "the slowest:\n"));
	assert_non_null(strstr(text, "\none of the slowest: chainwalk -f tree --request "));
	*strstr(text, "one of the slowest: ") = '\0'; /* a command is as long as it is */
	fits(text, 80, 20);
}
