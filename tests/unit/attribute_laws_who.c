// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The laws of chain-semantics for who had the CPU (section 9), on random schedules and on recorded
 * traces, as in attribute_laws.c.
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
#include "attribute/cpu_holders.h"
#include "attribute/sleep_ends.h"
#include "synth_folded.h"
#include "synth_many.h"

static struct options options_of(enum options_mode mode)
{
	struct options o;

	options_init(&o);
	o.mode = mode;
	o.parts = PART_BLOCKED | PART_RUNNABLE | PART_PREEMPTED;
	o.unit = UNIT_NS;
	return o;
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

/* Who had the CPU only divides what was there before. */
static void check_who(const struct trace *t, const char *name, void *arg)
{
	(void)name;
	(void)arg;
	for (int mode = MODE_EXACT; mode <= MODE_CLASSIC; mode++) {
		struct options o = options_of((enum options_mode)mode);
		char *plain = trace_folded(t, &o), *divided;

		o.who_ran = true;
		divided = trace_folded(t, &o);
		expect_text(folded_as(divided, without_who), plain);
		free(divided);
		free(plain);
	}
}

static void add_who(void *arg, uint32_t node, struct amount_key key, uint64_t amount)
{
	(void)node;
	if (key.kind == AMOUNT_CPU_HOLDER)
		cpu_holders_add(arg, key.value, amount);
}

static uint32_t key_of(void *sums, uint32_t node, enum chain_end end)
{
	(void)sums;
	assert_true(node && (end == CHAIN_RUNNABLE || end == CHAIN_PREEMPTED));
	return 5;
}

/* A cpu_holders_sums_fn. */
static void add_summed(void *sums, uint32_t key, uint32_t who, uint64_t ns)
{
	assert_int_equal(key, 5);
	cpu_holders_add(sums, who, ns);
}

/*
 * "NAME NS" for each who had the CPU in all waits, as explained one by one. To be freed. summed:
 * what is the same in many is added up first.
 */
static char *who_one_by_one(const struct timelines *tl, const struct options *o, bool summed)
{
	struct cpu_holders_sums *later;
	struct sums sums = { .n = 0 };
	struct names *names;
	const struct sum *of;
	struct cpu_holders *ran;
	struct chains c;
	char *text;
	size_t len, n;
	FILE *f = open_memstream(&text, &len);

	names_new(&names, tl, o);
	cpu_holders_new(&ran, tl, false);
	chains_init(&c, tl, o,
		    &(struct chain_user) { .sink = { .arg = &sums, .add = add_who },
					   .wants = 1u << AMOUNT_CPU_HOLDER,
					   .cpu_holders = ran });
	if (summed)
		attribution_sum_up(&c.attribution, key_of, add_summed);
	cpu_holders_sums_new(&later, ran, add_summed, &sums);
	for (uint32_t i = 0; i < timelines_threads(tl); i++) {
		const struct thread *th = timelines_thread(tl, i);

		for (uint32_t k = 0; k < th->n_waits; k++) {
			const struct wait *w = &th->waits[k];

			if (w->kind == WAIT_UNKNOWN)
				continue;
			if (w->kind == WAIT_SLEEP)
				chains_explain(&c, chains_head(&c, 1), i, w, w->out_ns, w->wake_ns);
			if (summed)
				cpu_holders_sums_add(later,
						     &(struct ready_time) { 5, i, w, w->wake_ns,
									    w->in_ns, 1 },
						     cpu_holders_add, &sums);
			else
				cpu_holders_share(ran, i, w, w->wake_ns, w->in_ns, cpu_holders_add,
						  &sums);
		}
	}
	attribution_end(&c.attribution);
	cpu_holders_sums_end(later);
	cpu_holders_sums_free(later);
	sums_sort(&sums, names, cpu_holder_name);
	of = sums_of(&sums, 0, &n);
	for (size_t i = 0; i < n; i++)
		if (of[i].text)
			fprintf(f, "%s %llu\n", names_text(names, of[i].text),
				(unsigned long long)of[i].amount);
	fclose(f);
	chains_free(&c);
	cpu_holders_free(ran);
	sums_free(&sums);
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
	struct options o = options_of(MODE_EXACT);
	char *folded, *expected;
	struct timelines *tl;

	(void)name;
	(void)arg;
	o.who_ran = true;
	o.not_woken = true;
	folded = trace_folded(t, &o);
	assert_int_equal(timelines_new_with_cpus(&tl, t), 0);
	sleep_ends_settle(tl);
	expected = in_order(who_one_by_one(tl, &o, false));
	expect_text(in_order(who_one_by_one(tl, &o, true)), expected);
	expect_text(in_order(folded_as(folded, who_alone)), expected);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_had_the_cpu_divides_the_time),
		cmocka_unit_test(who_had_the_cpu_agrees_one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
