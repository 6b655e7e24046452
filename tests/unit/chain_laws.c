// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The laws of chain-semantics, section 7, on random schedules and on recorded traces (those of
 * TRACES, a glob pattern, or else of tests/data). LAWS_TRACES=N tries N schedules.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/chain.h"
#include "chain/fold.h"
#include "chain/who_sums.h"
#include "synth_many.h"

#define USUAL_TRACES 1000

static unsigned long traces(void)
{
	const char *wanted = getenv("LAWS_TRACES");

	return wanted ? strtoul(wanted, NULL, 10) : USUAL_TRACES;
}

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

static void on_schedules(enum schedule_kind kind, trace_checker check)
{
	for (unsigned long seed = 1; seed <= traces(); seed++)
		on_schedule(seed, kind, check, NULL);
}

/* ---- 1: conservation ------------------------------------------------------------------------ */

static void add_up(void *arg, uint32_t node, enum chain_end end, uint64_t ns)
{
	(void)node;
	(void)end;
	*(uint64_t *)arg += ns;
}

static void waits_are_conserved(const struct timelines *tl, enum options_mode mode,
				unsigned int depth)
{
	struct options o = options_of(depth, mode);
	uint64_t sum;
	struct chains c;

	assert_int_equal(
		chains_init(&c, tl, &o, (struct chain_user) { .arg = &sum, .add = add_up }), 0);
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
	assert_int_equal(fold_new(&f, tl, &o, FOLD_BY_NAME), 0);
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
	assert_int_equal(fold_new(&f, tl, &o, by), 0);
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
	lives_are_conserved(tl, FOLD_BY_PROCESS);
	timelines_free(tl);
}

/* A line without who had the CPU, to be freed. */
static char *without_who(const char *line, size_t len)
{
	static const char *const ends[] = { ";[runnable];", ";[preempted];" };

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		const char *end = memmem(line, len, ends[i], strlen(ends[i]));

		if (end)
			return strndup(line, (size_t)(end - line) + strlen(ends[i]) - 1);
	}
	return strndup(line, len);
}

static char *summed_up(const char *text, char *(*of_line)(const char *line, size_t len));

/* Who had the CPU only divides what was there before. */
static void check_who(const struct trace *t, const char *name, void *arg)
{
	(void)name;
	(void)arg;
	for (int mode = MODE_EXACT; mode <= MODE_CLASSIC; mode++) {
		struct options o = options_of(OPTIONS_DEPTH_DEFAULT, (enum options_mode)mode);
		char *plain = trace_folded(t, &o), *divided;

		o.who_ran = true;
		divided = trace_folded(t, &o);
		expect_text(summed_up(divided, without_who), plain);
		free(divided);
		free(plain);
	}
}

static void add_who(void *arg, uint32_t node, uint32_t who, uint64_t ns)
{
	(void)node;
	who_sums_add(arg, who, ns);
}

static void add_nothing(void *arg, uint32_t node, enum chain_end end, uint64_t ns)
{
	(void)arg;
	(void)node;
	(void)end;
	(void)ns;
}

/* "NAME NS" for each who had the CPU in all waits, as explained one by one. To be freed. */
static char *who_one_by_one(const struct timelines *tl, const struct options *o)
{
	struct who_sums sums = { .n = 0 };
	struct names *names = names_new(tl, o);
	struct who_ran *ran;
	struct chains c;
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(names);
	assert_int_equal(who_ran_new(&ran, tl), 0);
	assert_int_equal(chains_init(&c, tl, o,
				     (struct chain_user) { .arg = &sums, .add = add_nothing }),
			 0);
	chains_ask_who(&c, ran, add_who, &sums);
	for (uint32_t i = 0; i < timelines_threads(tl); i++) {
		const struct thread *th = timelines_thread(tl, i);

		for (uint32_t k = 0; k < th->n_waits; k++) {
			const struct wait *w = &th->waits[k];

			if (w->kind == WAIT_UNKNOWN)
				continue;
			if (w->kind == WAIT_SLEEP)
				chains_explain(&c, chains_head(&c, 1), i, w, w->out_ns, w->wake_ns);
			who_ran_share(ran, i, w, w->wake_ns, w->in_ns, who_sums_add, &sums);
		}
	}
	who_sums_sort(&sums, names);
	for (size_t i = 0; i < sums.n; i++)
		if (sums.sorted[i].who != WHO_UNKNOWN)
			fprintf(f, "%s %llu\n", who_sums_text(names, sums.sorted[i].who),
				(unsigned long long)sums.sorted[i].ns);
	fclose(f);
	chains_free(&c);
	who_ran_free(ran);
	who_sums_free(&sums);
	names_free(names);
	return text;
}

/* What is above [runnable] and [preempted], to be freed. */
static char *who_alone(const char *line, size_t len)
{
	char *rest = without_who(line, len);
	size_t n = strlen(rest);

	free(rest);
	return n < len ? strndup(line + n + 1, len - n - 1) : strdup("");
}

static int by_line(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines of text in order, without those that begin with a space. Frees it. */
static char *in_order(char *text)
{
	char *lines[10000], *out, *rest = text, *line;
	size_t n = 0, len;
	FILE *f = open_memstream(&out, &len);

	while ((line = strsep(&rest, "\n")))
		if (*line && *line != ' ' && n < sizeof(lines) / sizeof(*lines))
			lines[n++] = line;
	if (n)
		qsort(lines, n, sizeof(*lines), by_line);
	for (size_t i = 0; i < n; i++)
		fprintf(f, "%s\n", lines[i]);
	fclose(f);
	free(text);
	return out;
}

/* All waits at once, on all CPUs, give what each by itself gives. */
static void check_who_agrees(const struct trace *t, const char *name, void *arg)
{
	struct options o = options_of(OPTIONS_DEPTH_DEFAULT, MODE_EXACT);
	char *folded, *expected;
	struct timelines *tl;

	(void)name;
	(void)arg;
	o.who_ran = true;
	o.not_woken = true;
	folded = trace_folded(t, &o);
	assert_int_equal(timelines_new_with_cpus(&tl, t), 0);
	expected = in_order(who_one_by_one(tl, &o));
	expect_text(in_order(summed_up(folded, who_alone)), expected);
	free(expected);
	free(folded);
	timelines_free(tl);
}

static void who_had_the_cpu_agrees_one_by_one(void **state)
{
	(void)state;
	on_schedules(SCHEDULE_WHOLE, check_who_agrees);
	on_schedules(SCHEDULE_LOSSY, check_who_agrees);
	for (unsigned long seed = 1; seed <= 30; seed++)
		on_schedule(seed, SCHEDULE_LONG, check_who_agrees, NULL);
	on_recorded(check_who_agrees, NULL);
}

static void who_had_the_cpu_divides_the_time(void **state)
{
	(void)state;
	on_schedules(SCHEDULE_WHOLE, check_who);
	on_schedules(SCHEDULE_LOSSY, check_who);
	on_schedules(SCHEDULE_DAMAGED, check_who);
	on_recorded(check_who, NULL);
}

static void time_is_conserved(void **state)
{
	(void)state;
	on_schedules(SCHEDULE_WHOLE, check_conservation);
	on_schedules(SCHEDULE_LOSSY, check_conservation);
	on_schedules(SCHEDULE_DAMAGED, check_conservation);
}

static void time_is_conserved_in_recorded_traces(void **state)
{
	(void)state;
	on_recorded(check_conservation, NULL);
}

/* ---- 2: depth refines ----------------------------------------------------------------------- */

struct sums {
	char **lines;
	uint64_t *ns;
	size_t n;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

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

/* The folded text with other lines for each, as folded text again. To be freed. */
static char *summed_up(const char *text, char *(*of_line)(const char *line, size_t len))
{
	struct sums s = { 0 };
	char *out;
	size_t len;
	FILE *f = open_memstream(&out, &len);

	/* "LINE NS" becomes "LINE\0NS", so that sorting goes by line and keeps the weight. */
	for (const char *line = text, *next; *line; line = next) {
		const char *end = strchr(line, '\n'),
			   *space = memrchr(line, ' ', (size_t)(end - line));
		char *m = of_line(line, (size_t)(space - line));
		size_t n = strlen(m);

		next = end + 1;
		s.lines = realloc(s.lines, (s.n + 1) * sizeof(*s.lines));
		s.lines[s.n] = malloc(n + 32);
		memcpy(s.lines[s.n], m, n + 1);
		memcpy(s.lines[s.n] + n + 1, space + 1, (size_t)(next - space - 1));
		s.n++;
		free(m);
	}
	if (s.n)
		qsort(s.lines, s.n, sizeof(*s.lines), by_text);
	for (size_t i = 0, k; i < s.n; i = k) {
		unsigned long long ns = 0;

		for (k = i; k < s.n && !strcmp(s.lines[i], s.lines[k]); k++)
			ns += strtoull(s.lines[k] + strlen(s.lines[k]) + 1, NULL, 10);
		fprintf(f, "%s %llu\n", s.lines[i], ns);
	}
	for (size_t i = 0; i < s.n; i++)
		free(s.lines[i]);
	free(s.lines);
	fclose(f);
	return out;
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
	return summed_up(text, cut_line);
}

static void check_depth(const struct trace *t, const char *name, void *arg)
{
	(void)name;
	(void)arg;
	for (int way = 0; way < 4; way++) {
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
}

static void depth_refines(void **state)
{
	(void)state;
	on_schedules(SCHEDULE_WHOLE, check_depth);
	on_schedules(SCHEDULE_LOSSY, check_depth);
	on_schedules(SCHEDULE_DAMAGED, check_depth);
}

static void depth_refines_in_recorded_traces(void **state)
{
	(void)state;
	on_recorded(check_depth, NULL);
}

/* ---- 3: order ------------------------------------------------------------------------------- */

static void order_of_cpus_does_not_matter(void **state)
{
	(void)state;
	for (unsigned long seed = 1; seed <= traces(); seed++) {
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

/* The same with [throttled] in place of [idle CPU], which line ends with. */
static uint64_t weight_throttled(const char *text, const char *line, size_t len)
{
	static const char idle[] = "[idle CPU]";
	uint64_t weight;
	char *other;

	if (asprintf(&other, "%.*s[throttled]", (int)(len - strlen(idle)), line) < 0)
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

/*
 * Who had the CPU is not known where there is nobody above [runnable] and [preempted].
 * What a loss touches turns to [unknown]; so nothing that has a name and a known end may have
 * more time than without the loss. A wait that is first heard of when it ends has no stack.
 */
static void a_loss_gives_no_time_to_named_causes(void **state)
{
	(void)state;
	for (unsigned long seed = 1; seed <= 3 * traces(); seed++) {
		struct schedule *s = schedule_new(seed, SCHEDULE_LOSSY_EXACTLY);
		char *script[2] = { schedule_whole_script(s), schedule_script(s) };
		char *text[2];

		for (int i = 0; i < 2; i++)
			text[i] = folded(script[i], 6, MODE_EXACT);
		for (const char *line = text[1]; *line; line = strchr(line, '\n') + 1) {
			const char *space = memrchr(line, ' ', (size_t)(strchr(line, '\n') - line));
			size_t len = (size_t)(space - line);
			uint64_t ns = strtoull(space + 1, NULL, 10);

			if (memmem(line, len, "[unknown]", 9) ||
			    memmem(line, len, "[unknown stack];[runnable]", 26) ||
			    ends_with(line, len, ";[runnable]") ||
			    ends_with(line, len, ";[preempted]"))
				continue;
			/* That a quota was used up may be what was lost. */
			if (ends_with(line, len, ";[idle CPU]") && ns)
				ns -= ns < weight_throttled(text[0], line, len)
					      ? ns
					      : weight_throttled(text[0], line, len);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_is_conserved),
		cmocka_unit_test(time_is_conserved_in_recorded_traces),
		cmocka_unit_test(who_had_the_cpu_divides_the_time),
		cmocka_unit_test(who_had_the_cpu_agrees_one_by_one),
		cmocka_unit_test(depth_refines),
		cmocka_unit_test(depth_refines_in_recorded_traces),
		cmocka_unit_test(order_of_cpus_does_not_matter),
		cmocka_unit_test(a_loss_gives_no_time_to_named_causes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
