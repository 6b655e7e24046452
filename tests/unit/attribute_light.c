// SPDX-License-Identifier: GPL-2.0-or-later
/* Light recordings (chain-semantics, section 21): user stacks that come late, and those that do
 * not. */
#include "test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle_script.h"
#include "synth_script.h"

/* A's lines, in ns, by both engines. */
static void shows(const char *script, const char *expected)
{
	struct oracle_asked asked = { .depth = 6 };
	struct options o = oracle_options(asked);
	struct synth *m = script_made(script);
	struct trace *t = synth_open(m);
	char *all = oracle_folded(t, &asked), *of_a = NULL, *line, *rest = all;
	uint32_t a = 101;
	size_t len;
	FILE *f = open_memstream(&of_a, &len);

	while ((line = strsep(&rest, "\n")))
		if (!strncmp(line, "A;", 2))
			fprintf(f, "%s\n", line);
	fclose(f);
	free(all);
	o.tids = (struct id_list) { &a, 1 };
	o.quiet = true;
	expect_text(trace_folded(t, &o), expected);
	expect_text(of_a, expected);
	trace_close(t);
	synth_free(m);
}

#define A_WAITS_FOR_B                    \
	"0   c0 - R > B\n"               \
	"0   c1 - R > A\n"               \
	"0   c2 - R > C\n"               \
	"100 c1 A S > - recv\n"          \
	"200 c0 B S > - lock\n"          \
	"300 c2 C wakes B wake;unlock\n" \
	"310 c0 - R > B\n"               \
	"900 c0 B wakes A wake;send|work\n"

TEST(the_example)
{
	shows("light 500\n" A_WAITS_FOR_B "900 c0 A slept-at |main\n"
	      "930 c1 - R > A\n"
	      "end 1000\n",
	      "A;main;-;recv;--;wake;send;-;work;B;--;wake;unlock;-;[short];C;[running] 100000\n"
	      "A;main;-;recv;--;wake;send;-;work;B;[runnable] 10000\n"
	      "A;main;-;recv;--;wake;send;-;work;B;[running] 690000\n"
	      "A;main;-;recv;[runnable] 30000\n");
}

/* Whoever sleeps on has one, too: told at any time of the sleep. */
TEST(a_stack_is_told_while_it_sleeps)
{
	shows("light 500\n"
	      "0   c1 - R > A\n"
	      "100 c1 A S > - recv\n"
	      "700 c0 A slept-at |main\n"
	      "end 2000\n",
	      "A;main;-;recv;[not woken] 1900000\n");
}

/* A sleep of which the stacks were left out, as too many were wanted, is as a short one. */
TEST(what_is_left_out_is_short)
{
	shows("light 500\n" A_WAITS_FOR_B "900 c0 A slept-at\n"
	      "930 c1 - R > A\n"
	      "end 1000\n",
	      "A;[short];-;recv;--;wake;send;-;work;B;--;wake;unlock;-;[short];C;[running] 100000\n"
	      "A;[short];-;recv;--;wake;send;-;work;B;[runnable] 10000\n"
	      "A;[short];-;recv;--;wake;send;-;work;B;[running] 690000\n"
	      "A;[short];-;recv;[runnable] 30000\n");
}

/* Of a sleep that is long they are unknown: they were lost. */
TEST(only_what_is_short_is_called_so)
{
#define SLEEPS(switched, woke)          \
	"0   c0 - R > B\n"              \
	"0   c1 - R > A\n"              \
	"100 c1 A S > - " switched "\n" \
	"900 c0 B wakes A " woke "\n"   \
	"930 c1 - R > A\n"              \
	"end 1000\n"
	shows("light 800.001\n" SLEEPS("recv", "wake"),
	      "A;[short];-;recv;--;wake;-;[short];B;[running] 800000\n"
	      "A;[short];-;recv;[runnable] 30000\n");
	shows("light 800.001\n" SLEEPS("", ""), "A;[short];--;[short];B;[running] 800000\n"
						"A;[short];[runnable] 30000\n");
	shows("light 800\n" SLEEPS("", ""),
	      "A;[unknown stack];--;[unknown stack];B;[running] 800000\n"
	      "A;[unknown stack];[runnable] 30000\n");
	shows("light 800\n" SLEEPS("recv", "wake"), "A;recv;--;wake;B;[running] 800000\n"
						    "A;recv;[runnable] 30000\n");
	shows(SLEEPS("", ""), "A;[unknown stack];--;[unknown stack];B;[running] 800000\n"
			      "A;[unknown stack];[runnable] 30000\n");
	/* Neither threads of the kernel nor interrupts have any. */
	shows("light 800.001\nthread B *+\n" SLEEPS("recv", "wake"),
	      "A;[short];-;recv;--;wake;B;[running] 800000\n"
	      "A;[short];-;recv;[runnable] 30000\n");
	shows("light 800.001\n" SLEEPS("recv", "wake;asm_common_interrupt;f"),
	      "A;[short];-;recv;--;wake;asm_common_interrupt;[interrupt] 800000\n"
	      "A;[short];-;recv;[runnable] 30000\n");
#undef SLEEPS
}

/* How long A had slept is not known, so that its waking says no more than in other recordings. */
TEST(what_is_known_by_its_waking_alone_is_not_called_short)
{
	shows("light 500\n"
	      "100 c0 B S > -\n"
	      "200 c0 - R > B\n"
	      "300 c0 B wakes A wake\n"
	      "310 c1 - R > A\n"
	      "320 c0 B wakes A wake\n"
	      "end 1000\n",
	      "A;[unknown stack];[runnable] 10000\n");
}

/* What the switch-out said is not contradicted, nor another sleep's, or none's. */
TEST(stacks_of_no_sleep_have_no_effect)
{
	shows("light 1\n"
	      "0   c0 - R > B\n"
	      "0   c1 - R > A\n"
	      "100 c1 A S > - recv|main\n"
	      "100 c1 A slept-at |other\n"
	      "200 c1 A slept-at other|other\n"
	      "900 c0 B wakes A wake\n"
	      "910 c1 A slept-at |other\n"
	      "930 c1 - R > A\n"
	      "940 c1 A slept-at |other\n"
	      "950 c1 A S > - nap\n"
	      "960 c0 B wakes A wake\n"
	      "970 c1 - R > A\n"
	      "980 c1 A slept-at |other\n"
	      "end 1000\n",
	      "A;main;-;recv;--;wake;B;[running] 800000\n"
	      "A;main;-;recv;[runnable] 30000\n"
	      "A;nap;--;wake;B;[running] 10000\n"
	      "A;nap;[runnable] 10000\n");
}

/* What it waited for stays; but a kernel stack may say that it was not in that call after all. */
TEST(objects_stay)
{
#define SLEEPS(switched, told)                       \
	"light 1\n"                                  \
	"0   c0 - R > B\n"                           \
	"0   c1 - R > A\n"                           \
	"100 c1 A S > - " switched " for=tcp:peer\n" \
	"900 c0 B wakes A wake\n"                    \
	"900 c0 A slept-at " told "\n"               \
	"930 c1 - R > A\n"                           \
	"end 1000\n"
	shows(SLEEPS("recv", "|main"), "A;main;[tcp];-;recv;--;wake;B;[running] 800000\n"
				       "A;main;[tcp];-;recv;[runnable] 30000\n");
	shows(SLEEPS("", "recv|main"), "A;main;[tcp];-;recv;--;wake;B;[running] 800000\n"
				       "A;main;[tcp];-;recv;[runnable] 30000\n");
	shows(SLEEPS("", "f;asm_exc_page_fault;recv|main"),
	      "A;main;-;recv;asm_exc_page_fault;f;--;wake;B;[running] 800000\n"
	      "A;main;-;recv;asm_exc_page_fault;f;[runnable] 30000\n");
#undef SLEEPS
}
