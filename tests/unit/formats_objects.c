// SPDX-License-Identifier: GPL-2.0-or-later
/* What threads waited for, in each output (docs/chain-semantics.md, section 10). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "synth_script.h"

/* A waits for a peer, which B is, then for a file; B sleeps for nothing known. */
static const char script[] = "0    c0 - R > A\n"
			     "0    c1 - R > B\n"
			     "100  c0 A S > - krecv|recv;main for=tcp:10.0.0.5:80\n"
			     "200  c1 B wakes A kwake|bsend\n"
			     "200  c0 - R > A\n"
			     "300  c0 A D > - kio|pread;main for=file:/a;b\n"
			     "600  c1 B wakes A kwake|bsend\n"
			     "600  c0 - R > A\n"
			     "700  c0 A S > - krecv|recv;main for=tcp:10.0.0.6:80\n"
			     "750  c1 B wakes A kwake|bsend\n"
			     "750  c0 - R > A\n"
			     "800  c0 A S > - kfutex|lock;main\n"
			     "900  c1 B wakes A kwake|bsend\n"
			     "900  c0 - R > A\n"
			     "end 1000\n";

static void classes_stand_between_the_users_part_and_the_kernels(void **state)
{
	struct options o = script_options(101);

	(void)state;
	o.depth = 0;
	expect_text(script_folded(script, &o), "A;main;lock;-;kfutex;[depth limit] 100\n"
					       "A;main;pread;[file];-;kio;[depth limit] 300\n"
					       "A;main;recv;[tcp];-;krecv;[depth limit] 150\n");
	o.objects = OBJECTS_FULL;
	expect_text(script_folded(script, &o),
		    "A;main;lock;-;kfutex;[depth limit] 100\n"
		    "A;main;pread;[file /a:b];-;kio;[depth limit] 300\n"
		    "A;main;recv;[tcp 10.0.0.5:80];-;krecv;[depth limit] 100\n"
		    "A;main;recv;[tcp 10.0.0.6:80];-;krecv;[depth limit] 50\n");
	o.objects = OBJECTS_NONE;
	expect_text(script_folded(script, &o), "A;main;lock;-;kfutex;[depth limit] 100\n"
					       "A;main;pread;-;kio;[depth limit] 300\n"
					       "A;main;recv;-;krecv;[depth limit] 150\n");
}

static void a_kernel_part_alone_has_its_object_before_it(void **state)
{
	struct options o = script_options(101);

	(void)state;
	o.depth = 0;
	o.user = false;
	o.parts = PART_BLOCKED;
	expect_text(script_folded("0 c0 - R > A\n"
				  "100 c0 A S > - kread for=pipe:12\n"
				  "200 c0 - R > A\n"
				  "300 c0 A S > - for=sleep\n"
				  "400 c0 - R > A\n"
				  "end 500\n",
				  &o),
		    "A;[pipe];-;kread;[unknown] 100\n"
		    "A;[unknown stack];[sleep];[unknown] 100\n");
}

static void waits_are_chosen_by_object_and_by_class(void **state)
{
	struct options o = script_options(101);
	char why[100];

	(void)state;
	o.depth = 0;
	word_list_add(&o.classes, "file", 4);
	expect_text(script_folded(script, &o), "A;main;pread;[file];-;kio;[depth limit] 300\n");
	word_list_add(&o.classes, "tcp,", 3);
	assert_int_equal(regex_list_add(&o.waits_for, "^\\[tcp .*6:80", why, sizeof(why)), 0);
	expect_text(script_folded(script, &o), "A;main;recv;[tcp];-;krecv;[depth limit] 50\n");
	o.tids = (struct id_list) { NULL, 0 }; /* not ours */
	options_free(&o);
}

static void the_table_adds_up_each_object(void **state)
{
	struct options o = script_options(101);

	(void)state;
	expect_text(script_formatted(script, &o, "objects"),
		    "OBJECT                WAITS         BLOCKED       LONGEST           P50"
		    "           P99  WAITED                ENDED BY\n"
		    "[file /a:b]               1           0.300         0.300         0.300"
		    "         0.300  A                     B\n"
		    "not known                 1           0.100         0.100         0.100"
		    "         0.100  A                     B\n"
		    "[tcp 10.0.0.5:80]         1           0.100         0.100         0.100"
		    "         0.100  A                     B\n"
		    "[tcp 10.0.0.6:80]         1           0.050         0.050         0.050"
		    "         0.050  A                     B\n"
		    "all of them               4           0.550         0.300\n"
		    "(times in ms; 4 objects)\n");
}

static void the_class_can_be_the_root(void **state)
{
	struct options o = script_options(101);

	(void)state;
	o.depth = 0;
	o.root = ROOT_CLASS;
	expect_text(script_folded(script, &o),
		    "[file];A;main;pread;[file];-;kio;[depth limit] 300\n"
		    "[no object];A;main;lock;-;kfutex;[depth limit] 100\n"
		    "[tcp];A;main;recv;[tcp];-;krecv;[depth limit] 150\n");
}

static void the_table_of_threads_has_columns_by_class(void **state)
{
	struct options o = script_options(101);
	char *text;

	(void)state;
	o.top = 1;
	o.tids.n = 0;
	o.ended = true;
	text = script_formatted(script, &o, "threads");
	assert_non_null(strstr(
		text,
		"LONGEST        WAITED          file           tcp        others    INTERRUPTS\n"));
	assert_non_null(strstr(
		text,
		"0.300         0.550         0.300         0.150         0.100             -\n"));
	assert_non_null(strstr(text, "; by class: blocked)\n"));
	free(text);
	text = script_formatted("0 c0 - R > A\n100 c0 A S > - k\n200 c0 - R > A\nend 300\n", &o,
				"threads");
	assert_non_null(strstr(text, "LONGEST        WAITED    INTERRUPTS\n"));
	free(text);
}

static void readers_are_told(void **state)
{
	struct options o = script_options(101);
	char *text;

	(void)state;
	text = script_formatted(script, &o, "tree");
	assert_non_null(strstr(text, "slept 100.000 us (S) for tcp 10.0.0.5:80"));
	assert_non_null(strstr(text, "slept 300.000 us (D) for file /a:b"));
	free(text);
	text = script_formatted(script, &o, "json");
	assert_non_null(
		strstr(text, "\"object\":{\"class\":\"file\",\"name\":\"/a;b\"},\"stack\""));
	free(text);
	text = script_formatted(script, &o, "csv");
	assert_non_null(strstr(text, ",stack,object\n"));
	assert_non_null(strstr(text, ",main;recv;[tcp];-;krecv,tcp 10.0.0.5:80\n"));
	assert_non_null(strstr(text, ",main;lock;-;kfutex,\n"));
	free(text);
	o.tids.n = 0;
	text = script_formatted(script, &o, "events");
	assert_non_null(strstr(text, "object A/101 waits for file /a;b\n"));
	free(text);
}

/* An object whose switch is missing, or is another one's, says nothing. */
static void objects_belong_to_the_switch_of_the_same_time(void **state)
{
	struct synth *m = synth_new();
	struct options o = script_options(101);
	struct trace *t;

	(void)state;
	synth_thread(m, 101, "A");
	synth_switch(m, 0, 100, 101, 'S', 0, "ksleep");
	synth_waits_for(m, 1, 100, "tcp", "other CPU");
	synth_waits_for(m, 0, 101, "tcp", "later");
	synth_switch(m, 0, 200, 0, 'R', 101, "");
	synth_waits_for(m, 0, 200, "tcp", "nobody went");
	synth_end(m, 300);
	t = synth_open(m);
	o.unit = UNIT_NS;
	expect_text(trace_folded(t, &o), "A;ksleep;[unknown] 100\n");
	trace_close(t);
	synth_free(m);
}

/* ---- rows that are one for the reader -------------------------------------------------------- */

/* A waits for a condition by its two words, and in the same call for its mutex; B for that alone.
 */
static const char condition[] =
	"0    c0 - R > A\n"
	"0    c1 - R > C\n"
	"0    c2 - R > B\n"
	"100  c0 A S > - k|futex_wait;pthread_cond_wait;take;main for=futex:7:app+0x40c8\n"
	"200  c1 C wakes A wake\n"
	"200  c0 - R > A\n"
	"210  c0 A S > - k|__lll_lock_wait;pthread_cond_wait;take;main for=futex:7:app+0x40e0\n"
	"300  c1 C wakes A wake\n"
	"300  c0 - R > A\n"
	"310  c0 A S > - k|futex_wait;pthread_cond_wait;take;main for=futex:7:app+0x40cc\n"
	"400  c1 C wakes A wake\n"
	"400  c0 - R > A\n"
	"400  c2 B S > - k|__lll_lock_wait;pthread_mutex_lock;give;main for=futex:7:app+0x40e0\n"
	"400  c2 B held-by A\n"
	"500  c1 C wakes B wake\n"
	"500  c2 - R > B\n"
	"500  c2 B S > - k|__lll_lock_wait;pthread_mutex_lock;give;main for=futex:7:app+0x4100\n"
	"600  c1 C wakes B wake\n"
	"600  c2 - R > B\n"
	"end 1000\n";

static void has_line(const char *text, const char *begin)
{
	const char *at = text;

	while (at && strncmp(at, begin, strlen(begin))) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	if (!at)
		fail_msg("no line '%s' in\n%s", begin, text);
}

static void a_condition_and_its_mutex_are_one(void **state)
{
	struct options o;
	char *text;

	(void)state;
	options_init(&o);
	text = script_formatted(condition, &o, "objects");
	has_line(text, "[futex 7:app+0x40c8 with mutex app+0x40e0]         4           0.380");
	has_line(text, "  held by A/101                                    1           0.100");
	has_line(text, "[futex 7:app+0x4100]                               1           0.100");
	has_line(text, "(times in ms; 4 objects, --by-object shows each)");
	free(text);
	o.by_object = true;
	text = script_formatted(condition, &o, "objects");
	has_line(text, "[futex 7:app+0x40c8]         1           0.100");
	has_line(text, "[futex 7:app+0x40cc]         1           0.090");
	has_line(text, "[futex 7:app+0x40e0]         2           0.190");
	has_line(text, "  held by A/101              1           0.100");
	free(text);
	o.by_object = false;
	o.json = true;
	text = script_formatted(condition, &o, "objects");
	assert_non_null(
		strstr(text, "with mutex app+0x40e0]\",\"waits\":4,\"blocked_ns\":380000,"));
	assert_non_null(strstr(text, "\"objects\":3,\"held_by\":[{\"name\":\"A/101\","
				     "\"ns\":100000}]}\n"));
	free(text);
}

/* A waits once for each of n things. */
static char *waits_once(size_t n, const char *class, const char *name)
{
	char *lines;
	size_t len;
	FILE *f = open_memstream(&lines, &len);

	fputs("0 c0 - R > A\n", f);
	for (size_t i = 1; i <= n; i++) {
		fprintf(f, "%zu00 c0 A S > - k for=%s:", i, class);
		fprintf(f, name, (int)i);
		fprintf(f, "\n%zu50 c0 - R > A\n", i);
	}
	fprintf(f, "end %zu00\n", n + 2);
	fclose(f);
	return lines;
}

static void expect_rows(size_t n, const char *class, const char *name, const char *line)
{
	struct options o = script_options(101);
	char *lines = waits_once(n, class, name), *text = script_formatted(lines, &o, "objects");

	has_line(text, line);
	free(text);
	free(lines);
}

static void what_occurs_once_each_is_one(void **state)
{
	(void)state;
	expect_rows(345, "child", "cc1/%d", "[child] 345 of A       345          17.250");
	expect_rows(3, "child", "cc1/%d", "[child cc1/2]            1           0.050");
	expect_rows(40, "file", "/var/lib/x/%03d",
		    "[file /var/lib/x/*] 40 files        40           2.000");
	expect_rows(31, "file", "/var/lib/x/%03d",
		    "[file /var/lib/x/007]         1           0.050");
}

static void peers_of_a_port_are_one(void **state)
{
	struct options o = script_options(101);
	struct synth *m = synth_new();
	struct trace *t;
	char *text;

	(void)state;
	synth_thread(m, 101, "A");
	for (uint32_t i = 0; i < 12; i++) {
		struct event ev = { .time_ns = 100 + 100 * i, .kind = EVENT_WAITS_FOR };
		char peer[32];

		snprintf(peer, sizeof(peer), "10.0.0.%u:4000", i);
		synth_switch(m, 0, ev.time_ns, 101, 'S', 0, "ksleep");
		ev.awaited.object = encoder_object(
			synth_encoder(m), &(struct encoder_object) { .class = "tcp",
								     .name = peer,
								     .own = "tcp 10.0.1.1:8080",
								     .peer = 0,
								     .owner = 101 });
		assert_int_equal(encoder_event(synth_encoder(m), &ev), 0);
		synth_switch(m, 0, ev.time_ns + 50, 0, 'R', 101, "");
	}
	synth_end(m, 2000);
	t = synth_open(m);
	text = trace_formatted(t, &o, "objects");
	has_line(text, "[tcp :8080] 12 peers        12");
	free(text);
	trace_close(t);
	synth_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes_stand_between_the_users_part_and_the_kernels),
		cmocka_unit_test(a_kernel_part_alone_has_its_object_before_it),
		cmocka_unit_test(waits_are_chosen_by_object_and_by_class),
		cmocka_unit_test(the_table_adds_up_each_object),
		cmocka_unit_test(the_class_can_be_the_root),
		cmocka_unit_test(the_table_of_threads_has_columns_by_class),
		cmocka_unit_test(readers_are_told),
		cmocka_unit_test(a_condition_and_its_mutex_are_one),
		cmocka_unit_test(what_occurs_once_each_is_one),
		cmocka_unit_test(peers_of_a_port_are_one),
		cmocka_unit_test(objects_belong_to_the_switch_of_the_same_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
