// SPDX-License-Identifier: GPL-2.0-or-later
/* The formats events and info, and what is printed of names that are not nice. */
#include "test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command_line.h"
#include "format_table.h"
#include "base/text.h"
#include "synth.h"
#include "words/process_notes.h"

/* What chainwalk prints for what was made, with options given as words. */
static char *format_text(struct synth *m, int argc, char **argv)
{
	struct trace *t = synth_open(m);
	struct format_input in = { .trace = t };
	struct options o;
	char why[200], *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_int_equal(options_parse(&o, argc, argv, why, sizeof(why)), 0);
	in.options = &o;
	assert_int_equal(format_find(o.format)->write(&in, f), 0);
	fclose(f);
	options_free(&o);
	trace_close(t);
	return text;
}

#define FORMAT(m, ...)                                                                   \
	format_text(m, sizeof((char *[]) { "chainwalk", __VA_ARGS__ }) / sizeof(char *), \
		    (char *[]) { "chainwalk", __VA_ARGS__, NULL })

static void expect(char *text, const char *expected)
{
	assert_string_equal(text, expected);
	free(text);
}

/* Fails unless the text has this line. */
static void expect_line(const char *text, const char *line)
{
	size_t len = strlen(line);

	for (const char *p = text; p; p = strchr(p, '\n'), p += p != NULL)
		if (!strncmp(p, line, len) && (p[len] == '\n' || !p[len]))
			return;
	fail_msg("no line '%s' in:\n%s", line, text);
}

TEST(events_are_one_line_each)
{
	struct synth *m = synth_sample();

	expect(FORMAT(m, "-f", "events"),
	       "     0.000000100 [000] switch swapper/0 R -> [unknown]/7\n"
	       "     0.000000110 [001] switch swapper/0 R -> [unknown]/8\n"
	       "     0.000000150 [001] switch [unknown]/8 S -> swapper/0\n"
	       "     0.000000200 [000] waking [unknown]/7 -> [unknown]/8\n"
	       "     0.000000210 [001] switch swapper/0 R -> [unknown]/8\n"
	       "     0.000000250 [000] fork   [unknown]/7 -> child/9 of process 7\n"
	       "     0.000000260 [000] new    [unknown]/7 -> child/9\n"
	       "     0.000000300 [001] exec   [unknown]/8 /bin/ls\n"
	       "     0.000000310 [000] rename [unknown]/7 -> renamed\n"
	       "     0.000000350 [001] waking [unknown]/8 -> renamed/7\n"
	       "     0.000000400 [000] switch renamed/7 D -> child/9\n"
	       "     0.000000500 [001] exit   [unknown]/8\n");
	synth_free(m);
}

TEST(events_can_be_chosen_by_thread_name_process_and_time)
{
	struct synth *m = synth_sample();
	char *by_tid;

	by_tid = FORMAT(m, "-f", "events", "-t", "9");
	expect(by_tid, "     0.000000250 [000] fork   [unknown]/7 -> child/9 of process 7\n"
		       "     0.000000260 [000] new    [unknown]/7 -> child/9\n"
		       "     0.000000400 [000] switch renamed/7 D -> child/9\n");
	expect(FORMAT(m, "-f", "events", "-c", "^renamed$"),
	       "     0.000000350 [001] waking [unknown]/8 -> renamed/7\n"
	       "     0.000000400 [000] switch renamed/7 D -> child/9\n");
	/* Nobody has said yet which process thread 7 belongs to: it may be the leader of 7. */
	expect(FORMAT(m, "-f", "events", "-p", "7", "--to", "0.00000026"),
	       "     0.000000100 [000] switch swapper/0 R -> [unknown]/7\n"
	       "     0.000000200 [000] waking [unknown]/7 -> [unknown]/8\n"
	       "     0.000000250 [000] fork   [unknown]/7 -> child/9 of process 7\n");
	expect(FORMAT(m, "-f", "events", "--from", "350ns", "--to", "500ns"),
	       "     0.000000350 [001] waking [unknown]/8 -> renamed/7\n"
	       "     0.000000400 [000] switch renamed/7 D -> child/9\n");
	synth_free(m);
}

TEST(verbose_events_show_stacks)
{
	struct synth *m = synth_new();
	uint32_t module, frames[2];

	module =
		encoder_module(synth_encoder(m), encoder_text(synth_encoder(m), "/bin/x"), NULL, 0);
	frames[0] = encoder_frame(synth_encoder(m), 0, 0xffffffff81000abc);
	frames[1] = encoder_frame(synth_encoder(m), 3, 0x401234);
	encoder_name(synth_encoder(m), frames[0], encoder_text(synth_encoder(m), "schedule"), 0,
		     0x2c);
	encoder_name(synth_encoder(m), frames[1], 0, module, 0);
	synth_thread(m, 5, "five");
	encoder_event(synth_encoder(m),
		      &(struct event) { .time_ns = 10,
					.cpu = 0,
					.kind = CHAINLOG_SWITCH,
					.tid = 5,
					.state = 'S',
					.kstack = encoder_stack(synth_encoder(m), &frames[0], 1, 0),
					.ustack = encoder_stack(synth_encoder(m), &frames[1], 1,
								CHAINLOG_STACK_DEPTH) });
	synth_end(m, 20);
	expect(FORMAT(m, "-f", "events", "-v"),
	       "     0.000000010 [000] switch five/5 S -> swapper/0\n"
	       "\tffffffff81000abc schedule+0x2c\n"
	       "\t          401234 [unknown] (/bin/x)\n"
	       "\t[cut]\n");
	expect(FORMAT(m, "-f", "events", "-v", "-K"),
	       "     0.000000010 [000] switch five/5 S -> swapper/0\n"
	       "\tffffffff81000abc schedule+0x2c\n");
	synth_free(m);
}

TEST(losses_are_events_too)
{
	struct synth *m = synth_new();

	synth_switch(m, 0, 10, 1, 'S', 0, "");
	synth_lost(m, 0, 5, 20, 1000000040);
	synth_end(m, 2000000000);
	expect(FORMAT(m, "-f", "events"),
	       "     0.000000010 [000] switch [unknown]/1 S -> swapper/0\n"
	       "     0.000000020 [000] lost   5 events until 1.000000040\n");
	synth_free(m);
}

TEST(exec_by_a_thread_takes_the_leaders_tid_over)
{
	struct synth *m = synth_new();

	synth_thread(m, 10, "leader");
	synth_thread(m, 11, "worker");
	encoder_event(synth_encoder(m),
		      &(struct event) { .time_ns = 50,
					.cpu = 0,
					.kind = CHAINLOG_EXEC,
					.tid = 10,
					.other = 11,
					.string = encoder_text(synth_encoder(m), "/bin/new") });
	synth_switch(m, 0, 60, 10, 'S', 0, "");
	synth_end(m, 100);
	expect(FORMAT(m, "-f", "events"),
	       "     0.000000050 [000] exec   worker/10 /bin/new (was thread 11)\n"
	       "     0.000000060 [000] switch worker/10 S -> swapper/0\n");
	synth_free(m);
}

TEST(info_counts_what_there_is)
{
	struct synth *m = synth_sample();
	char *text = FORMAT(m, "-f", "info");

	/* In groups, what was lost before all else. */
	assert_ptr_equal(strstr(text, "# losses\nlost: 0\n"), text);
	assert_true(strstr(text, "\n# recording\n") > strstr(text, "\ndamage: none\n"));
	expect_line(text, "host: testhost");
	expect_line(text, "kernel: 6.1.0-test");
	expect_line(text, "command: chaincap -o trace.bin 10");
	expect_line(text, "duration_s: 0.000000600");
	expect_line(text, "events: 12");
	expect_line(text, "events_switch: 5");
	expect_line(text, "events_waking: 2");
	expect_line(text, "events_waking_new: 1");
	expect_line(text, "lost: 0");
	expect_line(text, "kernel_counted: 12");
	expect_line(text, "accounted: yes");
	expect_line(text, "threads: 4");
	expect_line(text, "threads_at_start: 1");
	expect_line(text, "stacks: 6");
	expect_line(text, "frames_kernel: 7");
	expect_line(text, "frames_kernel_named: 7 (100.0 %)");
	expect_line(text, "frames_user: 3");
	expect_line(text, "complete: yes");
	expect_line(text, "damage: none");
	free(text);
	synth_free(m);
}

/* A request at a socket, of a route (NULL: of none that is known) and its protocol. */
static void ask(struct synth *m, uint64_t ns, const char *protocol, const char *route)
{
	synth_request(m, 0, ns, 5,
		      &(struct synth_request) { .class = "tcp",
						.name = ":80",
						.connection = ns,
						.reader = 5,
						.arrival_ns = ns - 5,
						.taken_ns = ns - 5,
						.answer_ns = ns,
						.route = route,
						.protocol = protocol });
}

TEST(info_says_routes_by_protocol_and_what_is_not_told)
{
	struct synth *m = synth_new();
	char *text;

	synth_thread(m, 5, "server");
	ask(m, 10, "HTTP", "GET /cart");
	ask(m, 20, "HTTP", "GET /cart");
	ask(m, 30, "HTTP", "GET /users/*");
	ask(m, 40, "HTTP", "[other]");
	ask(m, 50, "redis", "GET");
	ask(m, 60, "MySQL", "EXECUTE [not known]");
	ask(m, 70, NULL, "SELECT orders"); /* of an older recorder */
	ask(m, 80, NULL, NULL);
	synth_request_open(m, 0, 90,
			   &(struct synth_request) { .class = "tcp",
						     .name = ":80",
						     .connection = 90,
						     .reader = 5,
						     .arrival_ns = 85,
						     .taken_ns = 85,
						     .route = "GET",
						     .protocol = "redis" });
	synth_end(m, 100);
	text = FORMAT(m, "-f", "info");
	if (!strstr(text, "# routes\n"
			  "routes: 4\n"
			  "requests_with_route: 6 (66.7 %)\n"
			  "requests_of_no_protocol: 1\n"
			  "protocol: [unknown]: 1 routes, 1 requests\n"
			  "protocol: HTTP: 2 routes, 4 requests\n"
			  "protocol: MySQL: 0 routes, 1 requests\n"
			  "protocol: redis: 1 routes, 2 requests\n"
			  "not_told: [other]: 1 requests\n"
			  "not_told: EXECUTE [not known]: 1 requests\n"
			  "# sizes\n"))
		fail_msg("%s", text);
	free(text);
	synth_free(m);
}

TEST(info_says_nothing_of_routes_without_requests)
{
	struct synth *m = synth_sample();
	char *text = FORMAT(m, "-f", "info");

	assert_null(strstr(text, "routes"));
	free(text);
	synth_free(m);
}

/* The time in which more was asked for is that up to the CPU's next event, or to the end. */
TEST(info_says_how_long_sleeps_with_stacks_had_to_last)
{
	struct synth *m = synth_new();
	char *text;

	synth_info(m, &(struct chainlog_info) { .cpus = 2, .light_ns = 100 });
	synth_stacks_from(m, 0, 1000, false, 200);
	synth_stacks_from(m, 1, 1000, true, 800);
	synth_stacks_from(m, 0, 1500, false, 400);
	synth_stacks_from(m, 0, 1600, false, 100);
	synth_stacks_from(m, 0, 2500, false, 200);
	synth_end(m, 3000);
	text = FORMAT(m, "-f", "info");
	expect_line(text, "stacks_from_ns: 100");
	expect_line(text, "stacks_from_at_most_ns: 400");
	expect_line(text, "stacks_from_raised_ns: 1100");
	expect_line(text, "timer_stacks_from_at_most_ns: 800");
	expect_line(text, "timer_stacks_from_raised_ns: 2000");
	expect_line(text, "stacks_from: 5");
	free(text);
	synth_free(m);
}

TEST(events_say_how_long_sleeps_with_stacks_had_to_last)
{
	struct synth *m = synth_new();

	synth_stacks_from(m, 0, 1000, false, 200);
	synth_stacks_from(m, 1, 1000, true, 800);
	synth_end(m, 3000);
	expect(FORMAT(m, "-f", "events"),
	       "     0.000001000 [000] stacks from 200 ns on, of sleeps until anything else\n"
	       "     0.000001000 [001] stacks from 800 ns on, of sleeps until a timer\n");
	synth_free(m);
}

/* A key that comes twice would be two figures. */
TEST(each_figure_of_info_has_a_key_of_its_own)
{
	uint64_t left_out[CHAINLOG_LEFT_OUTS];
	struct synth *m = synth_new();
	char *text, *line, *keys[256], *rest;
	size_t n = 0, of_left_out = 0;

	for (size_t i = 0; i < CHAINLOG_LEFT_OUTS; i++)
		left_out[i] = i + 1;
	encoder_left_out(synth_encoder(m), left_out);
	synth_end(m, 20);
	text = FORMAT(m, "-f", "info");
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *end = strstr(line, ": ");

		if (!end)
			continue;
		*end = '\0';
		for (size_t i = 0; i < n; i++)
			if (!strcmp(keys[i], line))
				fail_msg("twice: %s", line);
		assert_true(n < 256);
		keys[n++] = line;
		of_left_out += !!strstr(line, "_left_out");
	}
	assert_int_equal(of_left_out, CHAINLOG_LEFT_OUTS);
	free(text);
	synth_free(m);
}

static void note(struct synth *m, uint32_t tgid, const char *what, const char *cure)
{
	assert_int_equal(encoder_process_note(synth_encoder(m), tgid, "ja;va", what, cure), 0);
}

/* Also into the picture: as lines without time, which have no frame in a name and none of their
 * own. */
TEST(what_stacks_lack_is_noted_once_for_all_processes)
{
	uint32_t id = 12;
	struct process_list only = { .ids = { &id, 1 } };
	struct synth *m = synth_new();
	struct process_notes notes;
	struct trace *t;
	char *text;

	synth_thread(m, 5, "sleeper");
	synth_switch(m, 0, 10, 5, 'S', 0, "schedule;read");
	for (uint32_t i = 0; i < 5; i++)
		note(m, 10 + i, "frames are missing", "--cure 17");
	note(m, 10, "a map was \n old", NULL);
	synth_end(m, 20);
	text = FORMAT(m, "-f", "info");
	expect_line(text,
		    "note: ja;va/10, ja;va/11, ja;va/12, ja;va/13, ja;va/14: frames are missing: "
		    "--cure 17");
	expect_line(text, "note: ja;va/10: a map was ? old");
	expect_line(text, "damage: none");
	free(text);
	t = synth_open(m);
	process_notes_of(&notes, t, NULL, 3);
	assert_int_equal(notes.n, 2);
	assert_string_equal(notes.line[0], "ja;va/10, ja;va/11, ja;va/12 and 2 more: frames are "
					   "missing: --cure 17");
	process_notes_free(&notes);
	process_notes_of(&notes, t, &only, 3);
	assert_int_equal(notes.n, 1);
	assert_string_equal(notes.line[0], "ja;va/12: frames are missing: --cure 17");
	process_notes_free(&notes);
	trace_close(t);
	synth_free(m);
}

/* The bytes behind its fields are a newer writer's; texts that are not defined are empty. */
TEST(notes_may_be_longer_or_damaged)
{
	static const uint8_t longer[] = { 1, 6, 7, 99, 99, 0, 1, 1 };
	static const uint8_t damaged[] = { 2, 4, 8, 0, 0, 0, 200, 1, 0, 0, 0 };
	struct synth *m = synth_new();
	struct trace *t;
	size_t n;

	synth_switch(m, 0, 10, 5, 'S', 0, "");
	synth_flush(m);
	synth_add_block(m, CHAINLOG_BLOCK_NOTES, longer, sizeof(longer));
	synth_add_block(m, CHAINLOG_BLOCK_NOTES, damaged, sizeof(damaged));
	synth_end(m, 20);
	t = synth_open(m);
	assert_int_equal(trace_notes(t, &n)[0].tgid, 7);
	assert_int_equal(trace_notes(t, &n)[0].what, 0);
	assert_int_equal(n, 2);
	assert_int_equal(trace_notes(t, &n)[1].tgid, 8);
	assert_string_equal(trace_damage(t)->what, "a malformed block of notes");
	trace_close(t);
	synth_free(m);
}

TEST(info_says_that_the_kernel_counted_more)
{
	struct synth *m = synth_new();
	char *text;

	synth_switch(m, 0, 10, 1, 'S', 0, "");
	synth_lost(m, 0, 5, 20, 40);
	encoder_end(synth_encoder(m), 100, 7, 0);
	text = FORMAT(m, "-f", "info");
	expect_line(text, "lost: 5");
	expect_line(text, "lost_spans: 1");
	expect_line(text, "kernel_counted: 7");
	expect_line(text, "accounted: no");
	free(text);
	synth_free(m);
}

TEST(info_tells_damage)
{
	struct synth *m = synth_sample();
	char *text, line[64];
	size_t at, len;

	at = synth_block(m, CHAINLOG_BLOCK_EVENTS, 0, &len);
	synth_bytes(m, &len)[at + CHAINLOG_HEADER_SIZE] ^= 1;
	text = FORMAT(m, "-f", "info");
	snprintf(line, sizeof(line), "damage_offset: %zu", at);
	expect_line(text, "damage: a block whose checksum does not match");
	expect_line(text, line);
	expect_line(text, "damage_blocks: 1");
	expect_line(text, "lost_spans_of_unknown_size: 2");
	free(text);
	synth_free(m);
}

static char *clean(const char *s)
{
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	print_clean(f, s);
	fclose(f);
	return text;
}

TEST(control_characters_are_never_printed_raw)
{
	struct synth *m = synth_new();

	expect(clean("plain name; with %s"), "plain name; with %s");
	expect(clean("\033[31mred\a\n\t\177"), "?[31mred????");
	expect(clean("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\xa7"),
	       "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\xa7");
	expect(clean("\xc2\x9b"
		     "1m"),
	       "?1m");					/* C1: another escape */
	expect(clean("\xff\xc3"), "??");		/* broken */
	expect(clean("\xc0\x80\xed\xa0\x80"), "?????"); /* overlong, surrogate */
	expect(clean("\xf4\x90\x80\x80"), "????");	/* beyond Unicode */
	synth_thread(m, 5, "\033]0;evil\a");
	synth_switch(m, 0, 10, 5, 'S', 0, "");
	synth_end(m, 20);
	expect(FORMAT(m, "-f", "events"),
	       "     0.000000010 [000] switch ?]0;evil?/5 S -> swapper/0\n");
	synth_free(m);
}
