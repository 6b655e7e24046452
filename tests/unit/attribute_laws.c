// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The laws of chain-semantics, section 7, on random schedules and on recorded traces (those of
 * TRACES, a glob pattern, or else of tests/data). LAWS_TRACES=N tries N schedules,
 * FIRST_SEED=N begins with that one, ONLY="a_loss*" is that test alone.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/chain.h"
#include "attribute/sleep_ends.h"
#include "fold/fold.h"
#include "synth_folded.h"
#include "synth_many.h"

static struct options options_of(unsigned int depth, enum options_mode mode)
{
	struct options o;

	options_init(&o);
	o.depth = depth;
	o.mode = mode;
	o.parts = PART_BLOCKED | PART_RUNNABLE | PART_PREEMPTED;
	o.unit = UNIT_NS;
	return o;
}

static char *folded(const char *script, unsigned int depth, enum options_mode mode)
{
	struct options o = options_of(depth, mode);

	o.who_ran = true;
	return script_folded(script, &o);
}

/* ---- 1: conservation ------------------------------------------------------------------------ */

static void add_up(void *arg, uint32_t node, struct amount_key key, uint64_t ns)
{
	(void)node;
	(void)key;
	*(uint64_t *)arg += ns;
}

static void waits_are_conserved(const struct timelines *tl, enum options_mode mode,
				unsigned int depth)
{
	struct options o = options_of(depth, mode);
	uint64_t sum;
	struct chains c;

	chains_init(&c, tl, &o, &(struct chain_user) { .sink = { .arg = &sum, .add = add_up } });
	for (uint32_t i = 0; i < timelines_threads(tl); i++) {
		const struct thread *th = timelines_thread(tl, i);

		for (uint32_t k = 0; k < th->n_waits; k++) {
			const struct wait *w = &th->waits[k];

			if (w->kind != WAIT_SLEEP)
				continue;
			sum = 0;
			chains_explain(&c, chains_head(&c, 1), i, w, w->out_ns, w->wake_ns);
			assert_int_equal(sum, w->wake_ns - w->out_ns);
		}
	}
	chains_free(&c);
}

static void threads_are_conserved(const struct timelines *tl)
{
	for (uint32_t i = 0; i < timelines_threads(tl); i++) {
		const struct thread *th = timelines_thread(tl, i);
		struct thread_sums s = thread_sums(th, 0, UINT64_MAX);
		uint64_t running = 0, at = th->begin_ns;

		/* Running time counted by itself, not as what remains. */
		for (uint32_t k = 0; k < th->n_waits; k++) {
			const struct wait *w = &th->waits[k];

			assert_true(at <= w->out_ns);
			assert_true(w->out_ns <= w->wake_ns);
			assert_true(w->wake_ns <= w->in_ns);
			assert_true(w->out_ns < w->in_ns);
			running += w->out_ns - at;
			at = w->in_ns;
		}
		assert_true(at <= th->end_ns);
		running += th->end_ns - at;
		assert_int_equal(s.running_ns, running);
		assert_int_equal(s.lifetime_ns, th->end_ns - th->begin_ns);
		assert_int_equal(s.running_ns + s.blocked_ns + s.runnable_ns + s.preempted_ns +
					 s.unknown_ns,
				 s.lifetime_ns);
	}
}

static void lines_are_conserved(const struct timelines *tl, enum options_mode mode, bool fold)
{
	struct options o = options_of(OPTIONS_DEPTH_DEFAULT, mode);
	uint64_t in_lines = 0, in_threads = 0;
	const struct chain_summary *sum;
	const struct chain_rows *rows;
	struct fold *f;

	o.fold_repeats = fold;
	fold_new(&f, tl, &o, FOLD_BY_NAME);
	rows = fold_rows(f);
	sum = fold_summary(f);
	for (size_t i = 0; i < rows->n; i++)
		in_lines += rows->at[i].ns;
	for (uint32_t i = 0; i < timelines_threads(tl); i++) {
		struct thread_sums s = thread_sums(timelines_thread(tl, i), 0, UINT64_MAX);

		in_threads += s.blocked_ns + s.runnable_ns + s.preempted_ns;
	}
	assert_int_equal(in_lines, in_threads);
	assert_int_equal(in_lines, sum->blocked_ns + sum->runnable_ns + sum->preempted_ns);
	fold_free(f);
}

/* With samples all lines together are all lifetimes; the recorder itself is not recorded. */
static void lives_are_conserved(const struct timelines *tl, enum fold_by by)
{
	struct options o = options_of(OPTIONS_DEPTH_DEFAULT, MODE_EXACT);
	uint64_t in_lines = 0, in_lives = 0;
	const struct chain_rows *rows;
	struct fold *f;

	if (!timelines_sampled(tl))
		return;
	o.parts = PART_ALL;
	fold_new(&f, tl, &o, by);
	rows = fold_rows(f);
	for (size_t i = 0; i < rows->n; i++)
		in_lines += rows->at[i].ns;
	for (uint32_t i = 0; i < timelines_threads(tl); i++) {
		const struct thread *th = timelines_thread(tl, i);

		if (!(th->flags & THREAD_RECORDER))
			in_lives += th->end_ns - th->begin_ns;
	}
	assert_int_equal(in_lines, in_lives);
	fold_free(f);
}

static void check_conservation(const struct trace *t, const char *name, void *arg)
{
	struct timelines *tl;

	(void)name;
	(void)arg;
	assert_int_equal(timelines_new(&tl, t), 0);
	sleep_ends_settle(tl);
	threads_are_conserved(tl);
	for (unsigned int depth = 0; depth < 8; depth++) {
		waits_are_conserved(tl, MODE_EXACT, depth);
		waits_are_conserved(tl, MODE_CLASSIC, depth);
	}
	lines_are_conserved(tl, MODE_EXACT, false);
	lines_are_conserved(tl, MODE_EXACT, true);
	lines_are_conserved(tl, MODE_CLASSIC, false);
	lines_are_conserved(tl, MODE_CLASSIC, true);
	lives_are_conserved(tl, FOLD_BY_NAME);
	lives_are_conserved(tl, FOLD_BY_LINE);
	timelines_free(tl);
}

static void time_is_conserved(void **state)
{
	(void)state;
	on_schedules(SCHEDULE_WHOLE, check_conservation);
	on_schedules(SCHEDULE_LOSSY, check_conservation);
	on_schedules(SCHEDULE_DAMAGED, check_conservation);
	on_schedules_with_tries(SCHEDULE_WHOLE, check_conservation);
	on_schedules_with_tries(SCHEDULE_LOSSY, check_conservation);
	on_schedules_with_tries(SCHEDULE_DAMAGED, check_conservation);
}

static void time_is_conserved_in_recorded_traces(void **state)
{
	(void)state;
	on_recorded(check_conservation, NULL);
}

/* ---- 2: depth refines ----------------------------------------------------------------------- */

/* A line without what comes after its n-th link, to be freed. */
static char *merged_line(const char *line, size_t len, unsigned int links)
{
	const char *at = line, *end = line + len;
	char *merged;

	for (unsigned int n = 0; n <= links; n++) {
		at = memmem(at, (size_t)(end - at), ";--;", 4);
		if (!at)
			return strndup(line, len);
		if (n == links)
			break;
		at += 3;
	}
	if (asprintf(&merged, "%.*s;[depth limit]", (int)(at - line), line) < 0)
		abort();
	return merged;
}

static unsigned int links_kept;

static char *cut_line(const char *line, size_t len)
{
	return merged_line(line, len, links_kept);
}

/* All beyond the n-th link merged. */
static char *merged(const char *text, unsigned int links)
{
	links_kept = links;
	return folded_as(text, cut_line);
}

/* way: of the four in which chains are made and shown. */
static void check_depth_one_way(const struct trace *t, unsigned int way)
{
	struct options o = options_of(8, way & 1 ? MODE_CLASSIC : MODE_EXACT);
	char *deeper;

	o.fold_repeats = way & 2;
	deeper = trace_folded(t, &o);
	while (o.depth--) {
		char *less = trace_folded(t, &o);

		expect_text(merged(deeper, o.depth), less);
		free(deeper);
		deeper = less;
		if (!o.depth)
			break;
	}
	free(deeper);
}

/* Each schedule in one way, which are by turns. */
static void check_depth(const struct trace *t, const char *name, void *arg)
{
	static unsigned int turn;

	(void)name;
	(void)arg;
	check_depth_one_way(t, turn++ % 4);
}

static void check_depth_in_all_ways(const struct trace *t, const char *name, void *arg)
{
	(void)name;
	(void)arg;
	for (unsigned int way = 0; way < 4; way++)
		check_depth_one_way(t, way);
}

static void depth_refines(void **state)
{
	(void)state;
	on_schedules(SCHEDULE_WHOLE, check_depth);
	on_schedules(SCHEDULE_LOSSY, check_depth);
	on_schedules(SCHEDULE_DAMAGED, check_depth);
	on_schedules_with_tries(SCHEDULE_WHOLE, check_depth);
	on_schedules_with_tries(SCHEDULE_LOSSY, check_depth);
	on_schedules_with_tries(SCHEDULE_DAMAGED, check_depth);
}

static void depth_refines_in_recorded_traces(void **state)
{
	(void)state;
	on_recorded(check_depth_in_all_ways, NULL);
}

/* ---- 3: order ------------------------------------------------------------------------------- */

static void order_of_cpus_does_not_matter(void **state)
{
	(void)state;
	for (unsigned long n = 0; n < schedules_to_try(); n++) {
		unsigned long seed = schedules_first() + n;
		struct schedule *s = schedule_new(seed, (enum schedule_kind)(seed % 3));
		char *script = schedule_script(s);
		char *first = folded(script, 6, MODE_EXACT);

		for (unsigned int by = 1; by < s->cpus; by++) {
			char *rotated = schedule_rotated(s, by);

			expect_text(folded(rotated, 6, MODE_EXACT), first);
			free(rotated);
		}
		free(first);
		free(script);
		schedule_free(s);
	}
}

/* ---- 4: damage is visible ------------------------------------------------------------------- */

static uint64_t weight_of(const char *text, const char *line, size_t len)
{
	for (const char *at = text; *at; at = strchr(at, '\n') + 1)
		if (!strncmp(at, line, len) && at[len] == ' ' &&
		    !memchr(at + len + 1, ';', (size_t)(strchr(at, '\n') - at) - len - 1))
			return strtoull(at + len + 1, NULL, 10);
	return 0;
}

/* The same with another name in place of [idle CPU], which line ends with. */
static uint64_t weight_instead(const char *text, const char *line, size_t len, const char *name)
{
	static const char idle[] = "[idle CPU]";
	uint64_t weight;
	char *other;

	if (asprintf(&other, "%.*s%s", (int)(len - strlen(idle)), line, name) < 0)
		abort();
	weight = weight_of(text, other, strlen(other));
	free(other);
	return weight;
}

static bool ends_with(const char *line, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len >= n && !memcmp(line + len - n, end, n);
}

/* What the line would have if a quota, whosever, was used up. */
static uint64_t throttled_instead(const char *text, const char *line, size_t len)
{
	static const char *const ends[] = { "[throttled]", "[throttled b.service]",
					    "[throttled c.scope]", "[throttled SCHED_DEADLINE]",
					    "[throttled realtime]" };
	uint64_t ns = 0;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		ns += weight_instead(text, line, len, ends[i]);
	return ns;
}

/* Whether the line is of a sleep that did not end, of a thread that no event of the script names.
 */
static bool is_of_silence(const char *script, const char *line, size_t len)
{
	size_t n = strcspn(line, ";"), of;
	bool is_listed = false;

	if (!ends_with(line, len, ";[not woken]"))
		return false;
	for (const char *at = script; *at; at += of + strspn(at + of, " \n")) {
		of = strcspn(at, " \n");
		/* Before a '>' stands a state, which is a letter, too. */
		if (!is_listed && of == n && !memcmp(at, line, n) && strncmp(at + of, " >", 2) != 0)
			return false;
		is_listed = !strncmp(at, "thread ", 7) || !strncmp(at, "held-by ", 8);
	}
	return true;
}

/*
 * Who had the CPU is not known where there is nobody above [runnable] and [preempted]. A thread
 * that is never heard of slept on, if little time lacks events. What else a loss touches turns to
 * [unknown]; so nothing that has a name and a known end may have more time than without the loss. A
 * wait that is first heard of when it ends has no stack.
 */
static void a_loss_gives_no_time_to_named_causes(void **state)
{
	(void)state;
	for (unsigned long n = 0; n < 3 * schedules_to_try(); n++) {
		unsigned long seed = schedules_first() + n;
		struct schedule *s = schedule_new(seed, SCHEDULE_LOSSY_EXACTLY);
		char *script[2], *text[2];

		if (seed % 2)
			schedule_file_tries(s);
		script[0] = schedule_whole_script(s);
		script[1] = schedule_script(s);

		for (int i = 0; i < 2; i++)
			text[i] = folded(script[i], 6, MODE_EXACT);
		for (const char *line = text[1]; *line; line = strchr(line, '\n') + 1) {
			const char *space = memrchr(line, ' ', (size_t)(strchr(line, '\n') - line));
			size_t len = (size_t)(space - line);
			uint64_t ns = strtoull(space + 1, NULL, 10), other = 0;

			if (memmem(line, len, "[unknown]", 9) ||
			    memmem(line, len, "[unknown stack];[runnable]", 26) ||
			    ends_with(line, len, ";[runnable]") ||
			    ends_with(line, len, ";[preempted]") ||
			    is_of_silence(script[1], line, len))
				continue;
			/* That a quota was used up may be what was lost. */
			if (ends_with(line, len, ";[idle CPU]"))
				other = throttled_instead(text[0], line, len);
			ns -= ns < other ? ns : other;
			if (ns > weight_of(text[0], line, len)) {
				fprintf(stderr,
					"seed %lu: more time for %.*s\n"
					"---- whole\n%s---- lossy\n%s---- from\n%s---- "
					"to\n%s----\n",
					seed, (int)len, line, script[0], script[1], text[0],
					text[1]);
				fail();
			}
		}
		for (int i = 0; i < 2; i++) {
			free(text[i]);
			free(script[i]);
		}
		schedule_free(s);
	}
}

/* Some of what says that it was not sent is missing: left out, or lost. */
static void lose_not_sent(struct schedule *s, bool told)
{
	for (size_t i = 0; i < s->n; i++) {
		int end = 0;
		char *lost;

		sscanf(s->lines[i], "%*s c%*u%n", &end);
		if (!strstr(s->lines[i], " not-sent") || schedule_random(s, 2))
			continue;
		if (asprintf(&lost, "%s%.*s lost-not-sent %.*s", told ? "" : "!", end, s->lines[i],
			     (int)strcspn(s->lines[i], " "), s->lines[i]) < 0)
			abort();
		free(s->lines[i]);
		s->lines[i] = lost;
	}
}

/* The exception: what is lost of a waking only is as if it had never been recorded. */
static void a_lost_not_sent_is_as_in_older_traces(void **state)
{
	unsigned long differ = 0;

	(void)state;
	for (unsigned long n = 0; n < schedules_to_try(); n++) {
		char *text[3];

		for (int i = 0; i < 3; i++) {
			struct schedule *s = schedule_new(schedules_first() + n, SCHEDULE_WHOLE);
			char *script;

			if (i)
				lose_not_sent(s, i == 1);
			script = schedule_script(s);
			text[i] = folded(script, 6, MODE_EXACT);
			free(script);
			schedule_free(s);
		}
		differ += strcmp(text[0], text[1]) != 0;
		expect_text(text[1], text[2]);
		free(text[0]);
		free(text[2]);
	}
	/* Else nothing has been tried. */
	assert_true(differ > 0 || schedules_to_try() < 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_is_conserved),
		cmocka_unit_test(time_is_conserved_in_recorded_traces),
		cmocka_unit_test(depth_refines),
		cmocka_unit_test(depth_refines_in_recorded_traces),
		cmocka_unit_test(order_of_cpus_does_not_matter),
		cmocka_unit_test(a_loss_gives_no_time_to_named_causes),
		cmocka_unit_test(a_lost_not_sent_is_as_in_older_traces),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
