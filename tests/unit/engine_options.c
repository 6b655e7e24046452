// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line of chainwalk: what each option sets, and what is refused. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command_line.h"
#include "common/duration.h"

#define MAX_ARGS 64

/* Parses a command line given as one string, words separated by single spaces. */
static int parse(struct options *o, char *why, size_t why_size, const char *line)
{
	static char buf[512];
	static char *argv[MAX_ARGS];
	int argc = 0;

	snprintf(buf, sizeof(buf), "chainwalk%s%s", *line ? " " : "", line);
	for (char *word = strtok(buf, " "); word; word = strtok(NULL, " ")) {
		assert_true(argc < MAX_ARGS - 1);
		argv[argc++] = word;
	}
	argv[argc] = NULL;
	*why = 0;
	return options_parse(o, argc, argv, why, why_size);
}

static struct options accept(const char *line)
{
	struct options o;
	char why[200];
	int err = parse(&o, why, sizeof(why), line);

	if (err)
		fail_msg("%s: %s", line, why);
	return o;
}

static void refuse(const char *line, const char *message)
{
	struct options o;
	char why[200];

	assert_int_equal(parse(&o, why, sizeof(why), line), -EINVAL);
	assert_string_equal(why, message);
	options_free(&o);
}

static void nothing_given_means_the_documented_defaults(void **state)
{
	struct options o = accept("");

	(void)state;
	assert_int_equal(o.depth, 6);
	assert_int_equal(o.mode, MODE_EXACT);
	assert_string_equal(o.format, "folded");
	assert_int_equal(o.parts, PART_BLOCKED | PART_RUNNABLE);
	assert_string_equal(o.states, "");
	assert_int_equal(o.unit, UNIT_US);
	assert_int_equal(o.root, ROOT_NONE);
	assert_true(o.kernel && o.user);
	assert_int_equal(o.from_ns, 0);
	assert_true(o.to_ns == UINT64_MAX && o.max_wait_ns == UINT64_MAX);
	assert_int_equal(o.given, 0);
	assert_int_equal(o.n_traces, 0);
	assert_null(o.output);
	options_free(&o);
}

static void every_option_sets_its_value(void **state)
{
	struct options o = accept("--depth 3 --mode classic -f tree -p 10 -p 11 -t 12 -c ^web "
				  "--within do_command --without idle --from 1.5 --to 2 "
				  "--min-wait 10us --max-wait 2ms --state D,preempted "
				  "--no-kthreads --unit ns --top 5 -o out.txt -v a.bin");

	(void)state;
	assert_int_equal(o.depth, 3);
	assert_int_equal(o.mode, MODE_CLASSIC);
	assert_string_equal(o.format, "tree");
	assert_int_equal(o.processes.ids.n, 2);
	assert_int_equal(o.processes.ids.ids[0], 10);
	assert_int_equal(o.processes.ids.ids[1], 11);
	assert_int_equal(o.tids.n, 1);
	assert_int_equal(o.tids.ids[0], 12);
	assert_true(regex_list_match(&o.names, "webserver"));
	assert_false(regex_list_match(&o.names, "a webserver"));
	assert_true(regex_list_match(&o.within, "x_do_command_y"));
	assert_true(regex_list_match(&o.without, "idle"));
	assert_int_equal(o.from_ns, 1500000000);
	assert_int_equal(o.to_ns, 2000000000);
	assert_int_equal(o.min_wait_ns, 10000);
	assert_int_equal(o.max_wait_ns, 2000000);
	assert_int_equal(o.parts, PART_BLOCKED | PART_RUNNABLE | PART_PREEMPTED);
	assert_string_equal(o.states, "D");
	assert_true(o.no_kthreads);
	assert_int_equal(o.unit, UNIT_NS);
	assert_int_equal(o.top, 5);
	assert_string_equal(o.output, "out.txt");
	assert_true(o.verbose);
	assert_int_equal(o.n_traces, 1);
	assert_string_equal(o.traces[0], "a.bin");
	options_free(&o);

	o = accept("--blocked-stacks --annotate --no-ends --no-delim -K -q -");
	assert_true(o.blocked_stacks && o.annotate && o.no_ends && o.no_delim && o.quiet);
	assert_true(o.kernel && !o.user);
	assert_string_equal(o.traces[0], "-");
	options_free(&o);

	o = accept("--view wakeup --no-idle");
	assert_int_equal(o.view, VIEW_WAKEUP);
	assert_true(o.no_idle && !o.by_name);
	options_free(&o);

	o = accept("-f hist --by-name");
	assert_int_equal(o.view, VIEW_CHAIN);
	assert_true(o.by_name && !o.no_idle);
	assert_string_equal(o.format, "hist");
	options_free(&o);

	o = accept("-h");
	assert_true(o.help && !o.help_all && !o.version);
	options_free(&o);

	o = accept("--help");
	assert_true(o.help_all && !o.help);
	options_free(&o);

	o = accept("--root host --max-w 2min");
	assert_int_equal(o.root, ROOT_HOST);
	assert_true(o.max_wait_ns == 120000000000);
	options_free(&o);

	o = accept("trace.bin -U -d0");
	assert_true(o.user && !o.kernel);
	assert_int_equal(o.depth, 0);
	assert_int_equal(o.n_traces, 1);
	options_free(&o);
}

static void a_whole_machine_shows_what_ended(void **state)
{
	static const struct {
		const char *line;
		bool ended;
	} cases[] = {
		{ "", true },
		{ "--no-idle", true },
		{ "--min-wait 1ms", true },
		{ "-p 1", false },
		{ "-t 1", false },
		{ "-c x", false },
		{ "--not-woken", false },
		{ "-t 1 --ended", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct options o = accept(cases[i].line);

		assert_int_equal(o.ended, cases[i].ended);
		options_free(&o);
	}
}

static void states_are_parts_and_letters(void **state)
{
	struct options o = accept("--state all");

	(void)state;
	assert_int_equal(o.parts, PART_ALL);
	options_free(&o);
	o = accept("--state S,D,S");
	assert_int_equal(o.parts, PART_BLOCKED | PART_RUNNABLE);
	assert_string_equal(o.states, "SD");
	options_free(&o);
	o = accept("--state preempted");
	assert_int_equal(o.parts, PART_PREEMPTED);
	options_free(&o);
	o = accept("--state blocked,D,T,t,P,I");
	assert_int_equal(o.parts, PART_BLOCKED);
	assert_string_equal(o.states, "DTtPI");
	options_free(&o);
}

static void bad_usage_is_told_in_one_line(void **state)
{
	(void)state;
	refuse("--nonsense", "there is no option --nonsense");
	refuse("-x", "there is no option -x");
	refuse("--no",
	       "--no matches several options: --no-kthreads, --no-idle, --not-woken, --no-objects, "
	       "--no-ends, --no-delim");
	refuse("--m=3", "--m matches several options: --min-wait, --max-wait, --mode");
	refuse("-d", "-d needs a value");
	refuse("--depth", "-d needs a value");
	refuse("--mode", "--mode needs a value");
	refuse("--annotate=1", "--annotate takes no value");
	refuse("-d -1", "-d: '-1' is not a number from 0 to 1000");
	refuse("-d 1001", "-d: '1001' is not a number from 0 to 1000");
	refuse("-d 6x", "-d: '6x' is not a number from 0 to 1000");
	refuse("-d 99999999999999999999999",
	       "-d: '99999999999999999999999' is not a number from 0 to 1000");
	refuse("--mode fast", "--mode: 'fast' is none of: exact, classic");
	refuse("--unit ms", "--unit: 'ms' is none of: us, ns");
	refuse("-f xml",
	       "-f: 'xml' is none of: folded, causes, requests, tree, json, threads, hist, wakers, "
	       "objects, io, events, info, csv, rows, rowbinary, sqlite, pprof, otlp, perfetto, "
	       "html");
	refuse("-t 4194304",
	       "-t: '4194304' is not a thread's id, as 811 or postgres/811 (-c takes names)");
	refuse("-c (", "-c: '(': Unmatched ( or \\(");
	refuse("--min-wait 10",
	       "--min-wait: '10' is not a time with a unit, such as 10us, 2ms or 1s");
	refuse("--from x", "--from: 'x' is not a number of seconds, such as 1.5");
	refuse("--from 2 --to 1", "--to is not after --from");
	refuse("--min-wait 2ms --max-wait 1ms", "--min-wait is more than --max-wait");
	refuse("--state Q", "--state: 'Q' is none of: blocked, runnable, preempted, running, all, "
			    "S, D, I, T, t, P");
	refuse("--state blocked,", "--state: '' is none of: blocked, runnable, preempted, running, "
				   "all, S, D, I, T, t, P");
	refuse("-K -U", "-K and -U exclude each other");
	refuse("--no-idel", "there is no option --no-idel; did you mean --no-idle?");
	refuse("--all -t 5", "--all and -p, -t, -c, --tree-of exclude each other");
	refuse("-p 12x", "-p: '12x' is neither a process id nor a name");
	refuse("-f events -p postgres", "--format=events takes processes by id only: -p PID");
	refuse("--ended --not-woken", "--ended and --not-woken exclude each other");
}

static void an_option_that_a_format_would_ignore_is_refused(void **state)
{
	(void)state;
	refuse("-f info --depth 3", "-d has no meaning with --format=info");
	refuse("--min-wait 1ms -f info", "--min-wait has no meaning with --format=info");
	refuse("--json -f folded", "--json has no meaning with --format=folded");
	refuse("-f tree --wide", "--wide has no meaning with --format=tree");
	refuse("-f threads --by-object", "--by-object has no meaning with --format=threads");
	refuse("-f hist --json --unit us", "--json has all times in ns: --unit has no meaning");
	refuse("-f io --native", "--native has no meaning with --format=io");
	refuse("-f events --top 3", "--top has no meaning with --format=events");
	struct options o = accept("-f events -t 3 --from 1 -K -v");

	assert_string_equal(o.format, "events");
	options_free(&o);
}

static void durations_take_units_and_decimals(void **state)
{
	static const struct {
		const char *text;
		uint64_t default_ns;
		uint64_t ns;
	} good[] = {
		{ "10us", 0, 10000 },
		{ "2ms", 0, 2000000 },
		{ "1s", 0, 1000000000 },
		{ "300ns", 0, 300 },
		{ "2.5ms", 0, 2500000 },
		{ ".5s", 0, 500000000 },
		{ "1.", 1000000000, 1000000000 },
		{ "0.000000001", 1000000000, 1 },
		{ "0.0000000019", 1000000000, 1 },
		{ "1.999999999999999999999999", 1000000000, 1999999999 },
		{ "7", 1000000000, 7000000000 },
		{ "7ms", 1000000000, 7000000 },
		{ "9223372035", 1000000000, 9223372035000000000 },
		{ "2min", 0, 120000000000 },
		{ "1.5min", 1000000000, 90000000000 },
		{ "0.000000001min", 0, 60 },
	};
	static const char *const bad[] = { "",
					   ".",
					   "s",
					   "-1s",
					   "1 s",
					   "1S",
					   "1.2.3s",
					   "1e3s",
					   "1sx",
					   "9223372037s",
					   "153722868min",
					   "1mins",
					   "99999999999999999999999ns",
					   "+1s",
					   "0x1s" };
	uint64_t ns;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(duration_parse(good[i].text, good[i].default_ns, &ns));
		assert_int_equal(ns, good[i].ns);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(duration_parse(bad[i], 0, &ns));
}

/* Writes the help; checks that its lines fit, counts them. To be freed. */
static char *help(bool all, size_t *lines)
{
	char *text, *line, *end;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	options_help(f, all);
	fclose(f);
	*lines = 0;
	for (line = text; (end = strchr(line, '\n')); line = end + 1, (*lines)++)
		if (end - line > 80)
			fail_msg("too long: %.*s", (int)(end - line), line);
	return text;
}

static void short_help_fits_a_screen(void **state)
{
	size_t lines;
	char *text = help(false, &lines);

	(void)state;
	assert_true(lines <= 24);
	assert_non_null(strstr(text, "--depth"));
	assert_non_null(strstr(text, "perfetto"));
	assert_non_null(strstr(text, "--help"));
	free(text);
}

static void full_help_has_a_line_for_every_option(void **state)
{
	static const char *const begins[] = {
		"  -d, --depth N ",
		"      --mode exact|classic ",
		"  -f, --format FORMAT ",
		"  -p, --pid PID|NAME ",
		"      --tree-of PID|NAME ",
		"      --all ",
		"  -t, --tid TID ",
		"  -c, --comm REGEX ",
		"      --cgroup REGEX ",
		"      --within REGEX ",
		"      --without REGEX ",
		"      --object REGEX ",
		"      --class LIST ",
		"      --from T ",
		"      --to T ",
		"      --min-wait D ",
		"      --max-wait D ",
		"      --state LIST ",
		"      --no-kthreads ",
		"      --no-idle ",
		"      --view chain|wakeup|io ",
		"      --root host|trace|class|cgroup|process ",
		"      --by-name ",
		"      --blocked-stacks ",
		"      --objects ",
		"      --no-objects ",
		"      --annotate ",
		"      --no-ends ",
		"      --no-delim ",
		"  -K, --kernel ",
		"  -U, --user ",
		"      --unit us|ns ",
		"      --top N ",
		"  -o, --output FILE ",
		"  -q, --quiet ",
		"  -v, --verbose ",
		"  -h ",
		"      --help ",
		"  -V, --version ",
		"  perfetto ",
	};
	char line[64], *text;
	size_t lines;

	(void)state;
	text = help(true, &lines);
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		snprintf(line, sizeof(line), "\n%s", begins[i]);
		if (!strstr(text, line))
			fail_msg("no line begins with '%s'", begins[i]);
	}
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_given_means_the_documented_defaults),
		cmocka_unit_test(every_option_sets_its_value),
		cmocka_unit_test(a_whole_machine_shows_what_ended),
		cmocka_unit_test(states_are_parts_and_letters),
		cmocka_unit_test(bad_usage_is_told_in_one_line),
		cmocka_unit_test(an_option_that_a_format_would_ignore_is_refused),
		cmocka_unit_test(durations_take_units_and_decimals),
		cmocka_unit_test(short_help_fits_a_screen),
		cmocka_unit_test(full_help_has_a_line_for_every_option),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
