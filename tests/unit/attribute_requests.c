// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests of clients: made events in, folded lines out (chain-semantics, section 15). */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>

#include "attribute/chain.h"
#include "synth_many.h"

static struct options of_requests(void)
{
	struct options o;

	options_init(&o);
	o.requests = true;
	return o;
}

static void folds(const char *script, const char *expected)
{
	struct options o = of_requests();

	expect_text(script_folded(script, &o), expected);
}

/* S, a thread called by its letter, runs all the time. */
static const char example[] =
	"thread S *\n"
	"0 c0 - R > S\n"
	"250 c0 S request tcp::80 conn=1 arrived=45 taken=50\n"
	"900 c0 S request tcp::80 conn=2 arrived=100 taken=300 stack=send;work\n"
	"end 1000\n";

static void the_example(void **state)
{
	struct options o = of_requests();

	(void)state;
	o.min_request_ns = 300000;
	expect_text(script_folded(example, &o),
		    "[request tcp :80] S;--;send;work;S;[running] 600\n"
		    "[request tcp :80] S;[queued];--;[unknown stack];S;[running] 50\n"
		    "[request tcp :80] S;[queued];[for tcp :80];--;[unknown stack];S;[running] "
		    "150\n");
}

static void a_route_is_a_part_of_the_endpoint(void **state)
{
	(void)state;
	folds("thread S *\n"
	      "0 c0 - R > S\n"
	      "60 c0 S context c0ffee 7 /cart\n"
	      "250 c0 S request tcp::80 conn=1 arrived=50 taken=50 stack=send;work\n"
	      "260 c0 S context -\n"
	      "900 c0 S request tcp::80 conn=1 arrived=300 taken=300 stack=send;work\n"
	      "end 1000\n",
	      "[request tcp :80 /cart] S;--;send;work;S;[running] 200\n"
	      "[request tcp :80] S;--;send;work;S;[running] 600\n");
	/* It has a queue of its own, and delays another route's. */
	folds("thread S *\n"
	      "0 c0 - R > S\n"
	      "60 c0 S context c0ffee 7 /cart\n"
	      "250 c0 S request tcp::80 conn=1 arrived=50 taken=50\n"
	      "260 c0 S context c0ffee01 8 /search\n"
	      "300 c0 S request tcp::80 conn=2 arrived=100 taken=250\n"
	      "end 1000\n",
	      "[request tcp :80 /cart] S;--;[unknown stack];S;[running] 200\n"
	      "[request tcp :80 /search] S;--;[unknown stack];S;[running] 50\n"
	      "[request tcp :80 /search] S;[queued];[for tcp :80 /cart];--;[unknown stack];S;"
	      "[running] 150\n");
}

/* So is one that was made of the request's first bytes, unless the program says another. */
static void a_request_says_its_route(void **state)
{
	(void)state;
	folds("thread S *\n"
	      "0 c0 - R > S\n"
	      "60 c0 S context c0ffee 7 /cart\n"
	      "250 c0 S request tcp::80 conn=1 arrived=50 taken=50 route=GET+/* first\n"
	      "260 c0 S context -\n"
	      "900 c0 S request tcp::80 conn=2 arrived=100 taken=300 route=GET+/report/* first "
	      "stack=send;work\n"
	      "950 c0 S request tcp::80 conn=2 arrived=300 taken=920 route=GET+/report/*\n"
	      "end 1000\n",
	      "[request tcp :80 /cart] S;--;[unknown stack];S;[running] 200\n"
	      "[request tcp :80 GET /report/*] S;--;[unknown stack];S;[running] 30\n"
	      "[request tcp :80 GET /report/*] S;--;send;work;S;[running] 600\n"
	      "[request tcp :80 GET /report/*] S;[queued];--;[unknown stack];S;[running] 70\n"
	      "[request tcp :80 GET /report/*] S;[queued];[for tcp :80 /cart];--;[unknown "
	      "stack];S;[running] 150\n"
	      "[request tcp :80 GET /report/*] S;[queued];[for tcp :80 GET "
	      "/report/*];--;[unknown stack];S;[running] 600\n");
}

/* A request that is lost may be a second one for which S worked: before the loss is over. */
static void of_a_lost_request_nothing_is_said(void **state)
{
	static const char script[] =
		"thread S *\n"
		"0 c0 - R > S\n"
		"250 c0 S request tcp::80 conn=1 arrived=50 taken=50\n"
		"%u c1 lost-requests %u\n"
		"900 c0 S request tcp::80 conn=2 arrived=100 taken=300 stack=send;work\n"
		"end 1000\n";
	static const struct {
		unsigned int until, said;
	} losses[] = { { 0, 150 }, { 100, 150 }, { 180, 70 }, { 250, 0 }, { 950, 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(losses) / sizeof(*losses); i++) {
		struct options o = of_requests();
		char text[sizeof(script) + 16], expected[300], said[120] = "";
		unsigned int until = losses[i].until;

		o.min_request_ns = 300000;
		snprintf(text, sizeof(text), script, until, until);
		if (losses[i].said)
			snprintf(said, sizeof(said),
				 "[request tcp :80] S;[queued];[for tcp :80];--;[unknown "
				 "stack];S;[running] %u\n",
				 losses[i].said);
		snprintf(expected, sizeof(expected),
			 "[request tcp :80] S;--;send;work;S;[running] 600\n"
			 "[request tcp :80] S;[queued];--;[unknown stack];S;[running] %u\n%s",
			 200 - losses[i].said, said);
		expect_text(script_folded(text, &o), expected);
	}
}

/* What probes mark is explained by its own thread, and changes nothing for requests at sockets. */
static void probed_requests(void **state)
{
	(void)state;
	folds("thread S *\n"
	      "thread W *\n"
	      "0   c0 - R > S\n"
	      "0   c1 - R > W\n"
	      "300 c0 S S > - futex_wait\n"
	      "700 c1 W wakes S unlock\n"
	      "700 c0 - R > S\n"
	      "800 c0 S request request:query arrived=100 taken=100 probed stack=|main\n"
	      "end 1000\n",
	      "[request query] S;--;main;S;--;unlock;W;[running] 400\n"
	      "[request query] S;--;main;S;[running] 300\n");
	/* The first example, with a call in each of its requests. */
	folds("thread S *\n"
	      "0 c0 - R > S\n"
	      "240 c0 S request request:f arrived=60 taken=60 probed\n"
	      "250 c0 S request tcp::80 conn=1 arrived=45 taken=50\n"
	      "890 c0 S request request:f arrived=310 taken=310 probed label=3\n"
	      "900 c0 S request tcp::80 conn=2 arrived=100 taken=300 stack=send;work\n"
	      "end 1000\n",
	      "[request f] S;--;[unknown stack];S;[running] 760\n"
	      "[request tcp :80] S;--;[unknown stack];S;[running] 200\n"
	      "[request tcp :80] S;--;send;work;S;[running] 600\n"
	      "[request tcp :80] S;[queued];--;[unknown stack];S;[running] 55\n"
	      "[request tcp :80] S;[queued];[for tcp :80];--;[unknown stack];S;[running] "
	      "150\n");
}

/* ---- parts ---- */

/* R hands over to W, which waits for L, and then has no CPU. */
static void another_thread_answers(void **state)
{
	(void)state;
	folds("thread R S\n"
	      "thread W S/R\n"
	      "0   c1 - R > L\n"
	      "150 c0 - wakes R wake;recv\n"
	      "200 c0 - R > R\n"
	      "320 c0 R wakes W wake;hand\n"
	      "330 c0 R S > W epoll\n"
	      "400 c0 W S > X lock\n"
	      "700 c1 L wakes W wake;unlock\n"
	      "750 c0 X R > W\n"
	      "900 c0 W request tcp::80 conn=1 arrived=100 taken=300 by=R stack=send|reply\n"
	      "end 1000\n",
	      "[request tcp :80] R;--;send;-;reply;W;--;wake;hand;R;[running] 20\n"
	      "[request tcp :80] R;--;send;-;reply;W;--;wake;unlock;L;[running] 300\n"
	      "[request tcp :80] R;--;send;-;reply;W;[runnable] 60\n"
	      "[request tcp :80] R;--;send;-;reply;W;[running] 220\n"
	      "[request tcp :80] R;[queued];--;[unknown stack];R;--;wake;recv;[interrupt] 50\n"
	      "[request tcp :80] R;[queued];--;[unknown stack];R;[runnable] 50\n"
	      "[request tcp :80] R;[queued];--;[unknown stack];R;[running] 100\n");
}

static void without_reader_and_writer_nothing_is_known(void **state)
{
	(void)state;
	folds("born Q\n"
	      "200 c0 Q request unix:/run/s conn=1 arrived=100 taken=150\n"
	      "end 1000\n",
	      "[request unix /run/s];[queued];[unknown] 50\n"
	      "[request unix /run/s];[unknown] 50\n");
}

/* Where the answer is given, an interrupt in the stack says nothing. */
static void who_answers_is_a_task(void **state)
{
	(void)state;
	folds("thread S *\n"
	      "0 c0 - R > S\n"
	      "200 c0 S request tcp::80 conn=1 arrived=100 taken=100 "
	      "stack=send;asm_common_interrupt;work\n"
	      "end 1000\n",
	      "[request tcp :80] S;--;send;asm_common_interrupt;work;S;[running] 100\n");
}

static void the_depth_counts_no_labels(void **state)
{
	struct options o = of_requests();

	(void)state;
	o.depth = 0;
	expect_text(script_folded(example, &o),
		    "[request tcp :80] S;[depth limit] 800\n"
		    "[request tcp :80] S;[queued];[depth limit] 55\n"
		    "[request tcp :80] S;[queued];[for tcp :80];[depth limit] 150\n");
}

/* ---- options ---- */

static const char several[] = "thread S *\n"
			      "thread T *\n"
			      "0 c0 - R > S\n"
			      "0 c1 - R > T\n"
			      "20 c0 S request tcp::80 conn=1 arrived=10 taken=10 first\n"
			      "40 c0 S request tcp::80 conn=1 arrived=30 taken=30\n"
			      "80 c0 S request tcp::80 conn=1 arrived=50 taken=50\n"
			      "120 c0 S request tcp::80 conn=1 arrived=90 taken=90\n"
			      "230 c1 T request tcp::81 conn=2 arrived=130 taken=130 first\n"
			      "900 c1 T request-open tcp::81 conn=2 arrived=300 taken=310\n"
			      "end 1000\n";

static void options_choose(void **state)
{
	struct options o = of_requests();
	char why[100];

	(void)state;
	o.slowest_ppm = 10000;
	expect_text(script_folded(several, &o),
		    "[request tcp :80] S;--;[unknown stack];S;[running] 30\n"
		    "[request tcp :81 first] T;--;[unknown stack];T;[running] 100\n");
	o.slowest_ppm = 700000;
	o.from_ns = 60000;
	expect_text(script_folded(several, &o),
		    "[request tcp :80] S;--;[unknown stack];S;[running] 20\n"
		    "[request tcp :81 first] T;--;[unknown stack];T;[running] 100\n");
	o = of_requests();
	o.min_request_ns = 30000;
	expect_text(script_folded(several, &o),
		    "[request tcp :80] S;--;[unknown stack];S;[running] 60\n"
		    "[request tcp :81 first] T;--;[unknown stack];T;[running] 100\n");
	o = of_requests();
	assert_int_equal(regex_list_add(&o.endpoints, ":80 f|^T$", why, sizeof(why)), 0);
	expect_text(script_folded(several, &o),
		    "[request tcp :80 first] S;--;[unknown stack];S;[running] 10\n"
		    "[request tcp :81 first] T;--;[unknown stack];T;[running] 100\n");
	options_free(&o);
	o = of_requests();
	o.processes.ids = (struct id_list) { (uint32_t[]) { 101 + 'T' - 'A' }, 1 };
	expect_text(script_folded(several, &o),
		    "[request tcp :81 first] T;--;[unknown stack];T;[running] 100\n");
	o = of_requests();
	assert_int_equal(regex_list_add(&o.names, "^T$", why, sizeof(why)), 0);
	expect_text(script_folded(several, &o),
		    "[request tcp :81 first] T;--;[unknown stack];T;[running] 100\n");
	options_free(&o);
}

/* ---- law 1 ---- */

struct explained {
	uint64_t ns;
	unsigned int labels; /* of other requests */
};

static void add(void *arg, uint32_t node, struct amount_key key, uint64_t amount)
{
	struct explained *s = arg;

	(void)node;
	if (key.kind == AMOUNT_TIME)
		s->ns += amount;
}

static uint32_t label(void *arg, const struct link *l)
{
	struct explained *s = arg;

	s->labels += l->flags & LINK_LABEL;
	return 1 + l->name;
}

static void explain(const struct timelines *tl, const struct options *o, uint64_t cut_ns,
		    struct explained *all)
{
	struct explained s = { 0 };
	struct chain_user user = { .sink = { .arg = &s, .add = add }, .label = label };
	struct chains c;

	chains_init(&c, tl, o, &user);
	for (uint32_t i = timelines_threads(tl); i < timelines_clients_end(tl); i++)
		for (uint32_t k = 0; k < timelines_thread(tl, i)->n_waits; k++) {
			const struct wait *w = &timelines_thread(tl, i)->waits[k];
			uint64_t mid_ns = clip_ns(w->out_ns + cut_ns, w->out_ns, w->in_ns);
			const struct request *q = timelines_request_of(tl, w);

			assert_true(w->in_ns - w->out_ns == q->answer_ns - q->arrival_ns);
			s.ns = 0;
			chains_explain(&c, chains_head(&c, 1), i, w, w->out_ns, mid_ns);
			assert_true(s.ns == mid_ns - w->out_ns);
			chains_explain(&c, chains_head(&c, 1), i, w, mid_ns, w->in_ns);
			assert_true(s.ns == q->answer_ns - q->arrival_ns);
			all->ns += s.ns;
		}
	all->labels += s.labels;
	chains_free(&c);
}

static void requests_add_up(const struct trace *t, struct explained *all)
{
	struct options o = of_requests();
	struct timelines *tl;

	assert_int_equal(timelines_new(&tl, t), 0);
	for (int mode = 0; mode < 2; mode++)
		for (uint32_t depth = 0; depth < 9; depth += 4) {
			o.mode = mode ? MODE_CLASSIC : MODE_EXACT;
			o.depth = depth;
			explain(tl, &o, depth * 9000, all);
		}
	timelines_free(tl);
}

static void law_1_on_schedules(void **state)
{
	static const enum schedule_kind kinds[] = { SCHEDULE_WHOLE, SCHEDULE_LOSSY,
						    SCHEDULE_DAMAGED };
	struct explained all = { 0 };

	(void)state;
	for (unsigned long n = 0; n < schedules_to_try(); n++) {
		unsigned long seed = schedules_first() + n;
		struct schedule *s = schedule_new(seed, kinds[seed % 3]);
		struct synth *m;
		struct trace *t;
		char *script;

		schedule_requests(s, seed % 3 == 1);
		script = schedule_script(s);
		m = script_made(script);
		t = synth_open(m);
		requests_add_up(t, &all);
		trace_close(t);
		synth_free(m);
		free(script);
		schedule_free(s);
	}
	/* Had there been none, nothing would have been tried. */
	assert_true(all.ns > 0 && all.labels > 0);
}

/*
 * Twenty requests for a report take 30, and twenty for a cart 10 but one of them 25, as long as
 * the one for what is asked for rarely: the slowest one of all is that of the cart.
 */
static void the_slowest_are_beyond_the_median_of_their_route(void **state)
{
	struct text_buf b = { 0 };
	struct options o = of_requests();
	unsigned int at = 10;
	char line[120], why[100];

	(void)state;
	text_puts(&b, "thread S *\n0 c0 - R > S\n");
	for (unsigned int i = 0; i < 41; i++) {
		bool is_report = i % 2, is_rare = i == 40;
		unsigned int took = is_report ? 30 : is_rare || i == 20 ? 25 : 10;

		snprintf(line, sizeof(line),
			 "%u c0 S request tcp::80 conn=1 arrived=%u taken=%u route=GET+/%s\n",
			 at + took, at, at,
			 is_report ? "report"
			 : is_rare ? "rare"
				   : "cart");
		text_puts(&b, line);
		at += took + 1;
	}
	text_puts(&b, "end 2000\n");
	o.slowest_ppm = 10000;
	expect_text(script_folded(b.p, &o),
		    "[request tcp :80 GET /cart] S;--;[unknown stack];S;[running] 25\n");
	/* The second one, of all that take as long as others of their route the one that takes
	 * longest. */
	o.slowest_ppm = 50000;
	expect_text(script_folded(b.p, &o),
		    "[request tcp :80 GET /cart] S;--;[unknown stack];S;[running] 25\n"
		    "[request tcp :80 GET /report] S;--;[unknown stack];S;[running] 30\n");
	/* Of the twenty reports, of which the slowest of all need not have any: one and two. */
	assert_int_equal(regex_list_add(&o.endpoints, "GET /report", why, sizeof(why)), 0);
	expect_text(script_folded(b.p, &o),
		    "[request tcp :80 GET /report] S;--;[unknown stack];S;[running] 30\n");
	o.slowest_ppm = 100000;
	expect_text(script_folded(b.p, &o),
		    "[request tcp :80 GET /report] S;--;[unknown stack];S;[running] 60\n");
	options_free(&o);
	text_free(&b);
}

/* As the name of a route is shown, it chooses: what is in it are no operators. */
static void a_route_is_chosen_by_its_name(void **state)
{
	static const char script[] = "thread S *\n"
				     "0 c0 - R > S\n"
				     "20 c0 S request tcp::80 arrived=10 taken=10 route=GET+/*/x\n"
				     "40 c0 S request tcp::80 arrived=30 taken=30 route=GET+/x\n"
				     "60 c0 S request tcp::80 arrived=50 taken=50 "
				     "route=EXECUTE+[not+known]\n"
				     "end 100\n";
	static const char *const names[][2] = {
		{ "GET /*/x", "GET /*/x" },
		{ "EXECUTE [not known]", "EXECUTE [not known]" },
		{ "GET /x", "GET /x" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct options o = of_requests();
		char why[100], expected[100], *text;

		snprintf(expected, sizeof(expected),
			 "[request tcp :80 %s] S;--;[unknown stack];S;[running] 10\n", names[i][1]);
		assert_int_equal(regex_list_add(&o.endpoints, names[i][0], why, sizeof(why)), 0);
		/* The first one is an expression for GET and slashes, too. */
		if (i)
			expect_text(script_folded(script, &o), expected);
		else {
			text = script_folded(script, &o);
			assert_non_null(strstr(text, expected));
			free(text);
		}
		options_free(&o);
	}
}

/* Those of one connection overlap: each is explained in full, and has its own end. */
static void streams_are_explained_each(void **state)
{
	(void)state;
	folds("thread S *\n"
	      "0 c0 - R > S\n"
	      "300 c0 S request tcp::80 conn=1 arrived=100 taken=150 stream route=GET+/a\n"
	      "600 c0 S request tcp::80 conn=1 arrived=200 taken=210 answered=500 stream "
	      "route=GET+/b\n"
	      "600 c0 S request-more conn=1 began=500 answered=600\n"
	      "700 c0 S request tcp::80 conn=1 arrived=160 taken=180 stream route=GET+/c\n"
	      "end 1000\n",
	      "[request tcp :80 GET /a] S;--;[unknown stack];S;[running] 150\n"
	      "[request tcp :80 GET /a] S;[queued];--;[unknown stack];S;[running] 50\n"
	      "[request tcp :80 GET /b] S;--;[unknown stack];S;[running] 390\n"
	      "[request tcp :80 GET /b] S;[queued];--;[unknown stack];S;[running] 10\n"
	      "[request tcp :80 GET /c] S;--;[unknown stack];S;[running] 520\n"
	      "[request tcp :80 GET /c] S;[queued];[for tcp :80 GET /a];--;[unknown stack];S;"
	      "[running] 20\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_example),
		cmocka_unit_test(a_route_is_a_part_of_the_endpoint),
		cmocka_unit_test(a_request_says_its_route),
		cmocka_unit_test(of_a_lost_request_nothing_is_said),
		cmocka_unit_test(probed_requests),
		cmocka_unit_test(another_thread_answers),
		cmocka_unit_test(without_reader_and_writer_nothing_is_known),
		cmocka_unit_test(who_answers_is_a_task),
		cmocka_unit_test(the_depth_counts_no_labels),
		cmocka_unit_test(options_choose),
		cmocka_unit_test(the_slowest_are_beyond_the_median_of_their_route),
		cmocka_unit_test(a_route_is_chosen_by_its_name),
		cmocka_unit_test(streams_are_explained_each),
		cmocka_unit_test(law_1_on_schedules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
