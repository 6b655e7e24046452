// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Running totals over wakers' timelines: the same chains to the nanosecond as from walking every
 * off-CPU interval, and a cost that grows with the trace and not with its square (law 5).
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
#include "synth_schedule.h"
#include "synth_script.h"

#define SCHEDULES 150

/* What a wait's time goes to, as lines of text. */
struct explained {
	struct options options;
	struct chains chains;
	struct pairs labels; /* (waker, its stack): the same in every struct */
	char *text;
	uint64_t ns, samples; /* of them all */
};

static uint32_t label(void *arg, const struct link *l)
{
	struct explained *e = arg;

	return pairs_id(&e->labels, l->waker, l->stack);
}

static void add_line(struct explained *e, uint32_t node, const char *what, uint64_t n)
{
	char *longer, path[1024] = "";

	if (!e->text)
		return;
	for (; node; node = e->chains.nodes.at[node].a) {
		struct pair who = e->chains.nodes.at[node].a
					  ? e->labels.at[e->chains.nodes.at[node].b]
					  : (struct pair) { 0, 0 };

		snprintf(path + strlen(path), sizeof(path) - strlen(path), "%u@%u ", who.a, who.b);
	}
	if (asprintf(&longer, "%s%s%s %llu\n", e->text, path, what, (unsigned long long)n) < 0)
		abort();
	free(e->text);
	e->text = longer;
}

static void add(void *arg, uint32_t node, struct amount_key key, uint64_t amount)
{
	struct explained *e = arg;
	char what[48];

	if (key.kind == AMOUNT_SAMPLES) {
		e->samples += amount;
		snprintf(what, sizeof(what), "samples of %u", key.value);
	} else {
		e->ns += amount;
		snprintf(what, sizeof(what), "%s %u %u", chain_end_name((enum chain_end)key.end),
			 key.value, key.stage);
	}
	add_line(e, node, what, amount);
}

/* Links with the same stack are of one name here, whatever the thread. */
static uint32_t identity(const void *arg, uint32_t label)
{
	const struct explained *e = arg;

	return e->labels.at[label].b;
}

static void begin(struct explained *e, const struct timelines *tl, unsigned int depth, bool repeats)
{
	*e = (struct explained) { .ns = 0 };
	options_init(&e->options);
	e->options.depth = depth;
	chains_init(&e->chains, tl, &e->options,
		    &(struct chain_user) { .sink = { .arg = e, .add = add },
					   .label = label,
					   .identity = repeats ? identity : NULL,
					   .wants = 1u << AMOUNT_SAMPLES });
}

static void finish(struct explained *e)
{
	chains_free(&e->chains);
	pairs_free(&e->labels);
	free(e->text);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines sorted, and those that differ only in their weight summed up. To be freed. */
static char *summed_up(const char *text)
{
	char *copy = strdup(text), *rest = copy, *line, *out, **lines = NULL;
	size_t n = 0, len;
	FILE *f = open_memstream(&out, &len);

	while ((line = strsep(&rest, "\n")))
		if (*line) {
			lines = realloc(lines, (n + 1) * sizeof(*lines));
			lines[n++] = line;
			*strrchr(line, ' ') = '\0';
		}
	if (n)
		qsort(lines, n, sizeof(*lines), by_text);
	for (size_t i = 0, k; i < n; i = k) {
		unsigned long long ns = 0;

		for (k = i; k < n && !strcmp(lines[i], lines[k]); k++)
			ns += strtoull(lines[k] + strlen(lines[k]) + 1, NULL, 10);
		fprintf(f, "%s %llu\n", lines[i], ns);
	}
	fclose(f);
	free(lines);
	free(copy);
	return out;
}

struct use {
	uint64_t totals, samples; /* windows with totals; samples in chains */
};

/* All waits, whole and in parts, explained both ways. Adds how much there was to compare. */
static void compare(struct schedule *s, const struct timelines *tl, unsigned int depth,
		    bool repeats, struct use *use)
{
	struct explained walked, totals;

	begin(&walked, tl, depth, repeats);
	walked.chains.long_window = UINT32_MAX;
	begin(&totals, tl, depth, repeats);
	totals.chains.long_window = 1 + (uint32_t)schedule_random(s, 4);
	totals.chains.intervals_per_chain = 0;
	totals.chains.intervals_per_block = 1 + (uint32_t)schedule_random(s, 3);
	for (uint32_t i = 0; i < timelines_threads(tl); i++) {
		const struct thread *th = timelines_thread(tl, i);

		for (uint32_t k = 0; k < th->n_waits; k++) {
			const struct wait *w = &th->waits[k];
			uint64_t len = w->wake_ns - w->out_ns, from = w->out_ns, to = w->wake_ns;
			struct explained *both[] = { &walked, &totals };
			char *text[2];

			if (w->kind != WAIT_SLEEP || !len)
				continue;
			if (schedule_random(s, 3) == 0) {
				from += schedule_random(s, len);
				to -= schedule_random(s, to - from);
			}
			for (int b = 0; b < 2; b++) {
				both[b]->text = strdup("");
				chains_explain(&both[b]->chains, chains_head(&both[b]->chains, 1),
					       i, w, from, to);
				text[b] = summed_up(both[b]->text);
				free(both[b]->text);
				both[b]->text = NULL;
			}
			expect_text(text[1], text[0]);
			free(text[0]);
		}
	}
	use->totals += totals.chains.summed;
	use->samples += totals.samples;
	finish(&walked);
	finish(&totals);
}

static void totals_give_what_walking_gives(void **state)
{
	struct use use = { 0 };

	(void)state;
	for (uint64_t seed = 1; seed <= SCHEDULES; seed++) {
		struct schedule *s = schedule_new(seed, SCHEDULE_LONG);
		struct timelines *tl;
		struct synth *m;
		struct trace *t;
		char *script;

		schedule_sample(s);
		script = schedule_script(s);
		m = script_made(script);
		t = synth_open(m);
		assert_int_equal(timelines_new(&tl, t), 0);
		compare(s, tl, (unsigned int)schedule_random(s, 8), seed % 2, &use);
		timelines_free(tl);
		trace_close(t);
		synth_free(m);
		free(script);
		schedule_free(s);
	}
	assert_true(use.totals > 3 * SCHEDULES);
	assert_true(use.samples > 10 * SCHEDULES);
}

/* ---- law 5 ---------------------------------------------------------------------------------- */

/*
 * A busy pair: 11 works, and in each round waits for 12, which waits for the disk. And idle
 * threads, tids from 100, all asleep from the start until 11 wakes them at the end.
 */
static struct synth *busy_and_idle(unsigned int rounds, unsigned int idle)
{
	struct synth *m = synth_new();
	uint64_t ns = 1000;

	synth_thread(m, 11, "busy");
	synth_thread(m, 12, "helper");
	for (uint32_t i = 0; i < idle; i++)
		synth_thread(m, 100 + i, "idle");
	synth_switch(m, 0, ns, 0, 'R', 11, "");
	for (unsigned int r = 0; r < rounds; r++) {
		synth_waking(m, 0, ns += 10, 11, 12, "wake;ask");
		synth_switch(m, 0, ns += 10, 11, 'S', 0, "schedule;answer");
		synth_switch(m, 1, ns += 10, 0, 'R', 12, "");
		synth_switch(m, 1, ns += 10, 12, 'D', 0, "schedule;io");
		synth_waking(m, 1, ns += 100, 0, 12, "wake;bio_done;asm_common_interrupt;do_idle");
		synth_switch(m, 1, ns += 10, 0, 'R', 12, "");
		synth_waking(m, 1, ns += 50, 12, 11, "wake;tell");
		synth_switch(m, 1, ns += 10, 12, 'S', 0, "schedule;ask");
		synth_switch(m, 0, ns += 10, 0, 'R', 11, "");
	}
	for (uint32_t i = 0; i < idle; i++)
		synth_waking(m, 0, ns += 10, 11, 100 + i, "wake;work");
	synth_end(m, ns + 10);
	return m;
}

/* What it costs to read it and to explain all its waits. */
static uint64_t steps(unsigned int rounds, unsigned int idle, bool repeats)
{
	struct synth *m = busy_and_idle(rounds, idle);
	struct trace *t = synth_open(m);
	struct timelines *tl;
	struct explained e;
	uint64_t n;

	assert_int_equal(timelines_new(&tl, t), 0);
	begin(&e, tl, 6, repeats);
	for (uint32_t i = 0; i < timelines_threads(tl); i++) {
		const struct thread *th = timelines_thread(tl, i);

		for (uint32_t k = 0; k < th->n_waits; k++) {
			const struct wait *w = &th->waits[k];

			e.ns = 0;
			chains_explain(&e.chains, chains_head(&e.chains, 1), i, w, w->out_ns,
				       w->wake_ns);
			assert_int_equal(e.ns, w->wake_ns - w->out_ns);
		}
	}
	n = e.chains.steps + trace_info(t)->events;
	finish(&e);
	timelines_free(tl);
	trace_close(t);
	synth_free(m);
	return n;
}

static void cost_is_linear_in_events(void **state)
{
	(void)state;
	for (int repeats = 0; repeats < 2; repeats++) {
		uint64_t small = steps(2000, 0, repeats), large = steps(20000, 0, repeats);

		assert_in_range(large, 8 * small, 12 * small);
	}
}

static void idle_threads_at_most_double_it(void **state)
{
	(void)state;
	for (unsigned int rounds = 20000; rounds <= 80000; rounds *= 2)
		for (int repeats = 0; repeats < 2; repeats++) {
			uint64_t without = steps(rounds, 0, repeats);
			uint64_t with = steps(rounds, 1000, repeats);

			if (with > 2 * without)
				fail_msg("%u rounds: %llu steps, with idle threads %llu", rounds,
					 (unsigned long long)without, (unsigned long long)with);
		}
}

/* ---- folded lines --------------------------------------------------------------------------- */

#define PACKET "ready;net_rx_action;asm_common_interrupt;mwait;do_idle"

/*
 * C and F wait for S, which sleeps in its loop while D, for whose answer it waits, naps; as another
 * request ends that sleep, chain_batch.c follows them one by one. Times are 10 us a nap. To be
 * freed.
 */
static char *naps_before_an_answer(unsigned int naps)
{
	unsigned int at = 10;
	char *script;
	size_t len;
	FILE *f = open_memstream(&script, &len);

	fputs("0 c0 - R > S\n0 c1 - R > D\n0 c2 - R > C\n0 c3 - R > F\n0 c4 - R > E\n"
	      "1 c2 C S > - recv\n1 c3 F S > - recv\n2 c0 S S > - poll for=epoll:S:4\n",
	      f);
	for (; naps; naps--, at += 10)
		fprintf(f, "%u c1 D S > - nap\n%u c4 E wakes D tick\n%u c1 - R > D\n", at, at + 6,
			at + 7);
	fprintf(f,
		"%u c5 - wakes S " PACKET "\n%u c0 - R > S\n%u c0 S S > - poll for=epoll:S:4\n"
		"%u c1 D wakes S reply\n%u c0 - R > S\n",
		at, at, at + 2, at + 10, at + 10);
	fprintf(f,
		"%u c0 S wakes C send\n%u c0 S wakes F send\n%u c2 - R > C\n%u c3 - R > F\n"
		"%u c0 S request tcp::80 arrived=1 taken=1 conn=1 stack=send\n"
		"%u c0 S request tcp::81 arrived=%u taken=%u conn=2\nend %u\n",
		at + 20, at + 20, at + 20, at + 20, at + 20, at + 25, at, at + 20, at + 30);
	fclose(f);
	return script;
}

static void folds(const char *script, uint32_t tids[2], bool fold_repeats, const char *expected)
{
	struct options o;

	options_init(&o);
	o.parts = PART_BLOCKED;
	o.tids = (struct id_list) { tids, 2 };
	o.fold_repeats = fold_repeats;
	expect_text(script_folded(script, &o), expected);
}

static void an_answer_is_explained(unsigned int naps)
{
	char *script = naps_before_an_answer(naps), *expected;
	size_t len;
	FILE *f = open_memstream(&expected, &len);

	for (const char *who = "CF"; *who; who++)
		fprintf(f,
			"%c;recv;--;send;S;--;reply;D;--;tick;E;[running] %u\n"
			"%c;recv;--;send;S;--;reply;D;[runnable] %u\n"
			"%c;recv;--;send;S;--;reply;D;[running] %u\n"
			"%c;recv;--;send;S;[running] 13\n",
			*who, 6 * naps, *who, naps, *who, 3 * naps + 16, *who);
	fclose(f);
	folds(script, (uint32_t[]) { 103, 106 }, false, expected);
	folds(script, (uint32_t[]) { 103, 106 }, true, expected);
	free(expected);
	free(script);
}

/* Of one folder, and of as many as there are CPUs, which have each a share of the waits' time. */
static void totals_are_in_folded_lines(void **state)
{
	(void)state;
	an_answer_is_explained(1000);
	an_answer_is_explained(100000);
}

/*
 * A and C wait for the death of B, whose process D ends; before that, B ran and woke D again and
 * again.
 */
static void a_thread_that_ran_before_its_process_ended_is_a_loop(void **state)
{
#define DIED "wait4;--;do_notify_parent;do_exit;get_signal;B;"
#define ENDED DIED "--;zap_other_threads;exit_group;D;"
#define OF(who)                                                                                 \
	who ";" ENDED "--;tick;B;[loop] 6000\n" who ";" ENDED "[runnable] 1000\n" who ";" ENDED \
	    "[running] 3020\n" who ";" DIED "[running] 10\n"
	static const char expected[] = OF("A") OF("C");
	char *script;
	size_t len;
	FILE *f = open_memstream(&script, &len);

	(void)state;
	fputs("0 c0 - R > D\n0 c1 - R > B\n0 c2 - R > A\n0 c3 - R > C\n"
	      "0 c2 A S > - wait4\n0 c3 C S > - wait4\n",
	      f);
	for (unsigned int at = 10; at < 10010; at += 10)
		fprintf(f, "%u c0 D S > - nap\n%u c1 B wakes D tick\n%u c0 - R > D\n", at, at + 6,
			at + 7);
	fputs("10010 c1 B S > - read\n"
	      "10020 c0 D wakes B zap_other_threads;exit_group\n"
	      "10020 c1 - R > B\n"
	      "10030 c1 B wakes A do_notify_parent;do_exit;get_signal\n"
	      "10030 c1 B wakes C do_notify_parent;do_exit;get_signal\n"
	      "10030 c1 B X > - do_exit;get_signal\n"
	      "10030 c2 - R > A\n10030 c3 - R > C\nend 10040\n",
	      f);
	fclose(f);
	folds(script, (uint32_t[]) { 101, 103 }, false, expected);
	folds(script, (uint32_t[]) { 101, 103 }, true, expected);
	free(script);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(totals_give_what_walking_gives),
		cmocka_unit_test(cost_is_linear_in_events),
		cmocka_unit_test(idle_threads_at_most_double_it),
		cmocka_unit_test(totals_are_in_folded_lines),
		cmocka_unit_test(a_thread_that_ran_before_its_process_ended_is_a_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
