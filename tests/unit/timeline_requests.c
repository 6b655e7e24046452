// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Requests, and the clients that wait for them (chain-semantics, section 15): who read and wrote
 * what when, what is only counted, and when a thread worked for just one.
 */
#include "test.h"
#include <stdio.h>

#include "synth_script.h"

static char letter(const struct timelines *tl, uint32_t thread)
{
	return thread == THREAD_NONE ? '?'
				     : (char)('A' + (int)timelines_thread(tl, thread)->tid - 101);
}

static void print_flags(FILE *out, uint32_t flags)
{
	static const struct {
		uint32_t flag;
		const char *name;
	} names[] = {
		{ REQUEST_FIRST, "first" },
		{ REQUEST_PIPELINED, "pipelined" },
		{ REQUEST_OLD, "old" },
		{ REQUEST_UNSENT, "unsent" },
		{ REQUEST_SEVERAL, "several" },
		{ REQUEST_OPEN, "open" },
		{ REQUEST_BEFORE, "before" },
		{ REQUEST_INCOMPLETE, "incomplete" },
		{ REQUEST_NO_ARRIVAL, "no-arrival" },
		{ REQUEST_STREAM, "stream" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (flags & names[i].flag)
			fprintf(out, " %s", names[i].name);
}

/* "ENDPOINT arrival reader@taken writer@first-last marks", times in us. */
static void print_request(FILE *out, const struct timelines *tl, const struct request *q)
{
	uint32_t n;
	const struct request_endpoint *e = &timelines_endpoints(tl, &n)[q->endpoint];
	const struct context *c = timelines_context(tl, q);

	fprintf(out, "%s: %llu %c@%llu %c@%llu-%llu", trace_string(timelines_trace(tl), e->name),
		(unsigned long long)q->arrival_ns / 1000, letter(tl, q->reader),
		(unsigned long long)q->taken_ns / 1000, letter(tl, q->writer),
		(unsigned long long)q->first_answer_ns / 1000,
		(unsigned long long)q->answer_ns / 1000);
	print_flags(out, q->flags);
	if (c)
		fprintf(out, " for %llx:%llx span %llx", (unsigned long long)c->trace[0],
			(unsigned long long)c->trace[1], (unsigned long long)c->span);
	putc('\n', out);
}

static void print_clients(FILE *out, const struct timelines *tl)
{
	for (uint32_t i = timelines_threads(tl); i < timelines_clients_end(tl); i++) {
		const struct thread *th = timelines_thread(tl, i);

		fprintf(out, "%s/%u:", trace_string(timelines_trace(tl), th->name), th->tgid);
		for (uint32_t k = 0; k < th->n_waits; k++) {
			const struct wait *w = &th->waits[k];
			const struct request *q = timelines_request_of(tl, w);
			struct stack_pair p = timelines_pair(tl, w->stack);

			assert_true(p.of_client && !p.kstack && !p.ustack);
			assert_int_equal(p.object, q->object);
			assert_true(w->out_ns == q->arrival_ns && w->in_ns == q->answer_ns);
			fprintf(out, " %llu-%llu", (unsigned long long)w->out_ns / 1000,
				(unsigned long long)w->in_ns / 1000);
		}
		putc('\n', out);
	}
}

static void print_spans(FILE *out, const struct timelines *tl, const char *what,
			const struct request_span *(*of)(const struct timelines *tl,
							 uint32_t thread, size_t *n))
{
	for (uint32_t i = 0; i < timelines_threads(tl); i++) {
		size_t n;
		const struct request_span *s = of(tl, i, &n);

		if (n)
			fprintf(out, "%c %s", letter(tl, i), what);
		for (size_t k = 0; k < n; k++)
			fprintf(out, " %u@%llu-%llu", s[k].request,
				(unsigned long long)s[k].from_ns / 1000,
				(unsigned long long)s[k].to_ns / 1000);
		if (n)
			putc('\n', out);
	}
}

static struct timelines *made(const char *script, struct synth **m, struct trace **t)
{
	struct timelines *tl;

	*m = script_made(script);
	*t = synth_open(*m);
	assert_int_equal(timelines_new(&tl, *t), 0);
	return tl;
}

static void free_made(struct timelines *tl, struct synth *m, struct trace *t)
{
	timelines_free(tl);
	trace_close(t);
	synth_free(m);
}

/* All requests, then the clients. */
static void has_requests(const char *script, const char *expected)
{
	struct synth *m;
	struct trace *t;
	struct timelines *tl = made(script, &m, &t);
	char *text;
	size_t len, n;
	FILE *out = open_memstream(&text, &len);
	const struct request *q = timelines_requests(tl, &n);

	for (size_t i = 0; i < n; i++)
		print_request(out, tl, &q[i]);
	print_clients(out, tl);
	fclose(out);
	free_made(tl, m, t);
	expect_text(text, expected);
}

static void has_spans(const char *script, const char *expected)
{
	struct synth *m;
	struct trace *t;
	struct timelines *tl = made(script, &m, &t);
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	print_spans(out, tl, "writes", timelines_spans_written);
	print_spans(out, tl, "serves", timelines_spans_served);
	fclose(out);
	free_made(tl, m, t);
	expect_text(text, expected);
}

/* ---- what a request is ---- */

TEST(a_request_has_a_reader_and_a_writer)
{
	has_requests("thread A S\n"
		     "thread B R/A\n"
		     "900 c0 B request tcp::80 conn=1 arrived=100 taken=300 answered=890 by=A\n"
		     "950 c0 B request tcp::80 conn=2 arrived=940 taken=945 first\n"
		     "end 1000\n",
		     "tcp :80: 100 A@300 B@890-890\n"
		     "tcp :80 first: 940 B@945 B@950-950 first\n"
		     "[request tcp :80] A/101: 100-890\n"
		     "[request tcp :80 first] A/101: 940-950\n");
}

TEST(an_answer_in_parts_ends_with_the_last)
{
	has_requests("thread A S\n"
		     "200 c0 A request tcp::80 conn=7 arrived=100 taken=150 unsent\n"
		     "300 c0 B request-more conn=7 began=200 answered=280 wrote=9\n"
		     "310 c0 B request-more conn=7 began=200 answered=300 wrote=9\n"
		     "320 c0 B request-more conn=8 began=200 answered=300 wrote=9\n"
		     "400 c0 A request tcp::80 conn=7 arrived=350 taken=360\n"
		     "420 c0 A request-more conn=7 began=390 answered=410\n"
		     "end 1000\n",
		     "tcp :80: 100 A@150 B@200-280 several\n"
		     "tcp :80: 350 A@360 A@400-400\n"
		     "[request tcp :80] B/102: 100-280\n"
		     "[request tcp :80] A/101: 350-400\n");
}

TEST(overlapping_requests_are_of_different_clients)
{
	has_requests("thread A S\n"
		     "200 c0 A request tcp::80 conn=1 arrived=100 taken=150\n"
		     "300 c0 A request tcp::80 conn=2 arrived=110 taken=160\n"
		     "400 c0 A request tcp::80 conn=3 arrived=200 taken=260\n"
		     "500 c0 A request tcp::80 conn=1 arrived=299 taken=300\n"
		     "600 c0 A request tcp::80 conn=2 arrived=400 taken=450\n"
		     "end 1000\n",
		     "tcp :80: 100 A@150 A@200-200\n"
		     "tcp :80: 110 A@160 A@300-300\n"
		     "tcp :80: 200 A@260 A@400-400\n"
		     "tcp :80: 299 A@300 A@500-500\n"
		     "tcp :80: 400 A@450 A@600-600\n"
		     "[request tcp :80] A/101: 100-200 200-400\n"
		     "[request tcp :80] A/101: 110-300 400-600\n"
		     "[request tcp :80] A/101: 299-500\n");
}

TEST(an_endpoint_is_an_address_of_a_process)
{
	has_requests("thread A S\n"
		     "thread B S\n"
		     "thread C S/B\n"
		     "200 c0 A request tcp::80 conn=1 arrived=100 taken=150\n"
		     "300 c0 B request tcp::80 conn=2 arrived=210 taken=260\n"
		     "400 c0 C request tcp::80 conn=2 arrived=310 taken=360\n"
		     "500 c0 C request tcp::81 conn=3 arrived=410 taken=460\n"
		     "600 c0 C request unix: conn=4 arrived=510 taken=560\n"
		     "end 1000\n",
		     "tcp :80: 100 A@150 A@200-200\n"
		     "tcp :80: 210 B@260 B@300-300\n"
		     "tcp :80: 310 C@360 C@400-400\n"
		     "tcp :81: 410 C@460 C@500-500\n"
		     "unix: 510 C@560 C@600-600\n"
		     "[request tcp :80] A/101: 100-200\n"
		     "[request tcp :80] B/102: 210-300 310-400\n"
		     "[request tcp :81] B/102: 410-500\n"
		     "[request unix] B/102: 510-600\n");
}

/* ---- what is only counted ---- */

TEST(what_is_missing_is_not_explained)
{
	has_requests("thread A S\n"
		     /* Its second part may be lost; that of connection 2 is not. */
		     "200 c0 A request tcp::80 conn=1 arrived=100 taken=150\n"
		     "210 c0 A request tcp::80 conn=2 arrived=110 taken=150\n"
		     "220 c0 A request udp::53 arrived=120 taken=150\n"
		     "300 c0 lost-more 310\n"
		     "320 c0 A request-more conn=2 began=210 answered=305\n"
		     "330 c0 A request tcp::80 conn=3 arrived=315 taken=320\n"
		     "400 c0 A request tcp::80 conn=1 arrived=350 taken=390\n"
		     "500 c0 A request-open tcp::80 conn=1 arrived=450 taken=490\n"
		     "end 1000\n",
		     "tcp :80: 100 A@150 A@200-200 incomplete\n"
		     "tcp :80: 110 A@150 A@210-305 several\n"
		     "udp :53: 120 A@150 A@220-220\n"
		     "tcp :80: 315 A@320 A@330-330\n"
		     "tcp :80: 350 A@390 A@400-400\n"
		     "tcp :80: 450 A@490 ?@0-0 open\n"
		     "[request tcp :80] A/101: 110-305 315-330 350-400\n"
		     "[request udp :53] A/101: 120-220\n");
}

/* Threads that are not in the trace, or were not born yet; and a request that took no time. */
TEST(strangers_are_not_trusted)
{
	has_requests("thread A S\n"
		     "born Q\n"
		     "50 c0 A forks B\n"
		     "60 c0 A wakes B new\n"
		     "200 c0 A request tcp::80 conn=1 arrived=10 taken=20 by=B\n"
		     "300 c0 Q request tcp::80 conn=2 arrived=210 taken=220 by=A\n"
		     "400 c0 A request tcp::80 conn=1 arrived=400 taken=400\n"
		     "end 1000\n",
		     "tcp :80: 10 ?@20 A@200-200\n"
		     "tcp :80: 210 A@220 ?@300-300\n"
		     "tcp :80: 400 A@400 A@400-400\n"
		     "[request tcp :80] A/101: 10-200 210-300\n");
}

/* ---- what a thread worked for ---- */

TEST(contexts_are_of_the_writer)
{
	/* A publishes; B does not. A request without a route is still one of a trace. */
	has_requests("thread A *\n"
		     "thread B *\n"
		     "0   c0 - R > A\n"
		     "0   c1 - R > B\n"
		     "100 c0 A context 10000000000000000c0ffee 7 /cart\n"
		     "200 c0 A request tcp::80 conn=1 arrived=100 taken=100 by=B\n"
		     "210 c1 B request tcp::80 conn=2 arrived=100 taken=100 by=A\n"
		     "220 c0 A context c0ffee 8 -\n"
		     "230 c0 A request tcp::80 conn=1 arrived=220 taken=220\n"
		     "240 c0 A context -\n"
		     "250 c0 A request tcp::80 conn=1 arrived=240 taken=240\n"
		     "end 1000\n",
		     "tcp :80 /cart: 100 B@100 A@200-200 for 1000000:c0ffee span 7\n"
		     "tcp :80: 100 A@100 B@210-210\n"
		     "tcp :80: 220 A@220 A@230-230 for 0:c0ffee span 8\n"
		     "tcp :80: 240 A@240 A@250-250\n"
		     "[request tcp :80 /cart] A/101: 100-200\n"
		     "[request tcp :80] B/102: 100-210\n"
		     "[request tcp :80] A/101: 220-230 240-250\n");
}

TEST(an_outdated_context_is_none)
{
	/* Another one may be among those that are lost; the thread runs another program. */
	has_requests("thread A *\n"
		     "0   c0 - R > A\n"
		     "100 c0 A context 1 7 /cart\n"
		     "150 c1 lost-contexts 180\n"
		     "200 c0 A request tcp::80 conn=1 arrived=100 taken=100\n"
		     "210 c0 A context 2 7 /cart\n"
		     "220 c0 A request tcp::80 conn=1 arrived=210 taken=210\n"
		     "230 c0 A execs A\n"
		     "240 c0 A request tcp::80 conn=1 arrived=230 taken=230\n"
		     "end 1000\n",
		     "tcp :80: 100 A@100 A@200-200\n"
		     "tcp :80 /cart: 210 A@210 A@220-220 for 0:2 span 7\n"
		     "tcp :80: 230 A@230 A@240-240\n"
		     "[request tcp :80] A/101: 100-200 230-240\n"
		     "[request tcp :80 /cart] A/101: 210-220\n");
	/* Nothing is read at the end of what probes mark: before the beginning it may be another.
	 */
	has_requests("thread A *\n"
		     "0   c0 - R > A\n"
		     "100 c0 A context 1 7 /cart\n"
		     "200 c0 A request request:f arrived=101 taken=101 probed\n"
		     "250 c0 A context 2 7 /cart\n"
		     "300 c0 A request request:f arrived=240 taken=240 probed\n"
		     "end 1000\n",
		     "f: 101 A@101 A@200-200\n"
		     "f /cart: 240 A@240 A@300-300 for 0:2 span 7\n"
		     "[request f] A/101: 101-200\n"
		     "[request f /cart] A/101: 240-300\n");
}

TEST(a_trace_id_finds_its_requests)
{
	static const char script[] = "thread A *\n"
				     "0   c0 - R > A\n"
				     "100 c0 A context 2 1 -\n"
				     "110 c0 A request tcp::80 conn=1 arrived=100 taken=100\n"
				     "120 c0 A context 10000000000000002 1 -\n"
				     "130 c0 A request tcp::80 conn=1 arrived=120 taken=120\n"
				     "140 c0 A context 2 2 -\n"
				     "150 c0 A request tcp::80 conn=1 arrived=90 taken=100\n"
				     "160 c0 A context 0 3 -\n"
				     "170 c0 A request tcp::80 conn=1 arrived=160 taken=160\n"
				     "end 1000\n";
	struct synth *m;
	struct trace *t;
	struct timelines *tl = made(script, &m, &t);
	static const size_t expected[] = { 2, 1, 2, 0 };
	const uint32_t *of;
	size_t n;

	for (uint32_t i = 0; i < 4; i++) {
		of = timelines_requests_of_trace(tl, timelines_request(tl, i), &n);
		assert_int_equal(n, expected[i]);
		if (i == 0) {
			assert_int_equal(of[0], 2);
			assert_int_equal(of[1], 0);
		}
	}
	free_made(tl, m, t);
}

TEST(a_span_is_of_just_one_request)
{
	has_spans("thread A S\n"
		  "thread B S\n"
		  "200 c0 A request tcp::80 conn=1 arrived=100 taken=150\n"
		  "300 c0 A request tcp::80 conn=2 arrived=110 taken=180\n"
		  "500 c0 A request tcp::80 conn=3 arrived=310 taken=400 by=B\n"
		  "510 c0 A request tcp::80 conn=4 arrived=310 taken=500\n"
		  "510 c0 A request tcp::80 conn=5 arrived=310 taken=510\n"
		  "600 c0 A request-open tcp::80 conn=4 arrived=520 taken=560\n"
		  "end 1000\n",
		  "A writes 0@150-180 1@200-300 2@400-500 3@500-510\n"
		  "A serves 0@150-180 1@200-300 3@500-510\n");
}
