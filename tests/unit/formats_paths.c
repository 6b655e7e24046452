// SPDX-License-Identifier: GPL-2.0-or-later
/* The first screen of a command, and of a process that the user names: its path and longest steps.
 */
#include "test.h"
#include <stdlib.h>
#include <string.h>

#include "synth_many.h"

/*
 * What is before the table of causes, to be freed. process: a number of -p, or 0; times in
 * milliseconds, to_ms 0: up to the end.
 */
static char *screen(const char *script, bool command, uint32_t process, uint64_t from_ms,
		    uint64_t to_ms)
{
	struct options o;
	char *text, *table;

	options_init(&o);
	o.command = command ? 101 : 0;
	if (process) {
		o.processes.ids = (struct id_list) { &process, 1 };
		o.given |= GIVEN_WHO;
	}
	o.from_ns = from_ms * 1000000;
	if (to_ms)
		o.to_ns = to_ms * 1000000;
	o.given |= from_ms || to_ms ? GIVEN_RANGE : 0;
	text = script_formatted(script, &o, "causes");
	table = strstr(text, "  SHARE ");
	assert_non_null(table);
	*table = 0;
	return text;
}

#define WAITS " do_wait;wait4|wait4;run;main for=child:\n"
#define ENDS " wake;do_notify_parent;do_exit|exit\n"

/*
 * A shell starts two compilers, each below a driver that only waits for it, and then four short
 * programs. Another program with the same name and arguments is none of its own.
 */
static const char build[] = "queues interrupts A\n"
			    "thread A *\n"
			    "thread X *\n"
			    "born B\nborn C\nborn D\nborn E\nborn F\nborn G\nborn H\nborn I\n"
			    "0      c0 - R > A\n"
			    "0      c1 - R > X\n"
			    "10000  c1 X execs /lib/cc1 -quiet huge.c\n"
			    "20000  c0 A forks B\n"
			    "20000  c0 A new B\n"
			    "20000  c0 A S > B" WAITS "21000  c0 B execs /bin/cc -c huge.c\n"
			    "21000  c0 B renames-to cc\n"
			    "30000  c0 B forks C\n"
			    "30000  c0 B new C\n"
			    "30000  c0 B S > C" WAITS "31000  c0 C execs /lib/cc1 -quiet huge.c\n"
			    "31000  c0 C renames-to cc1\n"
			    "529000 c0 C wakes B" ENDS "529000 c0 C X > B\n"
			    "530000 c0 B wakes A" ENDS "530000 c0 B X > A\n"
			    "540000 c0 A forks D\n"
			    "540000 c0 A new D\n"
			    "540000 c0 A S > D" WAITS "541000 c0 D execs /bin/cc -c small.c\n"
			    "541000 c0 D renames-to cc\n"
			    "542000 c0 D forks E\n"
			    "542000 c0 D new E\n"
			    "542000 c0 D S > E" WAITS "543000 c0 E execs /lib/cc1 -quiet small.c\n"
			    "543000 c0 E renames-to cc1\n"
			    "699000 c0 E wakes D" ENDS "699000 c0 E X > D\n"
			    "700000 c0 D wakes A" ENDS "700000 c0 D X > A\n"
			    "720000 c0 A forks F\n720000 c0 A new F\n720000 c0 A S > F" WAITS
			    "720000 c0 F execs /bin/expr 1\n720000 c0 F renames-to expr\n"
			    "735000 c0 F wakes A" ENDS "735000 c0 F X > A\n"
			    "740000 c0 A forks G\n740000 c0 A new G\n740000 c0 A S > G" WAITS
			    "740000 c0 G execs /bin/expr 2\n740000 c0 G renames-to expr\n"
			    "755000 c0 G wakes A" ENDS "755000 c0 G X > A\n"
			    "760000 c0 A forks H\n760000 c0 A new H\n760000 c0 A S > H" WAITS
			    "760000 c0 H execs /bin/ls -l\n760000 c0 H renames-to ls\n"
			    "788000 c0 H wakes A" ENDS "788000 c0 H X > A\n"
			    "1000000 c0 A X > -\n"
			    "end 1100000\n";

TEST(a_command_says_its_longest_steps)
{
	expect_text(
		screen(build, true, 0, 0, 0),
		"A took 1.000 s with 1.0 of 2 CPUs busy because cc1 runs.\n"
		"  A    wait4  73 %  waits for its child\n"
		"   cc1        66 %  ran\n"
		"  A           27 %  ran\n"
		"  longest steps: 0.499 s huge.c (cc1), 0.157 s small.c (cc1), 0.030 s expr x 2\n"
		"\n");
}

/*
 * A report says which process had the time when, to a four hundredth. The shell runs, the compilers
 * and short programs, and the shell again, which four of them are too short for.
 */
TEST(a_report_says_which_process_had_the_time_when)
{
	struct options o;
	char *text, *path, *end;

	options_init(&o);
	o.command = 101;
	text = script_formatted(build, &o, "html");
	path = strstr(text, "\"path\":[");
	assert_non_null(path);
	end = strchr(path, ']');
	assert_non_null(end);
	*end = 0;
	/* From, how long, the number of the name in the page's strings, and the end: it ran. */
	expect_text(strdup(path), "\"path\":[0,20000000,2,0,"
				  "20000000,10000000,8,0,30000000,500000000,9,0,"
				  "530000000,10000000,2,0,"
				  "540000000,2500000,10,0,542500000,157500000,11,0,"
				  "700000000,20000000,2,0,"
				  "720000000,15000000,12,0,735000000,5000000,2,0,"
				  "740000000,15000000,13,0,755000000,5000000,2,0,"
				  "760000000,27500000,14,0,787500000,212500000,2,0");
	free(text);
}

/* What is asked for is a part of it. */
TEST(a_part_of_a_command_is_shown)
{
	expect_text(
		screen(build, true, 0, 600, 720),
		"A took 0.120 s (from 0.600 to 0.720 s) with 1.0 of 2 CPUs busy because cc1 runs.\n"
		"  A    wait4  83 %  waits for its child\n"
		"   cc1        83 %  ran\n"
		"  longest steps: 0.099 s small.c (cc1)\n"
		"\n");
}

/* A process that the user names is told like a command, and its driver's wait is not told again. */
TEST(a_process_is_told_as_a_command)
{
	expect_text(screen(build, false, 102, 0, 0),
		    "cc/102 took 0.510 s with 0.0 of 2 CPUs busy because cc1 runs.\n"
		    "  cc   wait4  98 %  waits for its child\n"
		    "   cc1        98 %  ran\n"
		    "  longest steps: 0.499 s huge.c (cc1)\n"
		    "\n");
}

/* A is a compiler's driver, of which one program compiles, and another one assembles. */
TEST(the_file_that_is_compiled_is_told)
{
	char *text = screen("queues interrupts A\n"
			    "thread A *\n"
			    "born B\nborn C\nborn D\n"
			    "0      c0 - R > A\n"
			    "20000  c0 A forks B\n"
			    "20000  c0 A new B\n"
			    "20000  c0 A S > B" WAITS
			    "21000  c0 B execs /lib/cc1plus -quiet -imultiarch x86_64-linux-gnu "
			    "src/slow.cc -dumpbase slow.cc -o /tmp/ccJLTDzQ.s\n"
			    "21000  c0 B renames-to cc1plus\n"
			    "529000 c0 B wakes A" ENDS "529000 c0 B X > A\n"
			    "530000 c0 A forks C\n"
			    "530000 c0 A new C\n"
			    "530000 c0 A S > C" WAITS
			    "531000 c0 C execs /bin/as -o slow.o /tmp/ccJLTDzQ.s\n"
			    "531000 c0 C renames-to as\n"
			    "829000 c0 C wakes A" ENDS "829000 c0 C X > A\n"
			    "830000 c0 A forks D\n"
			    "830000 c0 A new D\n"
			    "830000 c0 A S > D" WAITS
			    "831000 c0 D execs /lib/cc1 -quiet -I /tmp/build/gen -Wconversion\n"
			    "831000 c0 D renames-to cc1\n"
			    "981000 c0 D wakes A" ENDS "981000 c0 D X > A\n"
			    "1000000 c0 A X > -\n"
			    "end 1000000\n",
			    true, 0, 0, 0);

	/* Of the last one the line of arguments was recorded in part. */
	expect_text(strdup(strstr(text, "  longest steps: ")),
		    "  longest steps: 0.509 s src/slow.cc (cc1plus), 0.299 s slow.o (as), 0.151 s "
		    "cc1\n\n");
	free(text);
}

/* Requests to it say more. */
TEST(a_server_is_told_by_its_requests)
{
	char *text = screen("thread S *\n"
			    "0      c0 - R > S\n"
			    "100000 c0 S S > - wait|take;serve;main\n"
			    "400000 c0 - wakes S wake\n"
			    "400000 c0 - R > S\n"
			    "900000 c0 S request tcp::80 conn=1 arrived=100000 taken=400000\n"
			    "end 1000000\n",
			    false, 119, 0, 0);

	if (strncmp(text, "Requests to tcp :80", strlen("Requests to tcp :80")))
		fail_msg("%s", text);
	free(text);
}

/* A runs, and then waits for a CPU that X has. */
static const char crowded[] = "queues interrupts A\n"
			      "thread A *\n"
			      "thread X *\n"
			      "thread Y *\n"
			      "0      c0 - R > A\n"
			      "0      c1 - R > Y\n"
			      "300000 c0 A R > X\n"
			      "900000 c0 X R > A\n"
			      "1000000 c0 A X > -\n"
			      "end 1000000\n";

TEST(what_others_have_of_the_cpus_is_said)
{
	expect_text(
		screen(crowded, true, 0, 0, 0),
		"A took 1.000 s with 0.4 of 2 CPUs busy: the CPUs are what it waits for, of which\n"
		"  other programs had 1.6.\n"
		"  A  100 %  ran, 60 % of it without CPU\n"
		"\n");
}

/* A waits for its child B, which serves, and waits for C, that for D, and so on. */
static const char serving[] =
	"queues interrupts A\n"
	"thread A *\nthread C *\nthread D *\nthread E *\n"
	"born B\n"
	"0      c0 - R > A\n"
	"0      c1 - R > C\n"
	"0      c2 - R > D\n"
	"0      c3 - R > E\n"
	"20000  c0 A forks B\n"
	"20000  c0 A new B\n"
	"20000  c0 A S > B" WAITS "50000  c3 E S > - do_nanosleep|rest;main for=sleep:1s\n"
	"50000  c2 D S > - wait|recv;third;main\n"
	"50000  c1 C S > - wait|recv;second;main\n"
	"50000  c0 B S > - wait|recv;first;main\n"
	"900000 c3 - wakes E ttwu_do;tick;__hrtimer_run_queues;asm_sysvec_apic_timer_interrupt\n"
	"900000 c3 - R > E\n"
	"901000 c3 E wakes D wake|send;main\n"
	"901000 c2 - R > D\n"
	"902000 c2 D wakes C wake|send;main\n"
	"902000 c1 - R > C\n"
	"903000 c1 C wakes B wake|send;main\n"
	"903000 c0 - R > B\n"
	"904000 c0 B request tcp::80 conn=1 arrived=40000 taken=45000 answered=904000\n"
	"905000 c0 B wakes A" ENDS "905000 c0 B X > A\n"
	"1000000 c0 A X > -\n"
	"end 1000000\n";

/* The lines of all of it, and how often a place is in them. */
static size_t lines_of(uint32_t lines, const char *place, size_t *n)
{
	struct options o;
	size_t all = 0;
	char *text;

	options_init(&o);
	o.command = 101;
	o.columns = 80;
	o.lines = lines;
	text = script_formatted(serving, &o, "causes");
	*n = 0;
	for (const char *at = text; (at = strstr(at, place)); at++)
		++*n;
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		all++;
	free(text);
	return all;
}

/* Its requests say more than a command's chain, which gives way to theirs. */
TEST(a_command_leaves_its_requests_room)
{
	size_t n;

	lines_of(60, "slept (timer)", &n);
	if (n != 2)
		fail_msg("%zu", n);
	if (lines_of(24, "slept (timer)", &n) > 18 || n != 1)
		fail_msg("%zu", n);
	/* Its sentence stays. */
	lines_of(10, "A took 1.000 s", &n);
	if (n != 1)
		fail_msg("%zu", n);
}
