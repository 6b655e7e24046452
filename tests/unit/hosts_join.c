// SPDX-License-Identifier: GPL-2.0-or-later
/* Traces of several machines: made events in, lines out (chain-semantics, section 16). */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/sleep_ends.h"
#include "fold/folded.h"
#include "format_table.h"
#include "hosts/hosts.h"
#include "synth_script.h"

#define MACHINES 3

/* Up to three machines, called a, b and c. */
struct machines {
	struct synth *made[MACHINES];
	struct trace *trace[MACHINES];
	struct timelines *timelines[MACHINES];
	struct joined_host hosts[MACHINES];
	struct host_pair *pairs;
	size_t n_pairs;
	uint32_t n;
};

static void join(struct machines *m, struct synth *const made[], uint32_t n)
{
	static const char *const names[MACHINES] = { "a", "b", "c" };

	*m = (struct machines) { .n = n };
	for (uint32_t i = 0; i < n; i++) {
		m->made[i] = made[i];
		m->trace[i] = synth_open(made[i]);
		MUST(!timelines_new_with_cpus(&m->timelines[i], m->trace[i]));
		sleep_ends_settle(m->timelines[i]);
		m->hosts[i] = (struct joined_host) { m->timelines[i], names[i] };
	}
	MUST(!hosts_join(m->timelines, n, &m->pairs, &m->n_pairs));
}

static void part(struct machines *m)
{
	free(m->pairs);
	for (uint32_t i = 0; i < m->n; i++) {
		timelines_free(m->timelines[i]);
		trace_close(m->trace[i]);
		synth_free(m->made[i]);
	}
}

/* Folded lines of the first machine, or its tree, as the options say. */
static char *shown(const struct machines *m, const struct options *o, const char *format)
{
	const struct format *f = format_find(format);
	struct format_input in = { .trace = m->trace[0],
				   .timelines = m->timelines[0],
				   .options = o,
				   .hosts = m->hosts,
				   .n_hosts = m->n };
	struct folded lines = { .n = 0 };
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (f->fold) {
		f->fold(&in, NULL, &lines);
		folded_add_remote(&lines, m->hosts, m->n, o);
		folded_write(&lines, o, out);
		folded_free(&lines);
	} else {
		MUST(!f->write(&in, out));
	}
	fclose(out);
	return text;
}

/* What scripts, of the first machine and of others, give of T's waits. */
static char *scripts_shown(const char *const scripts[], uint32_t n, const char *format)
{
	struct options o = script_options(101 + 'T' - 'A');
	struct synth *made[MACHINES];
	struct machines m;
	char *text;

	for (uint32_t i = 0; i < n; i++)
		made[i] = script_made(scripts[i]);
	join(&m, made, n);
	text = shown(&m, &o, format);
	part(&m);
	return text;
}

static void folds(const char *a, const char *b, const char *expected)
{
	expect_text(scripts_shown((const char *[]) { a, b }, 2, "folded"), expected);
}

/* T asks 10.0.0.2, and sleeps from 100 to 1000. */
static const char client[] = "thread T *\n"
			     "0    c0 - R > T\n"
			     "100  c0 T S > - |ask for=tcp:10.0.0.2:80<10.0.0.1:4000\n"
			     "1000 c0 - wakes! T ready;net_rx_action\n"
			     "1000 c0 T stream 60 210\n"
			     "1000 c0 - R > T\n"
			     "end  2000\n";

/* S has bytes 10 to 59 in its queue from 5250 to 5700, and writes 200 to 299 at 5900. */
static const char server[] =
	"thread S *\n"
	"0    c0 - R > S\n"
	"5900 c0 S request tcp::80 conn=1 arrived=5250 taken=5700 read=50 wrote=100 stack=send\n"
	"5900 c0 S stream 200 10 10.0.0.1:4000<10.0.0.2:80\n"
	"6500 c0 S request tcp::80 conn=1 arrived=6300 taken=6300 read=50 wrote=100 stack=send\n"
	"6500 c0 S stream 300 60 10.0.0.1:4000<10.0.0.2:80\n"
	"end  7000\n";

static const char not_joined[] = "T;ask;[tcp];--;ready;net_rx_action;"
				 "[network];[tcp] 900\n";

#define ASKED "T;ask;[tcp];--;ready;net_rx_action;[network];[tcp]"

static void the_example(void **state)
{
	(void)state;
	folds(client, server,
	      ASKED " 250\n" ASKED ";[on b];[request tcp :80] S;--;send;S;[running] 200\n" ASKED
		    ";[on b];[request tcp :80] S;[queued];--;[unknown stack];S;[running] 450\n");
}

static void a_tree_goes_on_at_the_other_machine(void **state)
{
	(void)state;
	expect_text(scripts_shown((const char *[]) { client, server }, 2, "tree"),
		    "T (120)\n"
		    "  +0.000100000 s  slept 900.000 us (S) for tcp 10.0.0.2:80\n"
		    "    in ask\n"
		    "    woken by the network (net_rx_action) for tcp 10.0.0.2:80: 900.000 us\n"
		    "      in ready < net_rx_action\n"
		    "      of that b had the request for 650.000 us: [request tcp :80] S\n"
		    "        queued: 450.000 us\n"
		    "          read by S (119), which ran 450.000 us\n"
		    "        answered by S (119), which ran 200.000 us\n"
		    "          in send\n");
}

/* One line for the wait; its pieces that the other machine explains have pieces of their own. */
static void json_goes_on_at_the_other_machine(void **state)
{
	(void)state;
#define WOKEN                                                                                 \
	"{\"links\":[{\"name\":null,\"tid\":null,\"pid\":null,\"context\":\"interrupt\","     \
	"\"handler\":\"net_rx_action\",\"stack\":{\"user\":[],\"kernel\":[\"net_rx_action\"," \
	"\"ready\"]}}]"                                                                       \
	",\"end\":\"network\","
#define SOCKET ",\"socket\":{\"class\":\"tcp\",\"name\":\"10.0.0.2:80\"}"
#define BY_S(stack)                                                                           \
	"\"links\":[{\"name\":\"S\",\"tid\":119,\"pid\":119,\"context\":\"task\",\"stack\":{" \
	"\"user\":[],"                                                                        \
	"\"kernel\":[" stack "]}}],\"end\":\"running\","
	expect_text(
		scripts_shown((const char *[]) { client, server }, 2, "json"),
		"{\"tid\":120,\"pid\":120,\"name\":\"T\",\"start\":100000,\"wake\":1000000,"
		"\"end\":1000000,\"kind\":\"sleep\",\"state\":\"S\",\"flags\":[],\"blocked\":"
		"900000,"
		"\"runnable\":0,\"preempted\":0,\"object\":{\"class\":\"tcp\",\"name\":\"10.0.0.2:"
		"80\"},"
		"\"stack\":{\"user\":[\"ask\"],\"kernel\":[]},\"pieces\":[" WOKEN
		"\"ns\":650000" SOCKET ",\"remote\":{\"host\":\"b\",\"start\":5250000,"
		"\"request\":{\"endpoint\":\"tcp :80\",\"taken\":5700000,\"first_answer\":5900000,"
		"\"connection\":1,\"reader\":119,\"writer\":119,\"over\":450000,\"marks\":[]},"
		"\"pieces\":["
		"{\"labels\":[\"queued\"]," BY_S("") "\"ns\":450000},{" BY_S(
			"\"send\"") "\"ns\":200000}]}}," WOKEN "\"ns\":250000" SOCKET "}]}\n");
}

/* The script with one text in place of another. */
static char *with(const char *script, const char *old, const char *new)
{
	const char *at = strstr(script, old);
	char *text;

	MUST(at);
	MUST(asprintf(&text, "%.*s%s%s", (int)(at - script), script, new, at + strlen(old)) >= 0);
	return text;
}

static void does_not_join(const char *script, const char *old, const char *new)
{
	char *changed = with(script, old, new);
	bool is_client = script == client;

	folds(is_client ? changed : client, is_client ? server : changed, not_joined);
	free(changed);
}

static void what_does_not_fit_is_not_joined(void **state)
{
	(void)state;
	/* Another connection; the same machine; no byte of any answer. */
	does_not_join(server, "stream 200 10 10.0.0.1:4000", "stream 200 10 10.0.0.1:4001");
	does_not_join(server, "stream 200 10 10.0.0.1:4000<10.0.0.2:80",
		      "stream 200 10 127.0.0.1:4000<127.0.0.2:80");
	does_not_join(client, "stream 60 210", "stream 60 200");
	does_not_join(client, "stream 60 210", "stream 60 401");
	/* The clocks are not bounded from above; known to 0.95 ms only, for a sleep of 0.9 ms. */
	does_not_join(client, "stream 60 210", "stream 61 210");
	does_not_join(server, "taken=5700", "taken=5350");
	/* The next request came before this one was answered: the numbers are not what they seem.
	 */
	does_not_join(server, "arrived=6300 taken=6300", "arrived=5600 taken=5600");
	/* Many bytes: their numbers may be those of others. */
	does_not_join(server, "wrote=100 stack=send\n6500", "wrote=4294967295 stack=send\n6500");
}

/* Another one of the same addresses, with other numbers, is told apart; of 65 nothing is said. */
static void connections_of_the_same_addresses(void **state)
{
	static const unsigned int others[] = { 1, 62, 63, 64 };

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		char lines[64 * 200] = "end  7000\n", *b;
		size_t len = 0;

		for (unsigned int k = 0; k < others[i]; k++)
			len += (size_t)snprintf(
				lines + len, sizeof(lines) - len,
				"%u c0 S request tcp::80 conn=%u read=50 wrote=100\n"
				"%u c0 S stream %u 10 10.0.0.1:4000<10.0.0.2:80\n",
				6510 + k, 2 + k, 6510 + k, 1000 + 200 * k);
		snprintf(lines + len, sizeof(lines) - len, "end  7000\n");
		b = with(server, "end  7000\n", lines);
		folds(client, b,
		      others[i] == 64 ? not_joined
				      : ASKED
			      " 250\n" ASKED
			      ";[on b];[request tcp :80] S;--;send;S;[running] 200\n" ASKED
			      ";[on b];[request tcp :80] S;[queued];--;"
			      "[unknown stack];S;[running] 450\n");
		free(b);
	}
	/* Nor if two have the byte. */
	does_not_join(server, "end  7000\n",
		      "6600 c0 S request tcp::80 conn=2 read=50 wrote=100\n"
		      "6600 c0 S stream 150 10 10.0.0.1:4000<10.0.0.2:80\n"
		      "end  7000\n");
}

/* When it arrived is not known, but when it was read. */
static void a_pipelined_request_bounds_by_its_read(void **state)
{
	char *b = with(server, "arrived=6300 taken=6300", "arrived=5600 taken=6500 pipelined");

	(void)state;
	folds(client, b,
	      ASKED " 250\n" ASKED ";[on b];[request tcp :80] S;--;send;S;[running] 200\n" ASKED
		    ";[on b];[request tcp :80] S;[queued];--;[unknown stack];S;[running] 450\n");
	free(b);
}

static void numbers_wrap_around(void **state)
{
	char *a = with(client, "stream 60 210", "stream 4 2"), *b, *c;

	(void)state;
	b = with(server, "stream 200 10", "stream 4294967290 4294967250");
	c = with(b, "stream 300 60", "stream 94 4");
	folds(a, c,
	      ASKED " 250\n" ASKED ";[on b];[request tcp :80] S;--;send;S;[running] 200\n" ASKED
		    ";[on b];[request tcp :80] S;[queued];--;[unknown stack];S;[running] 450\n");
	free(a);
	free(b);
	free(c);
}

/* ---- three machines ------------------------------------------------------------------------- */

/* a waits for b, whose S waits for c, whose D runs; clocks are 5 and 20 ms ahead of a's. */
static void a_chain_goes_through_several_machines(void **state)
{
	static const char middle[] =
		"thread S *\n"
		"0    c0 - R > S\n"
		"5300 c0 S S > - query for=tcp:10.0.0.3:5432<10.0.0.2:5000\n"
		"5800 c0 - wakes! S ready;net_rx_action\n"
		"5800 c0 S stream 1020 2001\n"
		"5800 c0 - R > S\n"
		"5900 c0 S request tcp::80 conn=1 arrived=5200 taken=5200 read=50 wrote=100 "
		"stack=send\n"
		"5900 c0 S stream 200 10 10.0.0.1:4000<10.0.0.2:80\n"
		"6500 c0 S request tcp::80 conn=1 arrived=6200 taken=6200 read=50 wrote=100\n"
		"6500 c0 S stream 300 60 10.0.0.1:4000<10.0.0.2:80\n"
		"end  7000\n";
	static const char last[] =
		"thread D *\n"
		"0     c0 - R > D\n"
		"20750 c0 D request tcp::5432 conn=1 arrived=20400 taken=20600 read=20 wrote=10 "
		"stack=reply\n"
		"20750 c0 D stream 2000 1000 10.0.0.2:5000<10.0.0.3:5432\n"
		"21500 c0 D request tcp::5432 conn=1 arrived=21000 taken=21000 read=20 wrote=10\n"
		"21500 c0 D stream 2010 1020 10.0.0.2:5000<10.0.0.3:5432\n"
		"end   22000\n";

	(void)state;
	/* a and b: 4800 to 5200 apart (S slept until 5800); b and c: 14800 to 15200. */
	expect_text(scripts_shown((const char *[]) { client, middle, last }, 3, "folded"),
		    ASKED " 200\n" ASKED ";[on b];[request tcp :80] S;--;send;S;--;ready;"
			  "net_rx_action;[network];[tcp] 150\n" ASKED
			  ";[on b];[request tcp :80] S;--;send;S;--;ready;net_rx_action;"
			  "[network];[tcp];[on c];[request tcp :5432] D;--;"
			  "reply;D;[running] 150\n" ASKED
			  ";[on b];[request tcp :80] S;--;send;S;--;ready;net_rx_action;"
			  "[network];[tcp];[on c];[request tcp :5432] D;"
			  "[queued];--;[unknown stack];D;[running] 200\n" ASKED
			  ";[on b];[request tcp :80] S;--;send;S;[running] 200\n");
}

/* ---- at random, with a truth ----------------------------------------------------------------- */

enum { CONNECTIONS = 4, ROUNDS = 100 };

/* A request, by A's clock; B's shows there_ns(). */
struct truth {
	uint64_t out, arrival, taken, answer, wake;
	uint32_t connection;
	bool wrong; /* the trace says numbers that are none of the answer's */
};

struct world {
	struct truth at[CONNECTIONS * ROUNDS];
	size_t n;
	uint64_t state;
	int64_t ahead;	 /* of B's clock, at 0 */
	int64_t drift;	 /* ns in a second */
	uint32_t forged; /* 1 in so many numbers is wrong; 0: none */
};

static uint64_t random_below(struct world *w, uint64_t limit)
{
	w->state = w->state * 6364136223846793005u + 1442695040888963407u;
	return (w->state >> 33) % limit;
}

static int64_t true_ahead(const struct world *w, uint64_t ns)
{
	return w->ahead + (int64_t)ns / 1000 * w->drift / 1000000;
}

static uint64_t there_ns(const struct world *w, uint64_t ns)
{
	return ns + (uint64_t)true_ahead(w, ns);
}

static void running_thread(struct synth *m, uint32_t cpu, uint32_t tid)
{
	synth_thread_full(m, &(struct encoder_thread) {
				     .tid = tid,
				     .tgid = tid,
				     .flags = CHAINLOG_THREAD_RUNNING,
				     .state = 'R',
				     .name = encoder_text(synth_encoder(m), "thread"),
			     });
	synth_switch(m, cpu, 1, 0, 'R', tid, "");
}

/* One client asks and one server answers, at a connection of their own. */
static void converse(struct world *w, struct synth *a, struct synth *b, uint32_t c)
{
	uint32_t client_seq = (uint32_t)random_below(w, UINT32_MAX);
	uint32_t server_seq = (uint32_t)random_below(w, UINT32_MAX), tid = 200 + c;
	uint64_t now = 1000000 + random_below(w, 1000000);
	char here[64], there[64];

	snprintf(here, sizeof(here), "10.0.0.2:80<10.0.0.1:%u", 4000 + c);
	snprintf(there, sizeof(there), "10.0.0.1:%u<10.0.0.2:80", 4000 + c);
	running_thread(a, c, tid);
	running_thread(b, c, tid);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint64_t asked = 1 + random_below(w, 500), answered = 1 + random_below(w, 9000);
		struct truth t = { .connection = c };
		uint32_t wrong = w->forged && !random_below(w, w->forged) ? 1u << 20 : 0;

		now += random_below(w, 300000); /* it thinks, and asks */
		t.out = now + 1 + random_below(w, 3000);
		t.arrival = now + 10000 + random_below(w, 100000);
		if (t.arrival < t.out)
			t.arrival = t.out;
		t.taken = t.arrival + random_below(w, 50000);
		t.answer = t.taken + random_below(w, random_below(w, 10) ? 100000 : 5000000);
		t.wake = t.answer + 10000 + random_below(w, 100000);
		now = t.wake + 1000;
		synth_request(b, c, there_ns(w, t.answer), tid,
			      &(struct synth_request) { .class = "tcp",
							.name = ":80",
							.connection = c + 1,
							.reader = tid,
							.arrival_ns = there_ns(w, t.arrival),
							.taken_ns = there_ns(w, t.taken),
							.first_ns = there_ns(w, t.answer),
							.answer_ns = there_ns(w, t.answer),
							.bytes_read = asked,
							.bytes_written = answered });
		synth_stream(b, c, there_ns(w, t.answer), tid, server_seq, client_seq, there);
		client_seq += (uint32_t)asked;
		synth_switch(a, c, t.out, tid, 'S', 0, "ask");
		synth_waits_for(a, c, t.out, "tcp", here);
		synth_waking_full(a, c, t.wake, CHAINLOG_WAKING | CHAINLOG_F_OFF_QUEUE, 0, tid,
				  "ready;net_rx_action", "");
		synth_stream(a, c, t.wake, tid, client_seq,
			     wrong + server_seq + 1 + (uint32_t)random_below(w, answered), "");
		synth_switch(a, c, t.wake + 1000, 0, 'R', tid, "");
		server_seq += (uint32_t)answered;
		t.wrong = wrong;
		w->at[w->n++] = t;
	}
}

static const struct remote_answer *answer_at(const struct timelines *tl, const struct truth *t)
{
	for (size_t i = 0; tl->remote && i < tl->remote->n; i++)
		if (tl->remote->at[i].wait->out_ns == t->out &&
		    tl->remote->at[i].wait->wake_ns == t->wake)
			return &tl->remote->at[i];
	return NULL;
}

/* What the messages say of B's clock at ns, each for itself. */
static void naive_bounds(const struct world *w, uint64_t ns, int64_t *low, int64_t *high)
{
	*low = INT64_MIN;
	*high = INT64_MAX;
	for (size_t i = 0; i < w->n; i++) {
		const struct truth *t = &w->at[i], *next = NULL;
		int64_t far = (int64_t)(t->wake > ns ? t->wake - ns : ns - t->wake);
		int64_t l, h;

		if (t->wrong)
			continue;
		for (size_t k = 0; k < w->n; k++)
			if (w->at[k].connection == t->connection && w->at[k].out > t->out &&
			    (!next || w->at[k].out < next->out))
				next = &w->at[k];
		l = (int64_t)(there_ns(w, t->taken) - t->wake) - far / 1000;
		if (l > *low)
			*low = l;
		if (!next)
			continue;
		h = (int64_t)(there_ns(w, next->arrival) - t->wake) + far / 1000;
		if (h < *high)
			*high = h;
	}
}

static void check_world(struct world *w)
{
	struct synth *made[2] = { synth_new(), synth_new() };
	size_t joined = 0, expected = 0, right = 0;
	struct machines m;

	for (uint32_t c = 0; c < CONNECTIONS; c++)
		converse(w, made[0], made[1], c);
	synth_end(made[0], 10000000000);
	synth_end(made[1], there_ns(w, 10000000000));
	join(&m, made, 2);
	for (size_t i = 0; i < w->n; i++) {
		const struct truth *t = &w->at[i];
		const struct remote_answer *r = answer_at(m.timelines[0], t);
		int64_t low, high, truth = true_ahead(w, t->wake);

		if (t->wrong) {
			assert_null(r);
			continue;
		}
		right++;
		naive_bounds(w, t->wake, &low, &high);
		assert_true(low <= truth && truth <= high);
		/* Drift is rounded up at each of the messages between: by up to 1 ns. */
		if (high - low + 2 * CONNECTIONS * ROUNDS < (int64_t)(t->wake - t->out)) {
			expected++;
			assert_non_null(r);
		}
		if (!r)
			continue;
		joined++;
		assert_true(high - low <= (int64_t)(t->wake - t->out));
		assert_int_equal(timelines_request(m.timelines[1], r->request)->answer_ns,
				 there_ns(w, t->answer));
		assert_true(llabs(r->ahead_ns - (low + (high - low) / 2)) <= CONNECTIONS * ROUNDS);
		assert_true(llabs(r->ahead_ns - truth) <= (high - low) / 2 + CONNECTIONS * ROUNDS);
		assert_true(r->from_ns >= t->out && r->to_ns <= t->wake);
	}
	assert_true(expected > w->n / 20);
	assert_int_equal(m.n_pairs, 1);
	assert_int_equal(m.pairs[0].answers, right);
	assert_int_equal(m.pairs[0].contradicting, 0);
	assert_true(m.pairs[0].joined >= joined);
	part(&m);
}

static void clocks_are_apart_and_drift(void **state)
{
	static const int64_t ahead[] = { 0, 3000000000, -900000, 86400000000000 };
	static const int64_t drift[] = { 0, 100000, -100000, 500000 };

	(void)state;
	for (uint32_t i = 0; i < 16; i++) {
		struct world *w = calloc(1, sizeof(*w));

		*w = (struct world) { .state = i, .ahead = ahead[i % 4], .drift = drift[i / 4] };
		check_world(w);
		free(w);
	}
}

static void wrong_numbers_join_nothing_wrong(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		struct world *w = calloc(1, sizeof(*w));

		*w = (struct world) { .state = 100 + i, .ahead = 5000000000, .forged = 5 };
		check_world(w);
		free(w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_example),
		cmocka_unit_test(a_tree_goes_on_at_the_other_machine),
		cmocka_unit_test(json_goes_on_at_the_other_machine),
		cmocka_unit_test(what_does_not_fit_is_not_joined),
		cmocka_unit_test(connections_of_the_same_addresses),
		cmocka_unit_test(a_pipelined_request_bounds_by_its_read),
		cmocka_unit_test(numbers_wrap_around),
		cmocka_unit_test(a_chain_goes_through_several_machines),
		cmocka_unit_test(clocks_are_apart_and_drift),
		cmocka_unit_test(wrong_numbers_join_nothing_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
