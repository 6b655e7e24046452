// SPDX-License-Identifier: GPL-2.0-or-later
/* The waits and the requests that took too long, as a trigger sees them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

#include "common/encoder.h"
#include "flight/definitions.h"
#include "flight/trigger.h"

#define MS 1000000u

struct fixture {
	struct event_window window;
	struct definitions definitions;
	struct id_map *ids;
	struct encoder *enc;
	struct trigger *trigger;
	uint64_t from_ns; /* when a trace would begin */
};

static void begin_with(struct fixture *f, const struct trigger_options *o)
{
	char why[64];

	struct definition_store store;

	*f = (struct fixture) { 0 };
	store = definitions_store(&f->definitions);
	assert_int_equal(id_map_new(&f->ids, &store, NULL), 0);
	assert_int_equal(encoder_new(&f->enc, event_window_put, &f->window), 0);
	assert_int_equal(trigger_new(&f->trigger, o, why, sizeof(why)), 0);
}

static void begin(struct fixture *f, uint64_t limit_ns, const char *comm)
{
	begin_with(f, &(struct trigger_options) { .wait_ns = limit_ns, .comm = comm });
}

static void end(struct fixture *f)
{
	trigger_free(f->trigger);
	encoder_free(f->enc);
	event_window_free(&f->window);
	id_map_free(f->ids);
	definitions_free(&f->definitions);
}

static void thread_is_there(struct fixture *f, uint32_t tid, const char *name, uint32_t flags)
{
	struct thread_state t = { .tid = tid, .flags = flags, .doing = THREAD_RUNNING };

	snprintf(t.name, sizeof(t.name), "%s", name);
	assert_non_null(threads_add(trigger_threads(f->trigger), &t));
}

static void on_cpu(struct fixture *f, uint32_t cpu, uint64_t ms, uint32_t prev, char state,
		   uint32_t next)
{
	assert_int_equal(encoder_event(f->enc, &(struct event) { .time_ns = ms * MS,
								 .cpu = cpu,
								 .kind = CHAINLOG_SWITCH,
								 .tid = prev,
								 .state = state,
								 .other = next }),
			 0);
}

/* What is seen in all that was put; took_ns 0: nothing. */
static struct trigger_event seen(struct fixture *f)
{
	const struct trigger_names names = { &f->definitions, f->ids };
	struct trigger_event e = { 0 };

	assert_int_equal(encoder_flush(f->enc), 0);
	assert_int_equal(trigger_look(f->trigger, &f->window, &names, f->from_ns, UINT64_MAX), 0);
	if (trigger_take(f->trigger, &e))
		assert_int_not_equal(e.took_ns, 0);
	return e;
}

/* The wait that is seen, in ms; 0: none. */
static uint64_t seen_ms(struct fixture *f, uint32_t *tid)
{
	struct trigger_event e = seen(f);

	if (!e.took_ns)
		return 0;
	assert_false(e.is_request);
	*tid = e.tid;
	return e.took_ns / MS;
}

/* ---- waits --------------------------------------------------------------------------------- */

TEST(a_wait_is_blocked_and_runnable_time_across_cpus)
{
	struct fixture f;
	uint32_t tid;

	begin(&f, 500 * MS, NULL);
	/* Told by CPU, as rings are drained: the end of the wait before its beginning. */
	on_cpu(&f, 0, 900, 5, 'S', 7);
	on_cpu(&f, 1, 200, 7, 'S', 6);
	assert_int_equal(encoder_event(f.enc, &(struct event) { .time_ns = 300 * MS,
								.cpu = 1,
								.kind = CHAINLOG_WAKING,
								.tid = 6,
								.other = 7 }),
			 0);
	assert_int_equal(seen_ms(&f, &tid), 700);
	assert_int_equal(tid, 7);
	assert_int_equal(seen_ms(&f, &tid), 0);
	end(&f);
}

TEST(neither_preemption_nor_a_short_wait_nor_a_sleep_that_lasts_counts)
{
	struct fixture f;
	uint32_t tid;

	begin(&f, 500 * MS, NULL);
	on_cpu(&f, 0, 100, 7, 'R', 8); /* preempted for 800 ms */
	on_cpu(&f, 0, 900, 8, 'S', 7);
	on_cpu(&f, 0, 1000, 7, 'S', 0); /* 500 ms: not longer */
	on_cpu(&f, 0, 1500, 0, 'R', 7);
	on_cpu(&f, 0, 1600, 7, 'S', 0); /* does not end */
	assert_int_equal(seen_ms(&f, &tid), 0);
	on_cpu(&f, 0, 2200, 0, 'R', 7);
	assert_int_equal(seen_ms(&f, &tid), 600);
	end(&f);
}

TEST(only_threads_with_the_name_count)
{
	struct fixture f;
	uint32_t tid;

	begin(&f, 500 * MS, "^nginx");
	thread_is_there(&f, 7, "mysqld", 0);
	thread_is_there(&f, 8, "nginx-worker", 0);
	on_cpu(&f, 0, 100, 7, 'S', 0);
	on_cpu(&f, 1, 100, 8, 'S', 0);
	on_cpu(&f, 0, 1100, 0, 'R', 7);
	on_cpu(&f, 1, 900, 0, 'R', 8);
	assert_int_equal(seen_ms(&f, &tid), 800);
	assert_int_equal(tid, 8);
	end(&f);
}

TEST(kernel_threads_count_only_by_name)
{
	struct fixture f;
	uint32_t tid;

	for (int named = 0; named < 2; named++) {
		begin(&f, 500 * MS, named ? "kworker" : NULL);
		thread_is_there(&f, 7, "kworker/0:1", CHAINLOG_THREAD_KTHREAD);
		on_cpu(&f, 0, 100, 7, 'I', 0);
		on_cpu(&f, 0, 900, 0, 'R', 7);
		assert_int_equal(seen_ms(&f, &tid), named ? 800 : 0);
		end(&f);
	}
}

TEST(a_wait_with_a_hole_in_it_is_not_trusted)
{
	struct fixture f;
	uint32_t tid;

	begin(&f, 500 * MS, NULL);
	on_cpu(&f, 0, 100, 7, 'S', 0);
	threads_lost(trigger_threads(f.trigger), 300 * MS);
	on_cpu(&f, 0, 900, 0, 'R', 7);
	assert_int_equal(seen_ms(&f, &tid), 0);
	end(&f);
}

TEST(while_it_is_quiet_nothing_counts)
{
	struct fixture f;
	uint32_t tid;

	begin(&f, 500 * MS, NULL);
	trigger_quiet(f.trigger, 1000 * MS);
	on_cpu(&f, 0, 100, 7, 'S', 0);
	on_cpu(&f, 0, 900, 0, 'R', 7);
	assert_int_equal(seen_ms(&f, &tid), 0);
	on_cpu(&f, 0, 950, 7, 'S', 0);
	on_cpu(&f, 0, 1600, 0, 'R', 7);
	assert_int_equal(seen_ms(&f, &tid), 650);
	end(&f);
}

TEST(a_bad_expression_is_refused_with_a_reason)
{
	struct trigger *t;
	char why[64] = "";

	assert_int_equal(trigger_new(&t, &(struct trigger_options) { .wait_ns = MS, .comm = "[" },
				     why, sizeof(why)),
			 -EINVAL);
	assert_true(strlen(why) > 3);
}

/* ---- requests ------------------------------------------------------------------------------ */

/* A trigger of requests: "200" for any, "tcp :80=200", "GET /cart=200" for some, in ms. */
static void begin_requests(struct fixture *f, const char *first, const char *second)
{
	struct trigger_options o = { 0 };

	for (const char *s = first; s; s = s == first ? second : NULL) {
		const char *equals = strchr(s, '=');

		o.requests[o.n_requests++] = (struct trigger_request) {
			.what = equals ? s : NULL,
			.what_len = equals ? (size_t)(equals - s) : 0,
			.limit_ns = strtoull(equals ? equals + 1 : s, NULL, 10) * MS,
		};
	}
	begin_with(f, &o);
}

static uint32_t endpoint(struct fixture *f, const char *class, const char *name)
{
	struct definition_store store = definitions_store(&f->definitions);
	struct object_text text = { 0 };
	uint32_t id = 0;

	snprintf(text.class, sizeof(text.class), "%s", class);
	snprintf(text.name, sizeof(text.name), "%s", name);
	assert_int_equal(store.object(store.ctx, &id, &text, MS), 0);
	return id;
}

/* The route of a request of HTTP for a path, which is not told yet. */
static uint32_t route(struct fixture *f, uint64_t connection, uint32_t endpoint, const char *path)
{
	struct wire_request_bytes r = { .request = { .connection = connection,
						     .hash = 1 + 2 * (__u64)(uint8_t)path[1],
						     .nth = 1 } };
	int n = snprintf(r.bytes, sizeof(r.bytes), "GET %s HTTP/1.1\r\n\r\n", path);

	r.request.n_bytes = (uint32_t)n;
	r.request.bytes_read = r.request.n_bytes;
	return id_map_route(f->ids, &r.request, endpoint);
}

/* Answered at answer_ms; the recorder may know later. */
static void answered_route(struct fixture *f, uint64_t told_ms, uint64_t connection,
			   uint32_t endpoint, uint64_t arrival_ms, uint64_t answer_ms,
			   uint32_t label)
{
	assert_int_equal(encoder_event(f->enc,
				       &(struct event) { .time_ns = told_ms * MS,
							 .kind = EVENT_REQUEST,
							 .request = { .endpoint = endpoint,
								      .connection = connection,
								      .arrival_ns = arrival_ms * MS,
								      .taken_ns = arrival_ms * MS,
								      .answer_ns = answer_ms * MS,
								      .label = label } }),
			 0);
}

static void answered(struct fixture *f, uint64_t told_ms, uint64_t connection, uint32_t endpoint,
		     uint64_t arrival_ms, uint64_t answer_ms)
{
	answered_route(f, told_ms, connection, endpoint, arrival_ms, answer_ms, 0);
}

/* More of the answer, until last_ms. */
static void more(struct fixture *f, uint64_t told_ms, uint64_t connection, uint64_t first_ms,
		 uint64_t last_ms)
{
	assert_int_equal(
		encoder_event(f->enc, &(struct event) { .time_ns = told_ms * MS,
							.kind = EVENT_REQUEST_MORE,
							.request = { .connection = connection,
								     .arrival_ns = first_ms * MS,
								     .answer_ns = last_ms * MS } }),
		0);
}

/* "tcp :80 231", "tcp :80 for GET /cart 231": what is seen, with its ms; "": nothing. */
static void expect_seen(struct fixture *f, const char *expected)
{
	struct trigger_event e = seen(f);
	char got[200] = "";

	if (e.took_ns)
		snprintf(got, sizeof(got), "%s%s%.*s %llu", e.name, e.route ? " for " : "",
			 (int)e.route_len, e.route ? e.route : "",
			 (unsigned long long)(e.took_ns / MS));
	assert_string_equal(got, expected);
	assert_int_equal(e.is_request, e.took_ns != 0);
}

TEST(a_request_longer_than_the_limit_counts_at_any_endpoint)
{
	struct fixture f;
	uint32_t web, db;

	begin_requests(&f, "200", NULL);
	web = endpoint(&f, "tcp", ":80");
	db = endpoint(&f, "unix", "/run/db.sock");
	answered(&f, 300, 1, web, 100, 300); /* 200 ms: not longer */
	expect_seen(&f, "");
	answered(&f, 531, 1, web, 300, 531);
	expect_seen(&f, "tcp :80 231");
	expect_seen(&f, "");
	answered(&f, 1000, 2, db, 700, 990);
	answered(&f, 1001, 3, web, 750, 1001);
	expect_seen(&f, "unix /run/db.sock 290");
	/* A datagram's, which have no connection, and one whose endpoint is not known. */
	answered(&f, 2000, 0, endpoint(&f, "udp", ":53"), 1000, 2000);
	expect_seen(&f, "udp :53 1000");
	answered(&f, 3000, 4, 0, 2000, 3000);
	expect_seen(&f, "unknown 1000");
	end(&f);
}

TEST(an_endpoint_has_its_own_limit)
{
	struct fixture f;
	uint32_t web, other;

	begin_requests(&f, "tcp :80=200", NULL);
	web = endpoint(&f, "tcp", ":80");
	other = endpoint(&f, "tcp", ":8080");
	answered(&f, 1000, 1, other, 100, 1000);
	expect_seen(&f, "");
	answered(&f, 1001, 2, web, 700, 1001);
	expect_seen(&f, "tcp :80 301");
	end(&f);

	/* A longer one than the others, in whatever order they are given. */
	for (int i = 0; i < 2; i++) {
		begin_requests(&f, i ? "200" : "tcp :80=600", i ? "tcp :80=600" : "200");
		web = endpoint(&f, "tcp", ":80");
		other = endpoint(&f, "tcp", ":8080");
		answered(&f, 1000, 1, web, 500, 1000);
		expect_seen(&f, "");
		answered(&f, 1001, 2, other, 700, 1001);
		expect_seen(&f, "tcp :8080 301");
		answered(&f, 2000, 1, web, 1300, 2000);
		expect_seen(&f, "tcp :80 700");
		end(&f);
	}
}

/* Before its words are told, and after; what is said is what the options say. */
TEST(a_route_has_its_own_limit)
{
	struct fixture f;
	uint32_t web, other, alice, cart, bare;

	begin_requests(&f, "GET /users/*=200", "tcp :80 GET /cart=500");
	web = endpoint(&f, "tcp", ":80");
	other = endpoint(&f, "tcp", ":81");
	alice = route(&f, 1, web, "/users/alice");
	cart = route(&f, 1, web, "/cart");
	assert_int_not_equal(alice, 0);
	for (uint64_t ms = 1000; ms <= 3000; ms += 1000) {
		answered_route(&f, ms, 1, web, ms - 190, ms, alice);
		answered_route(&f, ms, 1, web, ms - 400, ms, cart);
		answered_route(&f, ms, 1, other, ms - 600, ms, cart);
		answered(&f, ms, 1, web, ms - 900, ms);
		expect_seen(&f, "");
		answered_route(&f, ms + 1, 1, web, ms - 230, ms + 1, alice);
		expect_seen(&f, "tcp :80 for GET /users/* 231");
		answered_route(&f, ms + 2, 1, web, ms - 600, ms + 2, cart);
		expect_seen(&f, "tcp :80 for GET /cart 602");
		answered_route(&f, ms + 3, 7, web, ms, ms + 3, alice);
		more(&f, ms + 600, 7, ms + 3, ms + 300);
		expect_seen(&f, "tcp :80 for GET /users/* 300");
		assert_int_equal(id_map_settle_objects(f.ids), 0);
	}
	/* One that a program says, not by its bytes. */
	bare = endpoint(&f, "route", "GET /users/*");
	answered_route(&f, 4000, 2, other, 3700, 4000, bare);
	expect_seen(&f, "tcp :81 for GET /users/* 300");
	answered_route(&f, 5000, 2, other, 4000, 5000, endpoint(&f, "label", "GET /users/*"));
	expect_seen(&f, "");
	end(&f);
}

/* That of both before that of the route, and that before the endpoint's. */
TEST(the_limit_that_says_most_holds)
{
	static const char *const limits[] = { "tcp :80=100", "GET /cart=200",
					      "tcp :80 GET /cart=300" };
	struct fixture f;
	uint32_t web, cart;

	for (int i = 0; i < 4; i++) {
		begin_requests(&f, limits[i % 2 + (i / 2)], limits[(i + 1) % 2 + (i / 2)]);
		web = endpoint(&f, "tcp", ":80");
		cart = route(&f, 1, web, "/cart");
		answered_route(&f, 1000, 1, web, i < 2 ? 850 : 750, 1000, cart);
		expect_seen(&f, "");
		answered_route(&f, 2000, 1, web, i < 2 ? 1750 : 1650, 2000, cart);
		expect_seen(&f, i < 2 ? "tcp :80 for GET /cart 250" : "tcp :80 for GET /cart 350");
		end(&f);
	}
}

TEST(an_answer_that_goes_on_counts_to_its_last_write)
{
	struct fixture f;
	uint32_t web;

	begin_requests(&f, "200", NULL);
	web = endpoint(&f, "tcp", ":80");
	answered(&f, 150, 1, web, 100, 150);
	answered(&f, 160, 2, web, 100, 160);
	expect_seen(&f, "");
	/* Known when the next request is read. */
	more(&f, 900, 1, 150, 310);
	more(&f, 900, 2, 160, 290);
	expect_seen(&f, "tcp :80 210");
	end(&f);
}

TEST(more_of_an_unknown_answer_does_not_count)
{
	struct fixture f;
	uint32_t web;

	begin_requests(&f, "200", NULL);
	web = endpoint(&f, "tcp", ":80");
	answered(&f, 150, 1, web, 100, 150);
	/* Of a request whose first event was lost, and of another connection. */
	more(&f, 900, 1, 200, 800);
	more(&f, 900, 1 + (1u << 16), 150, 800);
	expect_seen(&f, "");
	/* A trace would not have the request any more. */
	f.from_ns = 151 * MS;
	more(&f, 1000, 1, 150, 1000);
	expect_seen(&f, "");
	f.from_ns = 150 * MS;
	more(&f, 1001, 1, 150, 1001);
	expect_seen(&f, "tcp :80 901");
	end(&f);
}

TEST(requests_that_end_while_it_is_quiet_do_not_count)
{
	struct fixture f;
	uint32_t web;

	begin_requests(&f, "200", NULL);
	web = endpoint(&f, "tcp", ":80");
	answered(&f, 900, 1, web, 100, 900);
	expect_seen(&f, "tcp :80 800");
	trigger_quiet(f.trigger, 2000 * MS);
	answered(&f, 1900, 2, web, 100, 1900);
	/* The rest of the first one's answer, which is known late. */
	more(&f, 3000, 1, 900, 950);
	expect_seen(&f, "");
	answered(&f, 3000, 2, web, 2500, 3000);
	expect_seen(&f, "tcp :80 500");
	end(&f);
}

TEST(requests_count_only_if_asked_for)
{
	struct fixture f;
	uint32_t tid;

	begin(&f, 200 * MS, NULL);
	answered(&f, 1000, 1, endpoint(&f, "tcp", ":80"), 100, 1000);
	more(&f, 1000, 1, 1000, 1000);
	assert_int_equal(seen_ms(&f, &tid), 0);
	end(&f);
	/* Nor do waits then. */
	begin_requests(&f, "200", NULL);
	on_cpu(&f, 0, 100, 7, 'S', 0);
	on_cpu(&f, 0, 1100, 0, 'R', 7);
	expect_seen(&f, "");
	end(&f);
}
