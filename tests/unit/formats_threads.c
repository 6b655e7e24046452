// SPDX-License-Identifier: GPL-2.0-or-later
/* --format=threads: the order of its rows, and what the column WAITED adds up. */
#include "test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "synth_script.h"

/* A sleeps in epoll 800 us; B on a lock 300 us, and is preempted 50; C runs most. */
static const char script[] = "0    c0 - R > A\n"
			     "0    c1 - R > B\n"
			     "0    c2 - R > C\n"
			     "100  c0 A S > - schedule;do_epoll_wait\n"
			     "200  c1 B S > - schedule;lock\n"
			     "500  c2 C wakes B unlock\n"
			     "510  c1 - R > B\n"
			     "600  c1 B R > - work\n"
			     "650  c1 - R > B\n"
			     "900  c2 C wakes A send\n"
			     "900  c0 - R > A\n"
			     "end 1000\n";

/* The last but one of the columns, with a blank before it. */
static const char *before_last(char *line)
{
	size_t end = (size_t)(strrchr(line, ' ') - line);

	while (end && line[end - 1] == ' ')
		end--;
	line[end] = '\0';
	return strrchr(line, ' ');
}

/* "A 0.800, B 0.310, ...; the last line": names and WAITED. */
static char *waited(const struct options *o)
{
	char *table = script_formatted(script, o, "threads"), *rest = table, *line, *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)strsep(&rest, "\n");
	while ((line = strsep(&rest, "\n")) && *line) {
		char name[17] = "";

		if (*line == '(')
			fprintf(out, "%s\n", strstr(line, "WAITED"));
		else if (sscanf(line, "%*u %*u %16s", name) == 1)
			fprintf(out, "%s%s\n", name, before_last(line));
	}
	fclose(out);
	free(table);
	return text;
}

TEST(who_waited_most_comes_first)
{
	struct options o;

	options_init(&o);
	expect_text(waited(&o), "A 0.800\nB 0.310\nC 0.000\nWAITED: blocked, runnable)\n");
	o.parts = PART_RUNNABLE | PART_PREEMPTED;
	expect_text(waited(&o), "B 0.060\nC 0.000\nA 0.000\nWAITED: runnable, preempted)\n");
}

TEST(waited_is_of_the_chosen_waits)
{
	struct options o;

	options_init(&o);
	o.no_idle = true;
	expect_text(waited(&o), "B 0.310\nC 0.000\nA 0.000\n"
				"WAITED: blocked, runnable, without idle waits)\n");
	o.no_idle = false;
	o.parts = PART_BLOCKED;
	o.max_wait_ns = 700000;
	o.given = GIVEN_WAIT;
	expect_text(waited(&o), "B 0.300\nC 0.000\nA 0.000\n"
				"WAITED: blocked, only the waits chosen)\n");
}
