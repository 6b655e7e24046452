// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * All views are of the same waits: their numbers agree to the nanosecond, on random schedules and
 * on recorded traces (those in tests/data). And an option that a view could only ignore is refused.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/sleep_ends.h"
#include "fold/fold.h"
#include "command_line.h"
#include "synth_many.h"

#define SCHEDULES 300

/* The sum of the numbers that follow each occurrence of a word. */
static uint64_t sum_after(const char *text, const char *word)
{
	uint64_t sum = 0;

	for (const char *s = text; (s = strstr(s, word));) {
		s += strlen(word);
		sum += strtoull(s, NULL, 10);
	}
	return sum;
}

/* The sum of the last number of each line. */
static uint64_t sum_of_lines(const char *text)
{
	uint64_t sum = 0;

	for (const char *end = text; (end = strchr(end, '\n')); end++) {
		const char *s = end;

		while (s[-1] != ' ')
			s--;
		sum += strtoull(s, NULL, 10);
	}
	return sum;
}

/* The n-th number of the line that begins with (spaces and) "all of them". */
static uint64_t total(const char *text, unsigned int n)
{
	const char *s = strstr(text, "all of them");

	assert_non_null(s);
	s += strlen("all of them");
	for (; n; n--) {
		s += strspn(s, " ");
		s += strcspn(s, " ");
	}
	return strtoull(s, NULL, 10);
}

/* The sum of BLOCKED over the rows of threads: their sum is in no row. */
static uint64_t blocked_of_threads(const char *table)
{
	const size_t at = strlen("    TID     PID NAME                   RUNNING");
	uint64_t sum = 0;

	for (const char *line = table; (line = strchr(line, '\n')); line++)
		if (line[strspn(line, "\n ")] >= '0' && line[strspn(line, "\n ")] <= '9')
			sum += strtoull(line + 1 + at, NULL, 10);
	return sum;
}

/* The whole of a table of causes, in us. */
/* The time on the line that ends so, behind the share. */
static uint64_t us_before(const char *table, const char *words)
{
	const char *end = strstr(table, words), *s = end;
	uint64_t us = 0;

	while (s && s[-1] != '\n')
		s--;
	for (s = s ? s + strlen("100.0 %") : end; s < end; s++)
		if (*s >= '0' && *s <= '9')
			us = us * 10 + (uint64_t)(*s - '0');
	return us;
}

static uint64_t us_of_causes(const char *table)
{
	return us_before(table, " all of them") +
	       us_before(table, " not counted: pauses and waits for work");
}

static uint64_t count_lines(const char *text)
{
	uint64_t n = 0;

	for (; (text = strchr(text, '\n')); text++)
		n++;
	return n;
}

/* Whether the shares of each piece's stacks add up to the piece. */
static bool shares_are_whole(const char *json)
{
	while ((json = strstr(json, "\"ns\":"))) {
		uint64_t ns, sum = 0;
		const char *ran, *end;

		json += strlen("\"ns\":");
		ns = strtoull(json, NULL, 10);
		end = strstr(json, "\"ns\":");
		for (ran = json; (ran = strstr(ran, "\"ran_ns\":")) && (!end || ran < end);) {
			ran += strlen("\"ran_ns\":");
			sum += strtoull(ran, NULL, 10);
		}
		if (sum && sum != ns)
			return false;
	}
	return true;
}

/* The samples above [running] in all chains. */
static uint64_t samples_of(struct fold *fold)
{
	const struct chain_rows *rows = fold_rows(fold);
	uint64_t samples = 0;

	for (size_t i = 0; i < rows->n_ran; i++)
		samples += rows->ran[i].end == CHAIN_RUNNING ? rows->ran[i].samples : 0;
	return samples;
}

struct views {
	char *folded, *json, *wakers, *wakeup, *hist, *threads, *by_name, *causes;
};

static struct views views_of(const struct trace *t, struct options o)
{
	struct views v;

	o.unit = UNIT_NS;
	v.folded = trace_formatted(t, &o, "folded");
	v.json = trace_formatted(t, &o, "json");
	v.wakers = trace_formatted(t, &o, "wakers");
	v.hist = trace_formatted(t, &o, "hist");
	v.threads = trace_formatted(t, &o, "threads");
	o.given |= GIVEN_PARTS;
	v.causes = trace_formatted(t, &o, "causes");
	o.by_name = true;
	v.by_name = trace_formatted(t, &o, "hist");
	o.by_name = false;
	o.view = VIEW_WAKEUP;
	v.wakeup = trace_formatted(t, &o, "folded");
	return v;
}

static void views_free(struct views *v)
{
	free(v->folded);
	free(v->json);
	free(v->wakers);
	free(v->wakeup);
	free(v->hist);
	free(v->threads);
	free(v->by_name);
	free(v->causes);
}

/* Of what a summary says, each view shows the part that it is about. */
static void check_agreement(const struct trace *t, const struct options *o, const char *script)
{
	struct views v = views_of(t, *o);
	struct timelines *tl;
	struct fold *fold;
	struct chain_summary s;
	uint64_t all, samples;
	bool whole = !o->from_ns && o->to_ns == UINT64_MAX && !o->min_wait_ns && !o->no_idle &&
		     o->parts == (PART_BLOCKED | PART_RUNNABLE | PART_PREEMPTED);

	assert_int_equal(timelines_new(&tl, t), 0);
	sleep_ends_settle(tl);
	fold_new(&fold, tl, o, FOLD_BY_NAME);
	s = *fold_summary(fold);
	samples = samples_of(fold);
	fold_free(fold);
	timelines_free(tl);
	all = s.blocked_ns + s.runnable_ns + s.preempted_ns;

#define AGREE(a, b)                                                                    \
	do {                                                                           \
		if ((uint64_t)(a) != (uint64_t)(b)) {                                  \
			fprintf(stderr, "%s: %" PRIu64 ", %s: %" PRIu64 " in\n%s", #a, \
				(uint64_t)(a), #b, (uint64_t)(b), script);             \
			fail();                                                        \
		}                                                                      \
	} while (0)

	AGREE(sum_of_lines(v.folded), all);
	AGREE(sum_after(v.json, "\"ns\":"), all);
	AGREE(sum_after(v.json, "\"samples\":"), samples);
	AGREE(shares_are_whole(v.json), true);
	AGREE(sum_after(v.json, "\"blocked\":"), s.blocked_ns);
	AGREE(sum_after(v.json, "\"runnable\":"), s.runnable_ns);
	AGREE(sum_after(v.json, "\"preempted\":"), s.preempted_ns);
	AGREE(count_lines(v.json), s.waits);
	/* Each of its two parts is cut to whole microseconds. */
	AGREE(all / 1000 - us_of_causes(v.causes) < 2, true);
	AGREE(sum_after(v.hist, " : "), s.waits);
	AGREE(sum_after(v.by_name, " : "), s.waits);
	AGREE(total(v.wakers, 1), s.blocked_ns);
	AGREE(sum_of_lines(v.wakeup), s.blocked_ns);
	if (whole) {
		AGREE(blocked_of_threads(v.threads), s.blocked_ns);
		AGREE(total(v.threads, 2), s.runnable_ns);
		AGREE(total(v.threads, 3), s.preempted_ns);
		AGREE(total(v.threads, 6), total(v.wakers, 0));
	}
	views_free(&v);
}

static void check_trace(const struct trace *t, const char *script, void *arg)
{
	const struct trace_info *info = trace_info(t);
	uint64_t long_ns = info->end_ns - info->start_ns;
	struct options o;

	(void)arg;
	options_init(&o);
	o.parts = PART_BLOCKED | PART_RUNNABLE | PART_PREEMPTED;
	check_agreement(t, &o, script);
	o.mode = MODE_CLASSIC;
	o.depth = 2;
	o.from_ns = long_ns / 3;
	o.to_ns = long_ns - long_ns / 4;
	check_agreement(t, &o, script);
	o.mode = MODE_EXACT;
	o.no_idle = true;
	o.parts = PART_RUNNABLE | PART_PREEMPTED;
	o.min_wait_ns = 1000;
	check_agreement(t, &o, script);
	o.parts = PART_BLOCKED;
	check_agreement(t, &o, script);
}

static struct chain_summary summary_of(const struct trace *t, const struct options *o)
{
	struct timelines *tl;
	struct fold *fold;
	struct chain_summary s;

	assert_int_equal(timelines_new(&tl, t), 0);
	sleep_ends_settle(tl);
	fold_new(&fold, tl, o, FOLD_BY_NAME);
	s = *fold_summary(fold);
	fold_free(fold);
	timelines_free(tl);
	return s;
}

/* The time of the causes, in JSON, that are pauses, or of the others. */
static uint64_t ns_of_causes(const char *json, bool pauses)
{
	const char *pause = pauses ? "\"pause\":true" : "\"pause\":false";
	uint64_t sum = 0;

	for (const char *s = json; (s = strstr(s, pause));) {
		s = strstr(s, ",\"ns\":");
		assert_non_null(s);
		sum += strtoull(s + strlen(",\"ns\":"), NULL, 10);
	}
	return sum;
}

/*
 * What --no-idle leaves out is pauses and waits for work, of each view and for each
 * thread (chain-semantics, section 17).
 */
static void check_idle(const struct trace *t, const char *script, void *arg)
{
	struct chain_summary all, busy;
	struct options o;
	char *causes, *busy_causes, *threads, *objects;
	uint64_t busy_ns;

	(void)arg;
	options_init(&o);
	o.unit = UNIT_NS;
	o.json = true;
	o.parts = PART_BLOCKED | PART_RUNNABLE | PART_PREEMPTED;
	o.given |= GIVEN_PARTS;
	all = summary_of(t, &o);
	causes = trace_formatted(t, &o, "causes");
	o.no_idle = true;
	busy = summary_of(t, &o);
	busy_causes = trace_formatted(t, &o, "causes");
	threads = trace_formatted(t, &o, "threads");
	o.parts = PART_BLOCKED;
	objects = trace_formatted(t, &o, "objects");

	busy_ns = busy.blocked_ns + busy.runnable_ns + busy.preempted_ns;
	AGREE(busy.blocked_ns + busy.idle_ns, all.blocked_ns);
	AGREE(busy.runnable_ns, all.runnable_ns);
	AGREE(busy.preempted_ns, all.preempted_ns);
	AGREE(ns_of_causes(causes, true), busy.idle_ns);
	AGREE(ns_of_causes(causes, false), busy_ns);
	AGREE(ns_of_causes(busy_causes, true), 0);
	AGREE(ns_of_causes(busy_causes, false), busy_ns);
	AGREE(sum_after(threads, "\"waited_ns\":"), busy_ns);
	AGREE(sum_after(objects, "\"blocked_ns\":"), busy.blocked_ns);
	free(causes);
	free(busy_causes);
	free(threads);
	free(objects);
}

static void views_of_made_traces_agree_to_the_nanosecond(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SCHEDULES; seed++)
		on_schedule(seed, (enum schedule_kind)(seed % 3), check_trace, NULL);
}

static void views_of_recorded_traces_agree_to_the_nanosecond(void **state)
{
	(void)state;
	on_recorded(check_trace, NULL);
}

static void what_is_idle_agrees_to_the_nanosecond(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SCHEDULES; seed++)
		on_schedule(seed, (enum schedule_kind)(seed % 3), check_idle, NULL);
	on_recorded(check_idle, NULL);
	on_recorded_services(check_idle, NULL);
}

/* ---- options -------------------------------------------------------------------------------- */

static void refused(const char *arguments, const char *expected)
{
	char text[256], why[256] = "", *argv[16] = { (char[]) { "chainwalk" } }, *next = text;
	struct options o;
	int argc = 1;

	snprintf(text, sizeof(text), "%s", arguments);
	for (char *word; (word = strsep(&next, " "));)
		argv[argc++] = word;
	if (options_parse(&o, argc, argv, why, sizeof(why)) != (*expected ? -EINVAL : 0))
		fail_msg("%s: '%s'", arguments, why);
	assert_string_equal(why, expected);
	options_free(&o);
}

static void options_without_a_meaning_are_refused(void **state)
{
	(void)state;
	refused("-f json --unit ns", "--unit has no meaning with --format=json");
	refused("-f json --no-ends", "--no-ends has no meaning with --format=json");
	refused("-f json -d 3 -K --blocked-stacks --top 3 --no-idle --state all", "");
	refused("-f hist -d 3", "-d has no meaning with --format=hist");
	refused("-f hist --top 3", "--top has no meaning with --format=hist unless --by-name");
	refused("--by-name -f hist --top 3 --unit ns --state preempted", "");
	refused("--by-name", "--by-name has no meaning with --format=folded");
	refused("-f wakers -K", "-K has no meaning with --format=wakers");
	refused("-f wakers --state all", "--state: --format=wakers shows blocked time only");
	refused("-f wakers --state blocked,D", "");
	refused("-f wakers --state D --no-idle --top 3 --unit ns", "");
	refused("--view chain -f tree", "--view has no meaning with --format=tree");
	refused("--view sideways", "--view: 'sideways' is none of: chain, wakeup, io");
	refused("--view wakeup -d 3", "-d has no meaning with --view wakeup");
	refused("--view wakeup --no-ends", "--no-ends has no meaning with --view wakeup");
	refused("--state runnable --view wakeup", "--state: --view wakeup shows blocked time only");
	refused("--view wakeup --state S --annotate --no-delim -U --top 3 --unit ns", "");
	refused("--view chain -d 3", "");
	refused("-f threads -d 3", "-d has no meaning with --format=threads");
	refused("-f tree --annotate", "--annotate has no meaning with --format=tree");
	refused("-f events --no-idle", "--no-idle has no meaning with --format=events");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(views_of_made_traces_agree_to_the_nanosecond),
		cmocka_unit_test(views_of_recorded_traces_agree_to_the_nanosecond),
		cmocka_unit_test(what_is_idle_agrees_to_the_nanosecond),
		cmocka_unit_test(options_without_a_meaning_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
