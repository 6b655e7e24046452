// SPDX-License-Identifier: GPL-2.0-or-later
/* Two recordings compared (chain-semantics, section 20): made events in, rows and judgements out.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "formats/against.h"
#include "synth_many.h"

/* ---- what is compared ------------------------------------------------------------------------ */

static void make(struct figures *f, const struct trace *t, const struct options *o,
		 const char *name)
{
	struct timelines *tl;
	struct format_input in = { .trace = t, .options = o };

	assert_int_equal(timelines_new_with_cpus(&tl, t), 0);
	in.timelines = tl;
	figures_make(f, &in, name);
	timelines_free(tl);
}

/* To be freed with against_free(). */
static struct against compared(const struct trace *before, const struct trace *after,
			       const struct options *o)
{
	struct against a = { .n = 0 };

	make(&a.before, before, o, "before.bin");
	make(&a.after, after, o, "after.bin");
	against_compare(&a, o);
	return a;
}

static char *written(const struct against *a, const struct options *o)
{
	void (*put)(FILE *, const struct against *, const struct options *) =
		o->json ? against_put_json : against_put;
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	put(f, a, o);
	assert_int_equal(fclose(f), 0);
	return text;
}

/*
 * S answers so many requests, one every 20 ms; for the last `slow` of them it waits for slow_us for
 * a lock that L, who works, has; else for usual_us. When it got the lock X, of another process, has
 * its CPU for load_us.
 */
struct service {
	const char *endpoint;
	unsigned int requests, slow, usual_us, slow_us, load_us;
};

static struct trace *open_service(struct service s, struct synth **made)
{
	char *script;
	size_t len;
	FILE *f = open_memstream(&script, &len);
	struct trace *t;

	assert_non_null(f);
	fputs("queues\nthread S *\nthread L *\n0 c0 - R > S\n0 c1 - R > L\n", f);
	for (unsigned int i = 0; i < s.requests; i++) {
		unsigned int at = 1000 + 20000 * i;
		unsigned int us = i + s.slow >= s.requests ? s.slow_us : s.usual_us;
		unsigned int woken = at + 100 + us, back = woken + s.load_us;

		fprintf(f, "%u c0 S S > %s lock|take;serve;main for=futex:17:lock\n", at + 100,
			s.load_us ? "X" : "-");
		fprintf(f, "%u c1 L ran |crunch;hold;main\n", at + 150);
		fprintf(f, "%u c1 L wakes S wake|unlock;main\n%u c0 S queued! c0\n", woken, woken);
		fprintf(f, "%u c0 %s > S\n", back, s.load_us ? "X S" : "- R");
		fprintf(f, "%u c0 S request %s conn=1 arrived=%u taken=%u\n", back + 50, s.endpoint,
			at, at + 50);
	}
	fprintf(f, "end %u\n", 1000 + 20000 * s.requests);
	assert_int_equal(fclose(f), 0);
	*made = script_made(script);
	free(script);
	t = synth_open(*made);
	trace_choose_frames(t, false);
	return t;
}

/* With --fail-above 20%; text, to be freed, is what is written. */
static struct against services_as(bool json, struct service before, struct service after,
				  char **text)
{
	struct synth *made[2];
	struct trace *t[2] = { open_service(before, &made[0]), open_service(after, &made[1]) };
	struct options o;
	struct against a;

	options_init(&o);
	o.fail_above_ppm = 200000;
	a = compared(t[0], t[1], &o);
	o.json = json;
	if (text)
		*text = written(&a, &o);
	for (size_t i = 0; i < 2; i++) {
		trace_close(t[i]);
		synth_free(made[i]);
	}
	return a;
}

static struct against services(struct service before, struct service after, char **text)
{
	return services_as(false, before, after, text);
}

static const struct against_row *endpoint_row(const struct against *a)
{
	for (size_t i = 0; i < a->n; i++)
		if ((a->rows[i].after ? a->rows[i].after : a->rows[i].before)->kind ==
		    FIGURE_ENDPOINT)
			return &a->rows[i];
	fail_msg("no endpoint");
	return NULL;
}

static void endpoint_changes(struct service before, struct service after,
			     enum against_change change, bool above)
{
	struct against a = services(before, after, NULL);

	assert_int_equal(endpoint_row(&a)->change, change);
	assert_int_equal(endpoint_row(&a)->above, above);
	assert_true(a.n_above >= above);
	against_free(&a);
}

/* ---- what is said ---------------------------------------------------------------------------- */

static const struct service usual = { "tcp::80", 40, 10, 500, 3000, 0 };

static struct service with_slow_us(unsigned int us)
{
	struct service s = usual;

	s.slow_us = us;
	return s;
}

static void what_grew_is_told_with_its_links(void **state)
{
	char *text;
	struct against a = services(usual, with_slow_us(9000), &text);

	(void)state;
	assert_int_equal(a.n_above, 1);
	against_free(&a);
	expect_text(text, "before: 0.801 s: before.bin\n"
			  "after:  0.801 s: after.bin\n"
			  "1 of 1 figures grew by more than 20 %, those with \"!\".\n"
			  "    BEFORE      AFTER   CHANGE\n"
			  "   3.15 ms    9.15 ms  +190 %  ! p99 of tcp :80 S, 40 and 40\n"
			  "             +6.00 ms            S take  waits for a futex\n"
			  "             +6.00 ms             L crunch  ran\n"
			  " 56.2 ms/s   131 ms/s  +133 %    L ran crunch\n");
}

static void scripts_are_told_the_same(void **state)
{
	char *text;
	struct against a = services_as(true, usual, with_slow_us(9000), &text);

	(void)state;
	against_free(&a);
	expect_text(text,
		    "{\"schema\":1,\"before\":{\"trace\":\"before.bin\",\"duration_ns\":801000000,"
		    "\"events\":122,\"lost\":0},\"after\":{\"trace\":\"after.bin\","
		    "\"duration_ns\":801000000,\"events\":122,\"lost\":0},"
		    "\"verdict\":\"1 of 1 figures grew by more than 20 %.\","
		    "\"causes_are_of\":\"a second\",\"judged\":1,\"above\":1,\"figures\":["
		    "{\"kind\":\"endpoint\",\"name\":\"tcp :80 S\","
		    "\"before\":{\"ns\":3150000,\"with_load_ns\":3150000,\"requests\":40},"
		    "\"after\":{\"ns\":9150000,\"with_load_ns\":9150000,\"requests\":40},"
		    "\"change\":\"grown\",\"judged\":true,\"above\":true,\"links\":["
		    "{\"depth\":0,\"who\":\"S\",\"at\":\"take\",\"words\":\"waits for a futex\","
		    "\"by_ns\":6000000},{\"depth\":1,\"who\":\"L\",\"at\":\"crunch\","
		    "\"words\":\"ran\",\"by_ns\":6000000}]},"
		    "{\"kind\":\"cause\",\"name\":\"L ran crunch\","
		    "\"before\":{\"ns\":56179775,\"with_load_ns\":56179775},"
		    "\"after\":{\"ns\":131086142,\"with_load_ns\":131086142},"
		    "\"change\":\"grown\",\"judged\":false,\"above\":false,\"links\":[]}],"
		    "\"figures_left_out\":0,\"causes_as_before\":0}\n");
}

/* ---- what is a change ------------------------------------------------------------------------ */

static void the_same_is_no_change(void **state)
{
	(void)state;
	endpoint_changes(usual, usual, AGAINST_SAME, false);
}

static void a_little_is_no_change(void **state)
{
	(void)state;
	/* Less than a tenth; less than a fifth; by less than a millisecond. */
	endpoint_changes(with_slow_us(15000), with_slow_us(16100), AGAINST_SAME, false);
	endpoint_changes(with_slow_us(15000), with_slow_us(17000), AGAINST_GROWN, false);
	endpoint_changes(with_slow_us(1000), with_slow_us(1900), AGAINST_SAME, false);
	endpoint_changes(with_slow_us(1000), with_slow_us(2300), AGAINST_GROWN, true);
	endpoint_changes(with_slow_us(9000), with_slow_us(3000), AGAINST_LESS, false);
}

static void a_few_requests_may_be_chance(void **state)
{
	struct service few = usual, slower = with_slow_us(9000);

	(void)state;
	/* Of 40 the slowest is the 99th percentile; nine may be three standard deviations. */
	slower.slow = 9;
	endpoint_changes(usual, slower, AGAINST_SAME, false);
	slower.slow = 10;
	endpoint_changes(usual, slower, AGAINST_GROWN, true);
	/* Of so few the percentile says nothing. */
	few.requests = few.slow = 19;
	slower.requests = slower.slow = 19;
	endpoint_changes(few, slower, AGAINST_GROWN, false);
}

static void the_load_of_others_is_no_change(void **state)
{
	struct service loaded = usual;
	struct against a;
	char *text;

	(void)state;
	loaded.load_us = 6000;
	a = services(usual, loaded, &text);
	assert_int_equal(endpoint_row(&a)->change, AGAINST_SAME);
	assert_int_equal(endpoint_row(&a)->after->ns, 9150000);
	assert_int_equal(endpoint_row(&a)->after->own_ns, 3150000);
	assert_int_equal(a.n_above, 0);
	assert_non_null(strstr(text, "   3.15 ms    3.15 ms   (+0 %)   p99 of tcp :80 S, load: "
				     "3.15 ms, 9.15 ms\n"));
	against_free(&a);
	free(text);
}

static void ports_may_differ_if_there_is_one(void **state)
{
	struct service other = with_slow_us(9000);
	struct against a;

	(void)state;
	other.endpoint = "tcp::4711";
	endpoint_changes(usual, other, AGAINST_GROWN, true);
	/* Another protocol is another endpoint; one that was not there cannot have grown. */
	other.endpoint = "unix:/run/shop";
	a = services(usual, other, NULL);
	assert_int_equal(a.rows[0].change, AGAINST_NEW);
	assert_int_equal(a.rows[1].change, AGAINST_GONE);
	assert_false(a.rows[0].judged || a.rows[1].judged);
	against_free(&a);
}

/* ---- recorded traces ------------------------------------------------------------------------- */

static void against_itself(const struct trace *t, const char *name, void *arg)
{
	struct options o;
	struct against a;

	(void)arg;
	options_init(&o);
	o.fail_above_ppm = 100;
	a = compared(t, t, &o);
	for (size_t i = 0; i < a.n; i++)
		if (a.rows[i].change != AGAINST_SAME || !a.rows[i].before)
			fail_msg("%s: a row is not the same", name);
	assert_int_equal(a.n_above, 0);
	against_free(&a);
}

static void nothing_grew_since_the_same_recording(void **state)
{
	(void)state;
	on_recorded(against_itself, NULL);
	on_recorded_services(against_itself, NULL);
}

static void fits(const struct trace *t, const char *name, void *arg)
{
	struct against *a = arg;
	struct options o;

	options_init(&o);
	a->after = a->before;
	memset(&a->before, 0, sizeof(a->before));
	make(&a->before, t, &o, name);
	if (!a->after.n)
		return;
	against_compare(a, &o);
	for (o.columns = 60, o.lines = 24; o.columns <= 200; o.columns += 7) {
		char *text = written(a, &o), *end;
		size_t lines = 0;

		for (char *line = text; *line; line = end + 1, lines++) {
			end = strchr(line, '\n');
			*end = 0;
			if (text_columns(line, SIZE_MAX) > o.columns)
				fail_msg("%s: longer than %u: %s", name, o.columns, line);
		}
		assert_in_range(lines, 5, 22);
		free(text);
	}
	free(a->rows);
	a->rows = NULL;
	a->n = a->n_judged = a->n_above = 0;
	figures_free(&a->after);
}

static void no_line_is_longer_than_the_screen(void **state)
{
	struct against a = { .n = 0 };

	(void)state;
	on_recorded(fits, &a);
	on_recorded_services(fits, &a);
	against_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_grew_is_told_with_its_links),
		cmocka_unit_test(scripts_are_told_the_same),
		cmocka_unit_test(the_same_is_no_change),
		cmocka_unit_test(a_little_is_no_change),
		cmocka_unit_test(a_few_requests_may_be_chance),
		cmocka_unit_test(the_load_of_others_is_no_change),
		cmocka_unit_test(ports_may_differ_if_there_is_one),
		cmocka_unit_test(nothing_grew_since_the_same_recording),
		cmocka_unit_test(no_line_is_longer_than_the_screen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
