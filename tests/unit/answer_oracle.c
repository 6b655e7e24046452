// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Steps and paths against the second engine (oracle.h): of each thread's whole life the same steps
 * with the same time, and the same processes on its path, on random schedules and on recorded
 * traces. ORACLE_TRACES=N tries N schedules of each kind.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/chain_steps.h"
#include "answer/connection_pools.h"
#include "answer/joint.h"
#include "answer/path_processes.h"
#include "attribute/sleep_ends.h"
#include "causes/causes.h"
#include "oracle.h"
#include "synth_many.h"
#include "words/own_code.h"

/* The first engine. */
struct engine {
	struct options options;
	struct timelines *timelines;
	struct names *names;
	struct cpu_holders *holders;
	struct chain_known *known;
};

static void engine_begin(struct engine *e, const struct trace *t)
{
	struct options given;

	options_init(&given);
	given.depth = 1000;
	given.given |= GIVEN_DEPTH;
	given.plain_ends = true;
	e->options = causes_request_options(&given);
	e->options.requests = false;
	/* Without what CPUs ran: the time of quotas is not apart. */
	assert_int_equal(timelines_new(&e->timelines, t), 0);
	sleep_ends_settle(e->timelines);
	names_new(&e->names, e->timelines, &e->options);
	cpu_holders_new(&e->holders, e->timelines, true);
	chain_known_new(&e->known, e->timelines, e->names, e->holders);
}

static void engine_end(struct engine *e)
{
	chain_known_free(e->known);
	cpu_holders_free(e->holders);
	names_free(e->names);
	timelines_free(e->timelines);
}

/* Words, which both engines use: "AT\nWHAT\nKIND" of a wait, to be freed. */
static char *words_of(void *arg, uint32_t kstack, uint32_t ustack, uint32_t object, uint32_t ready)
{
	struct engine *e = arg;
	char *text = NULL;

	for (uint32_t pair = 0; pair < timelines_pairs_end(e->timelines) && !text; pair++) {
		struct stack_pair p = timelines_pair(e->timelines, pair);
		struct joint j;

		if (p.kstack != kstack || p.ustack != ustack || p.object != object ||
		    p.ready != ready || p.of_client)
			continue;
		j = joint_of(e->timelines, names_kernel_stacks(e->names), e->names, e->known, pair);
		assert_true(asprintf(&text, "%s\n%s\n%d",
				     names_text(e->names,
						own_place(e->names, timelines_trace(e->timelines),
							  pair)),
				     names_text(e->names, j.text), j.kind) > 0);
	}
	assert_non_null(text);
	return text;
}

static void put_steps(struct engine *e, uint32_t thread, FILE *out)
{
	const struct thread *th = timelines_thread(e->timelines, thread);
	struct chain_steps *steps;
	const struct chain_step *at;
	uint32_t n;

	chain_steps_new(&steps, e->timelines, &e->options, e->names, e->known);
	chain_steps_add_life(steps, thread, th->begin_ns, th->end_ns);
	chain_steps_end(steps);
	at = chain_steps_list(steps, &n);
	for (uint32_t i = 1; i < n; i++) {
		uint32_t way[1000], n_way = 0;

		if (!at[i].is_end || !at[i].ns)
			continue;
		for (uint32_t k = at[i].above; k; k = at[k].above)
			way[n_way++] = k;
		fprintf(out, "%u %llu", th->tid, (unsigned long long)th->begin_ns);
		while (n_way--) {
			const struct chain_step *s = &at[way[n_way]];

			fprintf(out, " %s (%s, %s, %d);", names_text(e->names, s->who),
				names_text(e->names, s->at), names_text(e->names, s->what),
				s->kind);
		}
		fprintf(out, " %s %s\t%llu\n", at[i].who ? names_text(e->names, at[i].who) : "",
			chain_end_name(at[i].end), (unsigned long long)at[i].ns);
	}
	chain_steps_free(steps);
}

static void put_processes(struct engine *e, uint32_t thread, FILE *out)
{
	const struct thread *th = timelines_thread(e->timelines, thread);
	struct path_processes p;

	path_processes_find(&p, e->timelines, &e->options, thread, th->begin_ns, th->end_ns);
	for (uint32_t i = 0; i < p.n; i++) {
		uint64_t own_ns = p.at[i].ns;
		uint32_t way[1000], n_way = 0;

		for (uint32_t k = i + 1; k < p.n; k++)
			own_ns -= p.at[k].above == i ? p.at[k].ns : 0;
		if (!own_ns)
			continue;
		for (uint32_t k = i; k; k = p.at[k].above)
			way[n_way++] = p.at[k].leader;
		fprintf(out, "%u %llu by", th->tid, (unsigned long long)th->begin_ns);
		while (n_way--) {
			const struct thread *leader = timelines_thread(e->timelines, way[n_way]);

			fprintf(out, " %u@%llu", leader->tid, (unsigned long long)leader->begin_ns);
		}
		fprintf(out, "\t%llu\n", (unsigned long long)own_ns);
	}
	path_processes_free(&p);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Lines "WHAT\tNS", sorted, and those of one thing added up. Frees text. */
static char *in_order(char *text)
{
	size_t n = 0, len;
	char **lines = calloc(strlen(text) + 1, sizeof(*lines)), *rest = text, *line, *out;
	FILE *f = open_memstream(&out, &len);

	assert_non_null(lines);
	while ((line = strsep(&rest, "\n")))
		if (*line)
			lines[n++] = line;
	qsort(lines, n, sizeof(*lines), by_text);
	for (size_t i = 0, k; i < n; i = k) {
		size_t what = strcspn(lines[i], "\t") + 1;
		uint64_t ns = 0;

		for (k = i; k < n && !strncmp(lines[k], lines[i], what); k++)
			ns += strtoull(lines[k] + what, NULL, 10);
		fprintf(f, "%.*s%llu\n", (int)what, lines[i], (unsigned long long)ns);
	}
	fclose(f);
	free(lines);
	free(text);
	return out;
}

static void paths_agree(const struct trace *t, const char *name, void *arg)
{
	struct engine e;
	struct oracle_words words = { .of = words_of,
				      .arg = &e,
				      .work = JOINT_WORK,
				      .lock = JOINT_LOCK,
				      .child = JOINT_CHILD };
	char *got, *expected;
	size_t len;
	FILE *out = open_memstream(&got, &len);

	(void)arg;
	engine_begin(&e, t);
	for (uint32_t i = 0; i < timelines_threads(e.timelines); i++) {
		const struct thread *th = timelines_thread(e.timelines, i);

		if (th->begin_ns >= th->end_ns || th->flags & THREAD_RECORDER)
			continue;
		put_steps(&e, i, out);
		put_processes(&e, i, out);
	}
	fclose(out);
	got = in_order(got);
	expected = in_order(oracle_paths(t, &words));
	if (strcmp(got, expected))
		fprintf(stderr, "%s\n---- engine\n%s---- oracle\n%s", name, got, expected);
	assert_true(!strcmp(got, expected));
	free(got);
	free(expected);
	engine_end(&e);
}

static void on_whole_schedules(void **state)
{
	(void)state;
	on_schedules(SCHEDULE_WHOLE, paths_agree);
}

static void on_lossy_schedules(void **state)
{
	(void)state;
	on_schedules(SCHEDULE_LOSSY, paths_agree);
}

static void on_schedules_of_tries(void **state)
{
	(void)state;
	on_schedules_with_tries(SCHEDULE_WHOLE, paths_agree);
	on_schedules_with_tries(SCHEDULE_LOSSY, paths_agree);
}

static void on_script(const char *script)
{
	struct synth *m = script_made(script);
	struct trace *t = synth_open(m);

	paths_agree(t, script, NULL);
	trace_close(t);
	synth_free(m);
}

/* What chance hardly makes: A waits for its child B, and B for its own; and others at one lock. */
static void on_scripts(void **state)
{
	(void)state;
	on_script("thread A *\n"
		  "thread B *\n"
		  "thread C *\n"
		  "0   c0 - R > A\n"
		  "0   c1 - R > B\n"
		  "0   c2 - R > C\n"
		  "100 c0 A S > - do_wait|wait4;make;main for=child:102\n"
		  "150 c1 B S > - do_wait|wait4;cc;main for=child:103\n"
		  "700 c2 C wakes B wake;do_exit|exit\n"
		  "700 c1 - R > B\n"
		  "800 c1 B wakes A wake;do_exit|exit\n"
		  "800 c0 - R > A\n"
		  "end 1000\n");
	on_script("thread A *\n"
		  "thread B *\n"
		  "0   c0 - R > A\n"
		  "0   c1 - R > B\n"
		  "100 c0 A S > - sigsuspend|sigsuspend;wait;main for=signal\n"
		  "300 c1 B wakes A wake;kill|kill\n"
		  "300 c0 - R > A\n"
		  "310 c0 A S > - sigsuspend|sigsuspend;wait;main for=signal\n"
		  "800 c1 B wakes A wake;complete_signal;do_notify_parent;do_exit|exit\n"
		  "800 c0 - R > A\n"
		  "end 1000\n");
	on_script("thread A *\n"
		  "thread B *\n"
		  "thread C *\n"
		  "0   c0 A renames-to order-1\n"
		  "0   c1 B renames-to order-2\n"
		  "0   c2 C renames-to order-17\n"
		  "100 c0 A S > - futex_wait|pthread_mutex_lock@libc.so.6;log;main "
		  "for=futex:17:0x40\n"
		  "110 c1 B S > - futex_wait|pthread_mutex_lock@libc.so.6;save;main "
		  "for=futex:17:0x40\n"
		  "500 c2 C wakes B wake|pthread_mutex_unlock@libc.so.6;log;main\n"
		  "500 c1 - R > B\n"
		  "520 c1 B wakes A wake|pthread_mutex_unlock@libc.so.6;log;main\n"
		  "520 c0 - R > A\n"
		  "end 600\n");
}

/* Most sleeps are in places where threads pause, wait for work, a lock, a child, or in a loop. */
static void on_naps(enum schedule_kind kind)
{
	for (unsigned long n = 0; n < schedules_to_try() / 2; n++) {
		struct schedule *s = schedule_new(schedules_first() + n, kind);
		char *script;

		schedule_naps(s);
		if (n % 4 == 0)
			schedule_share_name(s);
		script = schedule_script(s);
		on_script(script);
		free(script);
		schedule_free(s);
	}
}

static void on_schedules_with_pauses(void **state)
{
	(void)state;
	on_naps(SCHEDULE_WHOLE);
	on_naps(SCHEDULE_LOSSY);
}

static void on_recorded_traces(void **state)
{
	(void)state;
	on_recorded(paths_agree, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(on_scripts),
		cmocka_unit_test(on_whole_schedules),
		cmocka_unit_test(on_lossy_schedules),
		cmocka_unit_test(on_schedules_of_tries),
		cmocka_unit_test(on_schedules_with_pauses),
		cmocka_unit_test(on_recorded_traces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
