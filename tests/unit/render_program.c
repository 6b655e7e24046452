// SPDX-License-Identifier: GPL-2.0-or-later
// The program: exit status, messages, output. Runs the flamegraph of the same build folder.
#define OWN_MAIN
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char program[4096];
static char dir[] = "/tmp/flamegraph-test-XXXXXX";
static char out[1 << 20], err[1 << 16];

static void slurp(const char *name, char *buf, size_t size)
{
	char path[128];
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "r");
	assert_non_null(f);
	n = fread(buf, 1, size - 1, f);
	buf[n] = 0;
	fclose(f);
}

static void write_input(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* Run `flamegraph ARGS` with this input, in the directory dir; fills out and err. */
static int run(const char *args, const char *input)
{
	char cmd[8192];
	int status;

	write_input("in", input);
	snprintf(cmd, sizeof(cmd), "cd %s && %s %s <in >out 2>err", dir, program, args);
	status = system(cmd);
	slurp("out", out, sizeof(out));
	slurp("err", err, sizeof(err));
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in: %.200s", part, text);
}

TEST(folded_in_and_an_svg_out)
{
	assert_int_equal(run("--title 'A & B'", "main;f 200\nmain;g 100\n"), 0);
	assert_string_equal(err, "");
	assert_memory_equal(out, "<?xml", 5);
	assert_has(out, "<title>A &amp; B</title>");
	assert_has(out, "<title>f (200 samples, 66.7 %)</title>");
	assert_has(out, "<title>all (300 samples, 100 %)</title>");
	assert_has(out, "</svg>\n");
}

/* They have no time, and stand below the headings, which come down by a line for each. */
TEST(notes_of_the_input_are_shown_and_are_no_frames)
{
	assert_int_equal(run("--base main",
			     "main;f 200\n[note] java/1: -XX <& 17 0\n[note] java/1: -XX <& 17 0\n"
			     "[note] title: make <&, 3.03 s 0\n[note] title: zzother 0\n"
			     "[note] 2 0\n[note] 3 0\n[note] 4 0\n[note] 5 0\n[note] time 7\n"),
			 0);
	assert_string_equal(err, "");
	assert_has(out, ">java/1: -XX &lt;&amp; 17</text>");
	assert_has(out, "id=\"fg-remark3\" x=\"600\" y=\"100.8\"");
	assert_has(out, ">4 ...</text>");
	assert_null(strstr(out, ">5</text>"));
	assert_null(strstr(out, "[note]"));
	assert_has(out, "font-size=\"17\">make &lt;&amp;, 3.03 s</text>");
	assert_null(strstr(out, "zzother"));
	assert_has(out, "<title>all (200 samples, 100 %)</title>");
	assert_int_equal(run("", "main;f 200\n[note] x;y 7\n"), 0);
	assert_has(out, "<title>all (207 samples, 100 %)</title>");
}

/* The script groups by them; other lines that begin so say nothing of a stack, or have a count. */
TEST(which_threads_are_whose_is_in_the_file_and_is_no_frame)
{
	assert_int_equal(run("", "pool-1;f 200\n[note] process;ja&va;pool-1 0\n"
				 "[note] process;one 0\n[note] process;a;b;c 0\n"
				 "[note] process;java;java 0\n[note] process;java;f 7\n"),
			 0);
	assert_string_equal(err, "");
	assert_has(out, "<metadata id=\"fg-processes\">ja&amp;va\npool-1\na\nb;c\njava\njava</metadata>");
	assert_has(out, "<title>all (207 samples, 100 %)</title>");
	assert_null(strstr(out, "fg-remark0"));
	assert_int_equal(run("", "main;f 200\n"), 0);
	assert_null(strstr(out, "fg-processes"));
}

TEST(a_delimiter_makes_a_chain_graph)
{
	assert_int_equal(run("", "A;f;--;w;B;[running] 2000\n"), 0);
	assert_has(out, "<title>w (2.00 ms, 100 %)</title>");
	assert_has(out, "fill=\"#101010\"/><text");
	assert_has(out, ">100 % ran</text>");
	assert_int_equal(run("--colors hot --countname waits", "A;f;--;w;B;[running] 2000\n"), 0);
	assert_has(out, "(2,000 waits, 100 %)");
}

TEST(the_limit_leaves_out_no_frame_that_is_shown)
{
	char text[8000] = "";

	for (int i = 0; i < 300; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "a;b%d;c%d 1\n", i % 9,
			 i);
	assert_int_equal(run("--max-frames 5", text), 0);
	assert_has(out, "data-frames=\"311\" data-left-out=\"0\"");
	assert_null(strstr(out, "fg-rest"));
	assert_int_equal(run("--max-frames 5 --minwidth 10", text), 0);
	/* all, a, nine b; of 300 c */
	assert_has(out, "data-frames=\"11\" data-left-out=\"300\" data-functions=\"310\"");
	assert_int_equal(run("--max-frames 100 --minwidth 10", text), 0);
	assert_has(out, "data-frames=\"100\" data-left-out=\"211\"");
}

static void same_bytes(const char *first)
{
	for (size_t i = 0; i < sizeof(out) && (out[i] || first[i]); i++)
		if (out[i] != first[i])
			fail_msg("bytes differ at %zu: %.40s | %.40s", i, out + i, first + i);
}

TEST(the_same_input_gives_the_same_bytes)
{
	static char first[sizeof(out)];

	assert_int_equal(run("", "a;b 1\na;c 2\nd 3\n"), 0);
	strcpy(first, out);
	assert_int_equal(run("", "d 3\na;c 2\na;b 1\n"), 0);
	same_bytes(first);
	/* what the file says of frames that it does not have, too */
	assert_int_equal(run("--max-frames 2 --minwidth 999", "x;b 1\ny;c 2\nz 2\n"), 0);
	strcpy(first, out);
	assert_int_equal(run("--max-frames 2 --minwidth 999", "z 2\ny;c 2\nx;b 1\n"), 0);
	same_bytes(first);
}

TEST(input_without_counts_gives_an_error_document)
{
	assert_int_equal(run("", ""), 2);
	assert_has(err, "ERROR: No stack counts found");
	assert_has(out, "ERROR: No valid input provided");
	assert_has(out, "</svg>");
	assert_int_equal(run("", "a;b 0\n"), 2);
}

TEST(bad_lines_are_reported_by_number)
{
	assert_int_equal(run("", "a 300\nb\nc -4\n"), 0);
	assert_string_equal(err, "flamegraph: standard input:2: no count at the end of the line\n"
				 "flamegraph: standard input:3: the count is negative\n"
				 "flamegraph: ignored 2 lines with invalid format\n");
	assert_int_equal(run("--strict", "a 300\nb\nc -4\n"), 1);
	assert_string_equal(err, "flamegraph: standard input:2: no count at the end of the line\n");
	assert_string_equal(out, "");
}

TEST(comments_are_no_stacks)
{
	assert_int_equal(
		run("", "# interval: 10000\n#\n## x 7\n#start;f 3\nmain;# 4\n# x;main 2\n"), 0);
	assert_string_equal(err, "");
	assert_has(out, "<title>all (9 samples, 100 %)</title>");
	assert_has(out, "<title>#start (3 samples, 33.3 %)</title>");
	/* a thread may call itself so, but may not leave the picture by that */
	assert_has(out, "<title># x (2 samples, 22.2 %)</title>");
	assert_int_equal(run("", "\xef\xbb\xbf# made by a tool 5\r\na;b 3\r\nc 4\r\n"), 0);
	assert_string_equal(err, "");
	assert_has(out, "<title>all (7 samples, 100 %)</title>");
	assert_has(out, "<title>b (3 samples, 42.9 %)</title>");
}

TEST(what_is_no_folded_stacks_is_refused)
{
	assert_int_equal(run("", "A 1 [000] 1.000010: cycles: \n\tffff8103 f (x)\n\nmain 3\n"), 2);
	assert_has(err, "flamegraph: standard input: this is the text of perf script, not folded "
			"stacks; try: stackcollapse-perf.pl FILE | flamegraph");
	assert_has(out, "This is the text of perf script, not folded stacks; ");
	assert_has(out, "</svg>");
	write_input("page", "<html>\na 3\n");
	assert_int_equal(run("page", ""), 2);
	assert_has(err, "flamegraph: page: this is a page, not folded stacks");
	assert_int_equal(run("--diff in page", "a 3\n"), 2);
	assert_has(err, "flamegraph: page: this is a page, not folded stacks");
	/* most lines of a text without counts, of which one ends in a number */
	assert_int_equal(run("-q",
			     "Dear\nreader\nthis\nis\na\nletter\nand\nno\nfolded\nstacks\nof 10\n"),
			 2);
	assert_string_equal(err,
			    "flamegraph: ERROR: 10 of 11 lines have no count: these are not folded "
			    "stacks\n");
}

TEST(bad_usage_is_status_2)
{
	static const char *const bad[] = {
		"--nonsense",
		"--width 12x",
		"--width",
		"--minwidth -1",
		"--colors pink",
		"--bgcolors pink",
		"--total x",
		"--factor 0",
		"--max-frames 0",
		"--diff in",
		"--normalize",
		"--diff --flamechart in in",
		"--cp",
		"--counts 3",
		"--compare nothing",
		"--diff --counts 1 in in",
		"--labels middle",
		"--search-color red",
		"--search-color none",
		"--uicolor '#12345'",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		if (run(bad[i], "a 1\n") != 2)
			fail_msg("%s: not refused", bad[i]);
		assert_string_equal(out, "");
		assert_has(err, "Try 'flamegraph --help'.");
	}
}

/* Runs it with an option that asks for help; lines fit 80 columns. Returns how many there are. */
static int help_lines(const char *option)
{
	const char *end;
	int lines = 0;

	assert_int_equal(run(option, ""), 0);
	for (const char *p = out; (end = strchr(p, '\n')); p = end + 1, lines++)
		if (end - p > 80)
			fail_msg("too long: %.*s", (int)(end - p), p);
	return lines;
}

TEST(short_help_fits_a_screen_full_help_has_all_options)
{
	assert_in_range(help_lines("-h"), 10, 24);
	assert_has(out, "--help shows all options.");
	assert_has(out, "chainwalk trace.bin | flamegraph");
	assert_null(strstr(out, "--strip-hex"));
	assert_in_range(help_lines("--help"), 40, 80);
	assert_has(out, "\n      --strip-hex ");
	assert_has(out, "\n  -o, --output FILE ");
	assert_has(out, "\nPalettes: hot ");
	assert_int_equal(run("-V", ""), 0);
	assert_memory_equal(out, "flamegraph ", 11);
}

TEST(failing_files_are_reported_by_name)
{
	assert_int_equal(run("nothing.folded", ""), 1);
	assert_string_equal(err, "flamegraph: nothing.folded: No such file or directory\n");
	assert_int_equal(run(".", ""), 1);
	assert_string_equal(err, "flamegraph: .: Is a directory\n");
	assert_int_equal(run("-o no/where.svg", "a 1\n"), 1);
	assert_string_equal(err, "flamegraph: no/where.svg: No such file or directory\n");
	assert_int_equal(run("-o /dev/full", "a 1\n"), 1);
	assert_string_equal(err, "flamegraph: /dev/full: No space left on device\n");
}

TEST(a_closed_pipe_is_not_reported)
{
	assert_int_equal(run("in in in | true", "a 1\n"), 0);
	assert_string_equal(err, "");
}

TEST(a_difference_of_two_files)
{
	write_input("after", "a;b 30\na;d 5\n");
	assert_int_equal(run("--diff in after", "a;b 10\na;c 5\n"), 0);
	assert_has(out, "<title>b (30 samples, 85.7 %; own before 10 samples (66.7 %), after 30 "
			"samples (85.7 %): "
			"+200 %)");
	assert_has(out, "<title>c (5 samples, 33.3 %, only before)</title>");
	assert_has(out, "<title>d (5 samples, 14.3 %; own before 0 samples (0 %), after 5 samples "
			"(14.3 %): new)");
}

TEST(options_take_effect)
{
	assert_int_equal(
		run("--width 500 --height 20 --fontsize 10 --fonttype Mono --subtitle sub "
		    "--notes 'n<1' --inverted --nametype Frame: --factor 10 --bgcolors '#123456'",
		    "a;b 3\n"),
		0);
	assert_has(out, "width=\"500\"");
	assert_has(out, "height=\"19\"");
	assert_has(out, "font-family=\"Mono\"");
	assert_has(out, ">sub</text>");
	assert_has(out, "n&lt;1");
	assert_has(out, "<title>Icicle Graph</title>");
	assert_has(out, "Frame:");
	assert_has(out, "<title>b (30 samples, 100 %)</title>");
	assert_has(out, "#123456");
	assert_int_equal(run("--total 10", "a;b 3\n"), 0);
	assert_has(out, "<title>b (3 samples, 30.0 %)</title>");
	assert_has(out, "<title>all (10 samples, 100 %)</title>");
	assert_int_equal(run("--total 2", "a;b 3\n"), 0);
	assert_has(err, "--total 2 is less than the actual total 3");
	assert_int_equal(run("--minwidth 50%", "a;b 3\na;c 1\n"), 0);
	assert_has(out, "<title>b ");
	assert_null(strstr(out, "<title>c "));
}

static void fill_of(const char *name, char fill[8])
{
	char title[64];
	const char *p;

	snprintf(title, sizeof(title), "<title>%s (", name);
	p = strstr(out, title);
	assert_non_null(p);
	p = strstr(p, "fill=\"#");
	assert_non_null(p);
	memcpy(fill, p + 6, 7);
	fill[7] = 0;
}

TEST(every_palette_of_the_help_draws)
{
	static const char *const palettes[] = { "hot",	  "mem",   "io",   "wakeup", "chain",
						"java",	  "js",	   "perl", "red",    "python",
						"rust",	  "green", "blue", "aqua",   "yellow",
						"purple", "orange" };
	char args[64], fill[8], first[8] = "";
	int others = 0;

	for (size_t i = 0; i < sizeof(palettes) / sizeof(*palettes); i++) {
		snprintf(args, sizeof(args), "--colors %s", palettes[i]);
		assert_int_equal(run(args, "a;main 2\n"), 0);
		fill_of("main", fill);
		others += strcmp(fill, first) != 0;
		strcpy(first, fill);
	}
	assert_true(others > 10);
}

TEST(a_name_has_the_same_colour_in_every_graph)
{
	char one[8], two[8];

	assert_int_equal(run("", "a;read_one 1\nb;read_one 1\n"), 0);
	fill_of("read_one", one);
	assert_int_equal(run("", "x;read_one 5\n"), 0);
	fill_of("read_one", two);
	assert_string_equal(one, two);
}

TEST(a_flame_chart_is_in_the_order_of_its_lines)
{
	assert_int_equal(run("--flamechart", "z 1\na 1\nz 1\n"), 0);
	assert_has(out, "<title>Flame Chart</title>");
	assert_has(out, "<title>z (1 samples, 33.3 %)</title><rect x=\"10\"");
	assert_has(out, "<title>a (1 samples, 33.3 %)</title><rect x=\"403.3\"");
	assert_int_equal(run("", "z 1\na 1\nz 1\n"), 0);
	assert_has(out, "<title>z (2 samples, 66.7 %)</title>");
	assert_int_equal(run("--reverse", "a;z 1\nb;z 1\n"), 0);
	assert_has(out, "<title>z (2 samples, 100 %)</title>");
}

TEST(differences_can_be_negated_and_normalized)
{
	char more[8], turned[8];

	assert_int_equal(run("", "a 1 5\nb 5 1\n"), 0);
	assert_has(out, "<title>a (5 samples, 83.3 %; own before 1 samples (16.7 %), after 5 "
			"samples (83.3 %): +400 %)");
	fill_of("a", more);
	assert_int_equal(run("--negate", "a 1 5\nb 5 1\n"), 0);
	assert_has(out, "<title>a (5 samples, 83.3 %; own before 5 samples (83.3 %), after 1 "
			"samples (16.7 %): −80.0 %)");
	fill_of("a", turned);
	assert_string_not_equal(more, turned);
	fill_of("b", turned);
	assert_string_equal(more, turned);
	/* the region and its legend, too */
	write_input("after", "a;b 30\na;d 5\n");
	assert_int_equal(run("--diff --negate in after", "a;b 10\na;c 5\n"), 0);
	assert_has(out, "<title>[only after] (5 samples, 33.3 %, only after)</title>");
	assert_has(out, ">only after</text>");
	assert_null(strstr(out, "<title>[only before]"));
	assert_null(strstr(out, ">only before</text>"));
	/* twice the counts in the same proportions are no difference */
	write_input("after", "a;0x12 20\nb 10\n");
	assert_int_equal(run("--diff --normalize --strip-hex in after", "a;0xff 10\nb 5\n"), 0);
	assert_has(out, "<title>a (20 samples, 66.7 %; own before 0 samples (0 %), after 0 samples "
			"(0 %): unchanged)");
	assert_has(out,
		   "<title>0x... (20 samples, 66.7 %; own before 20 samples (66.7 %), after 20 "
		   "samples (66.7 %): unchanged)");
}

/* The sentence of a difference of chains, in `text`. */
static void change_of(char *text, size_t size)
{
	const char *at = strstr(out, "Change: ");

	assert_non_null(at);
	snprintf(text, size, "%.*s", (int)strcspn(at, "<"), at);
}

TEST(the_change_of_chains_is_that_of_all_frames)
{
	static const char before[] =
		"A;lock;[futex];-;sys;--;w;B;[running] 5000000\nA;[timer];x;[timer] 7\n";
	static const char after[] =
		"A;nap;[sleep];-;sys;--;tick;[timer] 3000000\nA;[timer];x;[timer] 7\n";
	char all[256], few[256];

	write_input("after", after);
	assert_int_equal(run("--diff in after", before), 0);
	change_of(all, sizeof(all));
	assert_string_equal(all, "Change: −2.00 s in all: lock waits −5.00 s, sleep +3.00 s");
	assert_int_equal(run("--diff --max-frames 2 --minwidth 999 in after", before), 0);
	assert_has(out, "data-frames=\"2\"");
	change_of(few, sizeof(few));
	assert_string_equal(few, all);
}

TEST(totals_can_be_compared_and_lines_decide_about_counts)
{
	assert_int_equal(run("--compare total", "a;f 18 7\nb 1 1\n"), 0);
	assert_has(out, "<title>a (7 samples, 87.5 %; total before 18 samples (94.7 %), after 7 "
			"samples (87.5 %): "
			"−61.1 %)");
	assert_has(out, "<title>b (1 samples, 12.5 %; total before 1 samples (5.26 %), after 1 "
			"samples (12.5 %): "
			"unchanged)");
	assert_int_equal(run("", "GC Thread 1 5\nmain 3\nmain;f 2\n"), 0);
	assert_has(out, "<title>GC Thread 1 (5 samples, 50.0 %)</title>");
	assert_has(err, "1 of 3 lines have two counts");
	assert_int_equal(run("--counts 2 -q", "GC Thread 1 5\nmain 3\nmain;f 2\n"), 0);
	assert_has(out, "<title>GC Thread (5 samples, 50.0 %; own before 1 ");
	assert_string_equal(err, "");
}

TEST(options_have_the_spellings_of_perl_and_inferno)
{
	static const char *const same[] = {
		"-title T -countname N",  "--Title T --COUNTNAME N",	"-title=T --countname=N",
		"--titl T --countname N", "-i --title T --countname N",
	};

	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++) {
		assert_int_equal(run(same[i], "a 1\n"), 0);
		assert_has(out, "<title>T</title>");
		assert_has(out, "<title>a (1 N, 100 %)</title>");
	}
	assert_int_equal(run("--title -Hash", "a 1\n"), 0); /* a value is left as it is */
	assert_has(out, "<title>-Hash</title>");
	assert_int_equal(run("-c mem --deterministic --hash --no-sort --inverted", "a 1\n"), 0);
	assert_has(out, "<title>Icicle Graph</title>");
	assert_int_equal(run("--base work --base rest", "main;work;f 3\nmain;g 5\nmain;rest 1\n"),
			 0);
	assert_has(out, "<title>work (3 samples, 75.0 %)</title>");
	assert_has(out, "<title>rest (1 samples, 25.0 %)</title>");
	assert_null(strstr(out, "<title>main"));
	assert_int_equal(run("--search-color '#123456' --stroke-color none --uicolor '#654321'",
			     "a 1\n"),
			 0);
	assert_has(out, "data-found=\"#123456\"");
	assert_has(out, "stroke=\"none\"");
	assert_has(out, " color=\"#654321\"");
	assert_int_equal(run("--truncate-text-right",
			     "app::service::run_it_all_the_way_down_to_the_end 1\nx 9\n"),
			 0);
	assert_has(out, ">app::serv");
	assert_int_equal(
		run("--width 300 --labels end", "app::service::run_it_all_the_way 1\nx 2\n"), 0);
	assert_has(out, "_way</text>");
}

TEST(very_small_and_very_large_counts_are_exact_or_said_to_be_rounded)
{
	assert_int_equal(run("", "a 1e-7\nb 0.0000003\n"), 0);
	assert_has(out, "<title>a (1e-07 samples, 25.0 %)</title>");
	assert_has(out, "<title>all (4e-07 samples, 100 %)</title>");
	assert_int_equal(run("", "a 9007199254740993\nb 9007199254740993\n"), 0);
	assert_has(out, "<title>a (9,007,199,254,740,992 samples, 50.0 %)</title>");
}

TEST(marks_that_turn_text_are_shown)
{
	assert_int_equal(run("", "a\u202eb\u2066c\u200f 1\n"), 0);
	assert_has(out, "<title>a\u2426b\u2426c\u200f (1 samples");
}

TEST(embedded_is_an_element_not_a_document)
{
	assert_int_equal(run("--embedded", "a 1\n"), 0);
	assert_memory_equal(out, "<svg class=\"flamegraph\"", 23);
	assert_null(strstr(out, "<meta xmlns"));
}

static int set_up(void **state)
{
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 32);

	(void)state;
	if (n < 0 || !mkdtemp(dir))
		return -1;
	program[n] = 0;
	for (int up = 0; up < 3; up++) /* tests/unit/render_program: the build folder is above */
		*strrchr(program, '/') = 0;
	strcat(program, "/flamegraph");
	return access(program, X_OK);
}

static int tear_down(void **state)
{
	static const char *const names[] = { "in", "out", "err", "after", "page" };
	char path[128];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	return rmdir(dir);
}

int main(void)
{
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
