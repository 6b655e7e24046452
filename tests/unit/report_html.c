// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a report says (--format=html): the chain of a wait in time agrees with the chains that the
 * other formats tell, to the nanosecond; the page takes any name; its policy names its scripts.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/chain.h"
#include "attribute/sleep_ends.h"
#include "synth_many.h"
#include "synth_script.h"
#include "report/report_chain.h"

#define SCHEDULES 300

/* ---- the chain in time ------------------------------------------------------------------- */

/* Of one wait: time by thread and end; interrupts are the thread behind all others. */
struct by_thread {
	const struct timelines *tl;
	const struct chains *chains;
	uint32_t self;			  /* whose wait it is */
	uint64_t (*ends)[CHAIN_ENDS + 1]; /* by thread */
};

/* A chain_user's: 1 is no thread's, but for what stands between a client and the first link. */
static uint32_t label_thread(void *arg, const struct link *l)
{
	const struct by_thread *b = arg;

	if (l->flags & LINK_LABEL)
		return 1;
	return 2 + (l->waker == THREAD_NONE ? timelines_clients_end(b->tl) : l->waker);
}

static void add_end(void *arg, uint32_t node, struct amount_key key, uint64_t ns)
{
	struct by_thread *b = arg;
	uint32_t label = b->chains->nodes.at[node].b;

	b->ends[label == 1 ? b->self : label - 2][key.end] += ns;
}

/* The same, as the chain in time has it. */
static void add_parts(const struct report_chain *c, const struct timelines *tl,
		      uint64_t (*ends)[CHAIN_ENDS + 1])
{
	for (size_t i = 0; i < c->n_parts; i++) {
		const struct report_part *p = &c->parts[i];
		uint32_t thread;

		assert_true(p->lane < c->n_lanes);
		thread = c->lanes[p->lane].thread;
		ends[thread == THREAD_NONE ? timelines_clients_end(tl) : thread][p->end] += p->ns;
	}
}

static bool has_short(const struct report_chain *c)
{
	for (size_t i = 0; i < c->n_parts; i++)
		if (c->parts[i].end == REPORT_SHORT)
			return true;
	return false;
}

static void expect_equal_ends(const struct by_thread *expected, uint64_t (*got)[CHAIN_ENDS + 1],
			      uint32_t wait, uint32_t depth, const char *what)
{
	for (uint32_t i = 0; i <= timelines_clients_end(expected->tl); i++)
		for (int e = 0; e < CHAIN_ENDS; e++)
			if (got[i][e] != expected->ends[i][e])
				fail_msg("%s: thread %" PRIu32 ", wait %" PRIu32 ", depth %" PRIu32
					 ": %s of thread %" PRIu32 " is %" PRIu64
					 ", chains say %" PRIu64,
					 what, expected->self, wait, depth,
					 chain_end_name((enum chain_end)e), i, got[i][e],
					 expected->ends[i][e]);
}

/*
 * Compares both explanations of every sleep, and of every wait of clients. Returns how many could
 * be compared thread by thread.
 */
static unsigned int check_chains(const struct trace *t, uint32_t depth, const char *what)
{
	struct report_chain in_time;
	struct timelines *tl;
	struct options o;
	struct chains chains;
	struct names *names;
	struct by_thread b;
	uint64_t(*got)[CHAIN_ENDS + 1];
	size_t size;
	unsigned int n = 0;

	assert_int_equal(timelines_new(&tl, t), 0);
	sleep_ends_settle(tl);
	options_init(&o);
	o.depth = depth;
	names_new(&names, tl, &o);
	size = ((size_t)timelines_clients_end(tl) + 1) * sizeof(*got);
	b = (struct by_thread) { tl, &chains, 0, malloc(size) };
	got = malloc(size);
	chains_init(&chains, tl, &o,
		    &(struct chain_user) { .sink = { .arg = &b, .add = add_end },
					   .label = label_thread });
	report_chain_init(&in_time, tl, &o, names);
	for (b.self = 0; b.self < timelines_clients_end(tl); b.self++) {
		const struct thread *th = timelines_thread(tl, b.self);

		for (uint32_t k = 0; k < th->n_waits; k++) {
			const struct wait *w = &th->waits[k];
			uint64_t sum = 0;

			if (w->kind != WAIT_SLEEP || w->wake_ns == w->out_ns)
				continue;
			memset(b.ends, 0, size);
			memset(got, 0, size);
			chains_explain(&chains, chains_head(&chains, 1), b.self, w, w->out_ns,
				       w->wake_ns);
			report_chain_explain(&in_time, b.self, w, w->out_ns, w->wake_ns);
			for (size_t p = 0; p < in_time.n_parts; p++)
				sum += in_time.parts[p].ns;
			assert_int_equal(sum, w->wake_ns - w->out_ns);
			if (has_short(&in_time))
				continue;
			n++;
			add_parts(&in_time, tl, got);
			expect_equal_ends(&b, got, k, depth, what);
		}
	}
	report_chain_free(&in_time);
	names_free(names);
	chains_free(&chains);
	timelines_free(tl);
	free(b.ends);
	free(got);
	return n;
}

struct chain_check {
	uint32_t depth;
	unsigned int n; /* chains that were compared */
};

static void check_made_chains(const struct trace *t, const char *name, void *arg)
{
	struct chain_check *c = arg;

	c->n += check_chains(t, c->depth, name);
}

static void a_chain_in_time_is_the_chain_of_other_formats_on_random_schedules(void **state)
{
	struct chain_check c = { 0 };

	(void)state;
	for (uint64_t seed = 0; seed < SCHEDULES; seed++) {
		c.depth = (uint32_t)seed % 8;
		on_schedule(seed, (enum schedule_kind)(seed % 3), check_made_chains, &c);
	}
	assert_true(c.n > SCHEDULES);
}

/* Requests, threads in event loops, and timed waits that are tried again. */
static void a_chain_in_time_is_that_of_other_formats_where_waits_go_on(void **state)
{
	unsigned int n = 0;

	(void)state;
	for (uint64_t seed = 0; seed < SCHEDULES; seed++) {
		struct schedule *s = schedule_new(seed, (enum schedule_kind)(seed % 3));
		struct synth *m;
		struct trace *t;
		char *script;

		schedule_loops(s);
		schedule_requests(s, seed % 3 == SCHEDULE_LOSSY);
		if (seed % 2)
			schedule_tries(s);
		script = schedule_script(s);
		m = script_made(script);
		t = synth_open(m);
		n += check_chains(t, (uint32_t)seed % 8, script);
		trace_close(t);
		synth_free(m);
		free(script);
		schedule_free(s);
	}
	assert_true(n > SCHEDULES);
}

static void check_recorded_chains(const struct trace *t, const char *name, void *arg)
{
	(void)arg;
	assert_true(check_chains(t, 6, name) > 0);
}

static void a_chain_in_time_is_the_chain_of_other_formats_on_recorded_traces(void **state)
{
	(void)state;
	on_recorded(check_recorded_chains, NULL);
}

/* chain-semantics, example 2: B slept meanwhile, and C woke it. */
static void lanes_windows_and_wakes_of_a_chain(void **state)
{
	struct synth *m = script_made("100 c0 A S > B recv;main\n"
				      "300 c0 B S > - lock;work\n"
				      "700 c1 C wakes B wake;unlock;cwork\n"
				      "710 c0 - R > B idle\n"
				      "900 c0 B wakes A wake;send;work\n"
				      "930 c0 B S > A work\n"
				      "end 1000\n");
	struct trace *t = synth_open(m);
	struct report_chain c;
	struct options o;
	struct timelines *tl;
	struct names *names;
	uint32_t a = 0;

	(void)state;
	assert_int_equal(timelines_new(&tl, t), 0);
	while (timelines_thread(tl, a)->tid != 101)
		a++;
	options_init(&o);
	o.depth = 6;
	names_new(&names, tl, &o);
	report_chain_init(&c, tl, &o, names);
	for (uint32_t k = 0; k < timelines_thread(tl, a)->n_waits; k++) {
		const struct wait *w = &timelines_thread(tl, a)->waits[k];

		if (w->out_ns == 100000)
			report_chain_explain(&c, a, w, w->out_ns, w->wake_ns);
	}
	assert_int_equal(c.n_lanes, 3);
	assert_int_equal(timelines_thread(tl, c.lanes[1].thread)->tid, 102);
	assert_int_equal(timelines_thread(tl, c.lanes[2].thread)->tid, 103);
	assert_int_equal(c.n_windows, 3);
	assert_int_equal(c.windows[2].lane, 2);
	assert_int_equal(c.windows[2].from_ns, 300000);
	assert_int_equal(c.windows[2].to_ns, 700000);
	assert_int_equal(c.n_wakes, 2);
	assert_int_equal(c.wakes[0].waker, 1);
	assert_int_equal(c.wakes[0].wait->wake_ns, 900000);
	assert_int_equal(c.wakes[1].waker, 2);
	assert_int_equal(c.wakes[1].wakee, 1);
	report_chain_free(&c);
	names_free(names);
	timelines_free(tl);
	trace_close(t);
	synth_free(m);
}

/* A waits for B, which tries to take a lock 30 times before L gives it up. */
static void tries_are_one_wait(void **state)
{
	char script[16384];
	int len = snprintf(script, sizeof(script), "0 c1 - R > L\n100 c0 A S > B read\n");
	struct report_chain c;
	struct options o;
	struct names *names;
	struct timelines *tl;
	struct synth *m;
	struct trace *t;
	uint64_t ns = 0;

	(void)state;
	for (int i = 0; i < 30; i++) {
		len += snprintf(script + len, sizeof(script) - (size_t)len,
				"%d c0 B S > - lock for=futex:17:lock\n", 110 + 20 * i);
		if (i < 29)
			len += snprintf(script + len, sizeof(script) - (size_t)len,
					"%d c0 - wakes B "
					"wake;__hrtimer_run_queues;asm_sysvec_apic_timer_"
					"interrupt\n",
					128 + 20 * i);
		else
			len += snprintf(script + len, sizeof(script) - (size_t)len,
					"%d c1 L wakes B wake;unlock\n", 128 + 20 * i);
		len += snprintf(script + len, sizeof(script) - (size_t)len, "%d c0 - R > B\n",
				128 + 20 * i);
	}
	snprintf(script + len, sizeof(script) - (size_t)len,
		 "900 c0 B wakes A wake;write\n910 c0 B S > A work\nend 1000\n");
	m = script_made(script);
	t = synth_open(m);
	assert_int_equal(timelines_new(&tl, t), 0);
	sleep_ends_settle(tl);
	options_init(&o);
	names_new(&names, tl, &o);
	report_chain_init(&c, tl, &o, names);
	for (uint32_t i = 0; i < timelines_threads(tl); i++) {
		const struct thread *th = timelines_thread(tl, i);

		if (th->tid == 101)
			report_chain_explain(&c, i, &th->waits[0], th->waits[0].out_ns,
					     th->waits[0].wake_ns);
	}
	/* A, B and L; one waking of each by the next one. */
	assert_int_equal(c.n_lanes, 3);
	assert_int_equal(c.n_wakes, 2);
	assert_int_equal(c.wakes[1].at_ns - timelines_start_ns(tl), 708000);
	for (size_t i = 0; i < c.n_parts; i++)
		if (c.parts[i].lane == 2 && c.parts[i].end == CHAIN_RUNNING)
			ns += c.parts[i].ns;
	assert_int_equal(ns, 30 * 18000);
	report_chain_free(&c);
	names_free(names);
	timelines_free(tl);
	trace_close(t);
	synth_free(m);
}

/* A waker that slept a thousand times: the picture is bounded, the sum is whole. */
static void a_busy_chain_is_bounded(void **state)
{
	struct synth *m = synth_new();
	struct report_chain c;
	struct options o;
	struct timelines *tl;
	struct trace *t;
	struct names *names;
	uint64_t sum = 0, short_sleeps = 0;
	uint32_t a = 0;

	(void)state;
	for (uint32_t tid = 101; tid < 200; tid++)
		synth_thread(m, tid, "busy");
	synth_switch(m, 0, 1000, 101, 'S', 102, "recv");
	for (uint32_t i = 0; i < 1000; i++) {
		uint64_t at = 10000 + i * 1000;

		synth_switch(m, 0, at, 102, 'S', 0, "sleep");
		synth_waking(m, 1, at + 400 + i % 97, 103 + i % 97, 102, "wake");
		synth_switch(m, 0, at + 600, 0, 'R', 102, "");
	}
	synth_waking(m, 0, 2000000, 102, 101, "wake;send");
	synth_switch(m, 0, 2000100, 102, 'S', 101, "sleep");
	synth_end(m, 2001000);
	t = synth_open(m);
	assert_int_equal(timelines_new(&tl, t), 0);
	while (timelines_thread(tl, a)->tid != 101)
		a++;
	options_init(&o);
	o.depth = 6;
	names_new(&names, tl, &o);
	report_chain_init(&c, tl, &o, names);
	for (uint32_t k = 0; k < timelines_thread(tl, a)->n_waits; k++)
		if (timelines_thread(tl, a)->waits[k].out_ns == 1000)
			report_chain_explain(&c, a, &timelines_thread(tl, a)->waits[k], 1000,
					     2000000);
	assert_in_range(c.n_lanes, 3, REPORT_LANES);
	assert_in_range(c.n_wakes, 2, REPORT_WAKES);
	for (size_t i = 0; i < c.n_parts; i++) {
		sum += c.parts[i].ns;
		/* What is not followed is said: how often, and from where. */
		if (c.parts[i].end != REPORT_SHORT)
			continue;
		short_sleeps += c.parts[i].n;
		assert_int_equal(
			c.parts[i].stack,
			timelines_thread(tl, c.lanes[c.parts[i].lane].thread)->waits[1].stack);
	}
	assert_int_equal(sum, 1999000);
	assert_in_range(short_sleeps, 1000 - REPORT_FOLLOWED, 1000);
	report_chain_free(&c);
	names_free(names);
	timelines_free(tl);
	trace_close(t);
	synth_free(m);
}

/* Who answered a request has a chain that fills the picture: who took it has room all the same. */
static void a_busy_request_is_bounded(void **state)
{
	struct synth_request q = { .class = "tcp",
				   .name = ":80",
				   .connection = 1,
				   .reader = 105,
				   .arrival_ns = 1000,
				   .taken_ns = 2000,
				   .answer_ns = 60000 };
	struct synth *m = synth_new();
	struct report_chain c;
	struct options o;
	struct timelines *tl;
	struct trace *t;
	struct names *names;
	uint64_t sum = 0;
	uint32_t a = 0;

	(void)state;
	for (uint32_t tid = 102; tid < 106; tid++)
		synth_thread(m, tid, "busy");
	synth_switch(m, 1, 500, 0, 'R', 103, "");
	synth_switch(m, 2, 500, 0, 'R', 104, "");
	synth_switch(m, 3, 500, 0, 'R', 105, "");
	synth_switch(m, 0, 500, 0, 'R', 102, "");
	/* It sleeps thirty times, and while it does, who wakes it sleeps nine times. */
	for (uint32_t i = 0; i < 30; i++) {
		uint64_t at = 3000 + i * 1800;

		synth_switch(m, 0, at, 102, 'S', 0, "sleep");
		for (uint32_t k = 0; k < 9; k++, at += 150) {
			synth_switch(m, 1, at + 20, 103, 'S', 0, "sleep");
			synth_waking(m, 2, at + 110, 104, 103, "wake");
			synth_switch(m, 1, at + 120, 0, 'R', 103, "");
		}
		synth_waking(m, 1, at + 100, 103, 102, "wake");
		synth_switch(m, 0, at + 120, 0, 'R', 102, "");
	}
	synth_request(m, 0, 60000, 102, &q);
	synth_end(m, 61000);
	t = synth_open(m);
	assert_int_equal(timelines_new(&tl, t), 0);
	while (!timelines_is_client(tl, a))
		a++;
	options_init(&o);
	o.depth = 6;
	names_new(&names, tl, &o);
	report_chain_init(&c, tl, &o, names);
	report_chain_explain(&c, a, &timelines_thread(tl, a)->waits[0], 1000, 60000);
	assert_in_range(c.n_wakes, REPORT_WAKES + 1, REPORT_WAKES + REPORT_SERVING);
	for (size_t i = 0; i < c.n_wakes; i++)
		assert_in_range(c.wakes[i].waker, 0, c.n_lanes - 1);
	for (size_t i = 0; i < c.n_parts; i++) {
		assert_in_range(c.parts[i].lane, 0, c.n_lanes - 1);
		sum += c.parts[i].ns;
	}
	assert_int_equal(sum, 59000);
	report_chain_free(&c);
	names_free(names);
	timelines_free(tl);
	trace_close(t);
	synth_free(m);
}

/* ---- the page ---------------------------------------------------------------------------- */

static char *page_of(struct synth *m)
{
	struct trace *t = synth_open(m);
	struct options o;
	char *page;

	options_init(&o);
	page = trace_formatted(t, &o, "html");
	options_free(&o);
	trace_close(t);
	return page;
}

static unsigned int count_of(const char *text, const char *word)
{
	unsigned int n = 0;

	for (; (text = strstr(text, word)); text += strlen(word))
		n++;
	return n;
}

static char *page_of_script(const char *script)
{
	struct synth *m = script_made(script);
	char *page = page_of(m);

	synth_free(m);
	return page;
}

/* A waits for B, which waits for C; then for somebody not known. B is sampled while it runs. */
static const char answered[] = "0    c0 - R > A\n"
			       "0    c1 - R > B\n"
			       "0    c2 - R > C\n"
			       "100  c0 A S > - wait|recv;ask\n"
			       "150  c1 B ran read|sort;serve\n"
			       "200  c1 B ran read|copy;serve\n"
			       "250  c1 B ran read|sort;serve\n"
			       "300  c1 B S > - wait|lock;serve\n"
			       "500  c2 C wakes B wake|unlock;flush\n"
			       "500  c1 - R > B\n"
			       "600  c1 B wakes A wake|send;answer\n"
			       "600  c0 - R > A\n"
			       "700  c0 A S > - wait|recv;ask\n"
			       "1900 c0 - R > A\n"
			       "end 2000\n";

/* The first section is the table of causes, with the sentences of --format=causes. */
static void the_report_begins_with_the_answer_and_causes(void **state)
{
	char *page = page_of_script(answered);
	const char *section = strstr(page, "<section"), *b, *c, *unknown;

	(void)state;
	assert_int_equal(strncmp(section, "<section id=\"answer\">", 21), 0);
	assert_true(strstr(section, "<p class=\"verdict\">") < strstr(section + 1, "<section"));
	section = strstr(section + 1, "<section");
	assert_int_equal(strncmp(section, "<section id=\"causes\">", 21), 0);
	b = strstr(section, "B/102 ran in serve: 67 % sort, 33 % copy; 100 % in the kernel, then "
			    "woke the waiter in send");
	c = strstr(section, "C/103 held the lock of wait | lock: 100 % ran");
	/* It has most of the time, but nothing can be done about it. */
	unknown = strstr(section, "waker unknown");
	assert_true(b && c && unknown);
	assert_true(c < b && b < unknown && unknown < strstr(page, "id=\"summary\""));
	assert_non_null(strstr(section, "A &#60;- B &#60;- C"));
	/* The first waits are the examples: the first one is of the first two causes. */
	assert_non_null(strstr(page, "\"causes\":[0,0,1]"));
	free(page);
}

/* What B ran: in its lane, in words, and as a graph of its own. */
static void samples_are_in_the_report(void **state)
{
	char *page = page_of_script(answered), *plain = page_of_script("100 c0 A S > B recv;main\n"
								       "500 c0 B wakes A wake\n"
								       "end 1000\n");

	(void)state;
	assert_non_null(strstr(page, "\"sampled\":true"));
	assert_non_null(strstr(page, "\"samples\":[50000,1,"));
	assert_non_null(strstr(page, "\"ran\":[1,2,3,"));
	assert_int_equal(count_of(page, "<svg class=\"flamegraph\""), 2);
	assert_non_null(strstr(page, "data-keys=\"ran.\""));
	assert_non_null(strstr(plain, "\"sampled\":false"));
	assert_null(strstr(plain, "\"samples\":"));
	assert_int_equal(count_of(plain, "<svg class=\"flamegraph\""), 1);
	free(page);
	free(plain);
}

/* A row of the table of threads has its time asleep by class. */
static void waits_are_summed_up_by_class(void **state)
{
	char *page = page_of_script("0    c0 - R > A\n"
				    "100  c0 A S > - recv for=tcp:peer:80\n"
				    "400  c1 - wakes A wake\n"
				    "400  c0 - R > A\n"
				    "500  c0 A S > - recv for=tcp:other:80\n"
				    "700  c1 - wakes A wake\n"
				    "700  c0 - R > A\n"
				    "800  c0 A S > - nap\n"
				    "1000 c1 - wakes A wake\n"
				    "1000 c0 - R > A\n"
				    "end 100000\n");

	(void)state;
	/* Classes in the order of their first waits, all in the first step: tcp, not known. */
	assert_non_null(strstr(page, "\"asleep\":[0,0,500000,0,1,200000]"));
	assert_non_null(strstr(page, "\"tcp\""));
	free(page);
}

/* A thread has what its last control group is called, as text; -1 where that is not known. */
static void a_thread_has_its_control_group(void **state)
{
	char *page = page_of_script("0    c0 - R > A\n"
				    "50   c0 A in-group /system.slice/<b>.service\n"
				    "100  c0 A S > B recv\n"
				    "400  c0 B S > A recv\n"
				    "500  c0 A S > - recv\n"
				    "end 100000\n");
	const char *threads, *end;

	(void)state;
	threads = strstr(page, "\"threads\":[");
	assert_non_null(threads);
	end = strstr(threads, "\"strings\":[");
	assert_non_null(end);
	assert_non_null(strstr(end, "b>.service\""));
	assert_null(strstr(page, "<b>.service"));
	/* One of the two has none. */
	assert_non_null(strstr(threads, ",-1]"));
	assert_true(strstr(threads, ",-1]") < end && !strstr(strstr(threads, ",-1]") + 1, ",-1]"));
	free(page);
}

/* The threads of the recorded command come before others that ran more. */
static void threads_of_the_command_come_first(void **state)
{
	struct synth *m = synth_new();
	char *page;
	const char *table, *own, *other;
	struct options o;
	struct trace *t;

	(void)state;
	synth_info(m, &(struct chainlog_info) { .cpus = 1, .command_tgid = 102 });
	synth_thread(m, 101, "other");
	synth_thread(m, 102, "own");
	synth_switch(m, 0, 1000, 101, 'S', 102, "recv");
	synth_switch(m, 0, 2000, 102, 'S', 101, "recv");
	synth_switch(m, 0, 90000, 101, 'S', 0, "recv");
	synth_end(m, 100000);
	t = synth_open(m);
	options_init(&o);
	page = trace_formatted(t, &o, "html");
	options_free(&o);
	trace_close(t);
	synth_free(m);
	table = strstr(page, "id=\"threads\"");
	own = strstr(table, "<bdi>own</bdi>");
	other = strstr(table, "<bdi>other</bdi>");
	assert_true(own && other && own < other);
	free(page);
}

/* However a thread calls itself: no element of its own, no end of the data's. */
static void hostile_names_stay_text(void **state)
{
	struct synth *m = synth_new();
	char *page, *plain;

	(void)state;
	synth_info(m, &(struct chainlog_info) { .cpus = 2, .host = "<img src=x>" });
	synth_thread(m, 101, "</script><u>");
	synth_thread(m, 102, "\"'><i>&amp;\x1b[1m");
	synth_thread(m, 103, "<!--\xff\xc2\x9b");
	synth_switch(m, 0, 1000, 101, 'S', 102, "</script><script>alert(1)</script>;main");
	synth_waking(m, 0, 5000, 102, 101, "]]>;<svg onload=alert(1)>");
	synth_switch(m, 0, 6000, 102, 'S', 101, "x");
	synth_end(m, 9000);
	page = page_of(m);
	synth_free(m);
	assert_null(strstr(page, "<u>"));
	assert_null(strstr(page, "<i>"));
	assert_null(strstr(page, "<img"));
	assert_null(strstr(page, "<!--\xff"));
	assert_null(strstr(page, "<svg onload"));
	assert_null(strstr(page, "<script>alert"));
	assert_null(strchr(page, 0x1b));
	assert_null(strchr(page, (char)0xff));
	assert_non_null(strstr(page, "&#60;/script&#62;&#60;u&#62;"));

	/* Exactly the elements of a page with plain names. */
	m = synth_new();
	synth_switch(m, 0, 1000, 101, 'S', 102, "recv;main");
	synth_waking(m, 0, 5000, 102, 101, "wake;send");
	synth_switch(m, 0, 6000, 102, 'S', 101, "x");
	synth_end(m, 9000);
	plain = page_of(m);
	synth_free(m);
	assert_int_equal(count_of(page, "<script"), count_of(plain, "<script"));
	assert_int_equal(count_of(page, "</script"), count_of(plain, "</script"));
	free(page);
	free(plain);
}

/* A stretch without a CPU says why, as the answer above it does. */
static void who_had_the_cpu_is_told_of_each_stretch(void **state)
{
	struct options o;
	char *html;

	(void)state;
	options_init(&o);
	html = script_formatted("queues\n"
				"quotas\n"
				"0   c0 - R > A\n"
				"0   c1 - R > B\n"
				"100 c0 A S > D recv;main\n"
				"200 c1 B R > C spin;work\n"
				"200 c1 B throttled\n"
				"600 c1 C S > B\n"
				"600 c1 B unthrottled 200 500 /batch\n"
				"700 c1 B wakes A wake;send\n"
				"790 c0 D S > A\n"
				"end 800\n",
				&o, "html");
	assert_non_null(strstr(html, "\"the CPU quota of /batch was used up\""));
	assert_non_null(strstr(html, "\"D had the CPU\""));
	assert_null(strstr(html, "\"C had the CPU\"")); /* a fourth of that time */
	free(html);
	options_free(&o);
}

/* The graph groups them by it. */
static void whose_threads_are_whose_is_in_the_graph(void **state)
{
	struct options o;
	char *html;

	(void)state;
	options_init(&o);
	html = script_formatted("thread A S\n"
				"thread B S/A\n"
				"thread C S\n"
				"0   c0 - R > A\n"
				"100 c0 A S > B recv;main\n"
				"200 c0 B S > C take;main\n"
				"300 c0 C S > - read;main\n"
				"400 c0 - woken A\n"
				"400 c0 - woken B\n"
				"400 c0 - woken C\n"
				"400 c0 - R > A\n"
				"500 c0 A S > B recv;main\n"
				"600 c0 B S > C take;main\n"
				"end 800\n",
				&o, "html");
	assert_non_null(strstr(html, "<metadata id=\"fg-processes\">A\nA\nA\nB</metadata>"));
	free(html);
	options_free(&o);
}

/* A trace in which nothing happened is a page, too. */
static void an_empty_trace_is_a_page(void **state)
{
	struct synth *m = synth_new();
	char *page;

	(void)state;
	synth_end(m, 0);
	page = page_of(m);
	synth_free(m);
	assert_non_null(strstr(page, "Nobody waited."));
	assert_non_null(strstr(page, "Nothing: every event"));
	assert_non_null(strstr(page, "</html>"));
	free(page);
}

static void losses_are_listed(void **state)
{
	struct synth *m = synth_new();
	char *page;

	(void)state;
	synth_switch(m, 0, 1000, 101, 'S', 102, "recv");
	synth_lost(m, 1, 77, 3000000, 4000000);
	synth_waking(m, 0, 5000000, 102, 101, "wake");
	synth_end(m, 9000000);
	page = page_of(m);
	synth_free(m);
	assert_non_null(strstr(page, ">0.003000 s</td>"));
	assert_non_null(strstr(page, ">0.004000 s</td><td data-v=\"1\">1</td>"
				     "<td data-v=\"77\">77</td>"));
	assert_non_null(strstr(page, "77 events are known to be lost"));
	assert_non_null(strstr(page, "\"losses\":[3000000,4000000,1,77]"));
	free(page);
}

/* The policy allows the scripts by hash and nothing else. */
static void the_policy_is_strict(void **state)
{
	struct synth *m = synth_new();
	char *page, *policy, *end;

	(void)state;
	synth_switch(m, 0, 1000, 101, 'S', 102, "recv");
	synth_end(m, 9000);
	page = page_of(m);
	synth_free(m);
	policy = strstr(page, "Content-Security-Policy");
	assert_non_null(policy);
	assert_true(policy < strstr(page, "<style>"));
	end = strchr(policy, '\n');
	*end = '\0';
	assert_non_null(strstr(policy, "default-src 'none'"));
	assert_null(strstr(policy, "unsafe"));
	assert_int_equal(count_of(policy, "'sha256-"), 4);
	free(page);
}

/* The sum of a list of numbers from the k-th one on; s is behind its '['. */
static uint64_t sum_from(const char *s, size_t k)
{
	uint64_t sum = 0;

	for (size_t i = 0; *s && *s != ']'; i++) {
		char *end;
		uint64_t number = strtoull(s, &end, 10);

		assert_true(end != s);
		sum += i >= k ? number : 0;
		s = end + (*end == ',');
	}
	return sum;
}

/* Of the requests that the page chooses at first: how many, and the sum of where their time went.
 */
static void slowest_of_page(const char *html, uint64_t *n, uint64_t *ns)
{
	const char *at = strstr(html, "\"endpoints\":["), *end;

	assert_non_null(at);
	end = strstr(at, "],\n\"requests\":[");
	assert_non_null(end);
	*n = *ns = 0;
	while ((at = strstr(at, "\"slowest\":")) && at < end) {
		size_t k = strtoull(at += strlen("\"slowest\":"), NULL, 10);
		const char *next = strstr(at, "\"slowest\":");

		at = strstr(at, "\"counts\":[");
		assert_non_null(at);
		*n += sum_from(at + strlen("\"counts\":["), k);
		for (; (at = strstr(at, "\"ns\":[")) && at < end && (!next || at < next);)
			*ns += sum_from(at += strlen("\"ns\":["), k);
		at = next;
		if (!at)
			break;
	}
}

/* Which requests are slow, and where their time went, is the same in all views. */
static void check_slowest(const struct trace *t, const char *name, void *arg)
{
	struct options o;
	uint64_t n, ns, n_said = 0, n_more = 0, ns_said = 0;
	char *html, *json;

	(void)arg;
	options_init(&o);
	html = trace_formatted(t, &o, "html");
	o.json = true;
	json = trace_formatted(t, &o, "requests");
	slowest_of_page(html, &n, &ns);
	for (const char *s = json; (s = strstr(s, "\"slowest_ns\":"));)
		ns_said += strtoull(s += strlen("\"slowest_ns\":"), NULL, 10);
	for (const char *s = json; (s = strstr(s, "\"requests\":"));) {
		uint64_t all = strtoull(s += strlen("\"requests\":"), NULL, 10);

		n_said += all / 100 ? all / 100 : all > 0;
		n_more += all / 100 < 5 ? 4 : 0; /* which they are: select_slowest.c */
	}
	if (n < n_said || n > n_said + n_more || ns != ns_said)
		fail_msg("%s: %" PRIu64 " slow requests with %" PRIu64 " ns, and %" PRIu64
			 " with %" PRIu64,
			 name, n, ns, n_said, ns_said);
	free(html);
	free(json);
}

static void slow_requests_are_those_of_the_other_views(void **state)
{
	(void)state;
	on_recorded_services(check_slowest, NULL);
}

/* A waits for B, and then, each time shorter, for as many others as there are letters: too many. */
static void of_a_life_the_longest_sleeps_have_lanes(void **state)
{
	struct text_buf script = { 0 };
	struct report_chain c;
	struct timelines *tl;
	struct options o;
	struct names *names;
	struct synth *m;
	struct trace *t;
	uint64_t us = 0;
	char line[160];

	(void)state;
	text_puts(&script, "thread A *\n0 c0 - R > A\n");
	for (char who = 'B'; who <= 'Z'; who++) {
		uint64_t took = who == 'B' ? 500 : 10;

		snprintf(line, sizeof(line),
			 "%" PRIu64 " c0 A S > - read;main\n%" PRIu64 " c1 - R > %c\n"
			 "%" PRIu64 " c1 %c wakes A write;main\n%" PRIu64 " c1 %c S > - idle\n"
			 "%" PRIu64 " c0 - R > A\n",
			 us + 1, us + 1, who, us + 1 + took, who, us + 1 + took, who,
			 us + 1 + took);
		text_puts(&script, line);
		us += took + 1;
	}
	text_puts(&script, "end 2000\n");
	m = script_made(script.p);
	t = synth_open(m);
	assert_int_equal(timelines_new(&tl, t), 0);
	options_init(&o);
	names_new(&names, tl, &o);
	report_chain_init(&c, tl, &o, names);
	report_chain_explain_life(&c, 0, timelines_start_ns(tl), timelines_start_ns(tl) + 900000);
	assert_int_equal(c.n_lanes, REPORT_LANES);
	assert_int_equal(c.lanes[1].thread, 1);
	report_chain_free(&c);
	names_free(names);
	timelines_free(tl);
	trace_close(t);
	synth_free(m);
	text_free(&script);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slow_requests_are_those_of_the_other_views),
		cmocka_unit_test(a_chain_in_time_is_the_chain_of_other_formats_on_random_schedules),
		cmocka_unit_test(a_chain_in_time_is_that_of_other_formats_where_waits_go_on),
		cmocka_unit_test(a_chain_in_time_is_the_chain_of_other_formats_on_recorded_traces),
		cmocka_unit_test(lanes_windows_and_wakes_of_a_chain),
		cmocka_unit_test(tries_are_one_wait),
		cmocka_unit_test(a_busy_chain_is_bounded),
		cmocka_unit_test(of_a_life_the_longest_sleeps_have_lanes),
		cmocka_unit_test(a_busy_request_is_bounded),
		cmocka_unit_test(the_report_begins_with_the_answer_and_causes),
		cmocka_unit_test(samples_are_in_the_report),
		cmocka_unit_test(waits_are_summed_up_by_class),
		cmocka_unit_test(a_thread_has_its_control_group),
		cmocka_unit_test(threads_of_the_command_come_first),
		cmocka_unit_test(hostile_names_stay_text),
		cmocka_unit_test(who_had_the_cpu_is_told_of_each_stretch),
		cmocka_unit_test(whose_threads_are_whose_is_in_the_graph),
		cmocka_unit_test(an_empty_trace_is_a_page),
		cmocka_unit_test(losses_are_listed),
		cmocka_unit_test(the_policy_is_strict),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
