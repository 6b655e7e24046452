// SPDX-License-Identifier: GPL-2.0-or-later
/* All waits explained at once are what each explained by itself sums up to. */
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/chain_batch.h"
#include "attribute/sleep_ends.h"
#include "synth.h"
#include "synth_schedule.h"
#include "synth_script.h"

#define SCHEDULES 400
/* More waits than chain_batch.c takes at a time. */
#define ROUNDS 40000u

/* What each chain adds up to. */
struct end_sums {
	struct chains chains;
	uint64_t *ns; /* by node * CHAIN_ENDS + end */
	size_t n;
};

static uint32_t label(void *arg, const struct link *l)
{
	(void)arg;
	return (l->waker == THREAD_NONE ? 1 : l->name + 2) << 10 | l->stack;
}

static void add(void *arg, uint32_t node, struct amount_key key, uint64_t ns)
{
	struct end_sums *s = arg;
	size_t at = (size_t)node * CHAIN_ENDS + key.end;

	if (at >= s->n) {
		s->ns = realloc(s->ns, 2 * at * sizeof(*s->ns));
		assert_non_null(s->ns);
		memset(s->ns + s->n, 0, (2 * at - s->n) * sizeof(*s->ns));
		s->n = 2 * at;
	}
	s->ns[at] += ns;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A line for each chain: its labels, its end, its time. To be freed. */
static char *text_of(const struct end_sums *s)
{
	char *lines[4096], *text = calloc(1, 1 << 20);
	size_t n = 0;

	assert_non_null(text);
	for (size_t at = 0; at < s->n; at++) {
		char line[256] = "";

		if (!s->ns[at])
			continue;
		for (uint32_t node = (uint32_t)(at / CHAIN_ENDS); node;
		     node = s->chains.nodes.at[node].a)
			snprintf(line + strlen(line), sizeof(line) - strlen(line), "%x ",
				 s->chains.nodes.at[node].b);
		snprintf(line + strlen(line), sizeof(line) - strlen(line), "%s %" PRIu64 "\n",
			 chain_end_name((enum chain_end)(at % CHAIN_ENDS)), s->ns[at]);
		assert_true(n < 4096);
		lines[n] = strdup(line);
		assert_non_null(lines[n++]);
	}
	qsort(lines, n, sizeof(lines[0]), by_text);
	for (size_t i = 0; i < n; i++) {
		strncat(text, lines[i], (1 << 20) - strlen(text) - 1);
		free(lines[i]);
	}
	return text;
}

/* Both ways, with some waits cut at their ends if random says so; fails where they differ. */
static void compare(const struct timelines *tl, uint32_t depth, struct schedule *random)
{
	struct end_sums one = { .n = 0 }, all = { .n = 0 };
	struct options o;
	struct chain_batch *b;
	char *expected, *got;

	options_init(&o);
	o.depth = depth;
	chains_init(&one.chains, tl, &o,
		    &(struct chain_user) { .sink = { .arg = &one, .add = add }, .label = label });
	chains_init(&all.chains, tl, &o,
		    &(struct chain_user) { .sink = { .arg = &all, .add = add }, .label = label });
	chain_batch_new(&b, &all.chains);
	for (uint32_t i = 0; i < timelines_threads(tl); i++) {
		const struct thread *th = timelines_thread(tl, i);

		for (uint32_t k = 0; k < th->n_waits; k++) {
			const struct wait *w = &th->waits[k];
			uint64_t from = w->out_ns, to = w->wake_ns;

			if (w->kind != WAIT_SLEEP)
				continue;
			if (random && to > from && !schedule_random(random, 3))
				from += schedule_random(random, to - from);
			if (random && to > from && !schedule_random(random, 3))
				to -= schedule_random(random, to - from);
			chains_explain(&one.chains, chains_head(&one.chains, 1), i, w, from, to);
			chain_batch_add(b, chains_head(&all.chains, 1), i, w, from, to);
		}
	}
	chain_batch_run(b);
	expected = text_of(&one);
	got = text_of(&all);
	assert_string_equal(got, expected);
	free(expected);
	free(got);
	chain_batch_free(b);
	chains_free(&one.chains);
	chains_free(&all.chains);
	free(one.ns);
	free(all.ns);
}

static void compare_made(struct synth *m, uint32_t depth, struct schedule *random)
{
	struct trace *t = synth_open(m);
	struct timelines *tl;

	assert_int_equal(timelines_new(&tl, t), 0);
	sleep_ends_settle(tl);
	compare(tl, depth, random);
	timelines_free(tl);
	trace_close(t);
	synth_free(m);
}

static void random_schedules_give_the_same_sums(void **state)
{
	static const enum schedule_kind kinds[] = { SCHEDULE_WHOLE, SCHEDULE_LOSSY,
						    SCHEDULE_DAMAGED, SCHEDULE_LONG };

	(void)state;
	for (uint64_t seed = 1; seed <= SCHEDULES; seed++) {
		struct schedule *s = schedule_new(seed, kinds[seed % 4]);
		char *script;

		if (seed % 3 == 0) {
			schedule_loops(s);
			schedule_requests(s, false);
		}
		if (seed % 8 < 4)
			schedule_file_tries(s);
		script = schedule_script(s);
		compare_made(script_made(script), (uint32_t)schedule_random(s, 8), s);
		free(script);
		schedule_free(s);
	}
}

/* In each round 11 waits for 12, which waits for the disk; 13 waits for many rounds of 11's. */
static void many_waits_give_the_same_sums(void **state)
{
	struct synth *m = synth_new();
	uint64_t ns = 1000;

	(void)state;
	for (uint32_t tid = 11; tid <= 13; tid++)
		synth_thread(m, tid, "thread");
	synth_switch(m, 0, ns, 0, 'R', 11, "");
	for (uint32_t r = 0; r < ROUNDS; r++) {
		synth_waking(m, 0, ns += 10, 11, 12, "wake;ask");
		synth_switch(m, 0, ns += 10, 11, 'S', 0, "schedule;answer");
		synth_switch(m, 1, ns += 10, 0, 'R', 12, "");
		synth_switch(m, 1, ns += 10, 12, 'D', 0, "schedule;io");
		synth_waking(m, 1, ns += 90 + r % 7, 0, 12, "wake;asm_common_interrupt");
		synth_switch(m, 1, ns += 10, 0, 'R', 12, "");
		synth_waking(m, 1, ns += 50, 12, 11, "wake;tell");
		synth_switch(m, 1, ns += 10, 12, 'S', 0, "schedule;ask");
		synth_switch(m, 0, ns += 10, 0, 'R', 11, "");
		if (r % 500)
			continue;
		synth_waking(m, 0, ns += 10, 11, 13, "wake;work");
		synth_switch(m, 1, ns += 10, 0, 'R', 13, "");
		synth_switch(m, 1, ns += 10, 13, 'S', 0, "schedule;work");
	}
	synth_end(m, ns + 10);
	compare_made(m, 6, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_schedules_give_the_same_sums),
		cmocka_unit_test(many_waits_give_the_same_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
