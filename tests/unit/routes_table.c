// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The routes of endpoints: which of their words are told, which protocol an endpoint speaks, and
 * which statement is executed.
 */

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "routes/bytes.h"
#include "routes/route_like.h"
#include "routes/route_settle.h"
#include "routes/route_table.h"

#define IDS_MAX 20000u

/* A store that keeps the texts, and counts how often each was told. */
struct told {
	char text[IDS_MAX][ROUTE_NAME_MAX]; /* by id; "": not told */
	enum route_protocol protocol[IDS_MAX];
	uint32_t n;
	struct route_table *table;
};

static uint32_t reserve(void *ctx)
{
	struct told *t = ctx;

	assert_true(t->n + 1 < IDS_MAX);
	return ++t->n;
}

static int define(void *ctx, uint32_t id, enum route_protocol protocol, const char *text)
{
	struct told *t = ctx;

	assert_in_range(id, 1, t->n);
	assert_string_equal(t->text[id], ""); /* what was told stays told */
	assert_string_not_equal(text, "");
	snprintf(t->text[id], sizeof(t->text[id]), "%s", text);
	t->protocol[id] = protocol;
	return 0;
}

static struct told *new_table(void)
{
	struct told *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	assert_int_equal(route_table_new(&t->table, &(struct route_store) { reserve, define, t }),
			 0);
	return t;
}

static void free_table(struct told *t)
{
	route_table_free(t->table);
	free(t);
}

/* The id of the route of n bytes, which are the nth request of a connection. */
static uint32_t ask_bytes(struct told *t, uint32_t endpoint, uint64_t connection, uint32_t nth,
			  const void *bytes, size_t n)
{
	struct route r;
	struct route_request request = { bytes, n < ROUTE_BYTES ? n : ROUTE_BYTES, n };

	route_parse(&r, &request);
	return route_table_id(t->table, &(struct route_asked) { .endpoint = endpoint,
								.connection = connection,
								.nth = nth,
								.request = &request,
								.r = &r });
}

/* A request of which nothing is known. */
static void miss(struct told *t, uint32_t endpoint, uint64_t connection, uint32_t nth)
{
	struct route_asked asked = { .endpoint = endpoint, .connection = connection, .nth = nth };

	assert_int_equal(route_table_id(t->table, &asked), 0);
}

static uint32_t ask(struct told *t, uint32_t endpoint, uint64_t connection, const char *text)
{
	return ask_bytes(t, endpoint, connection, 2, text, strlen(text));
}

/* GET of a path, n times, by connections from `connection` on, at most two. */
static uint32_t get(struct told *t, uint64_t connection, unsigned int n, const char *path)
{
	char text[200];
	uint32_t id = 0;

	snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\n\r\n", path);
	for (unsigned int i = 0; i < n; i++)
		id = ask(t, 1, connection + i % 2, text);
	assert_int_not_equal(id, 0);
	return id;
}

static void expect(const struct told *t, uint32_t id, const char *text)
{
	assert_in_range(id, 1, t->n);
	assert_string_equal(t->text[id], text);
}

TEST(a_word_is_told_of_three_requests_on_two_connections)
{
	struct told *t = new_table();
	uint32_t twice = get(t, 1, 2, "/once"), alone = 0, often = get(t, 1, 3, "/cart/items");
	uint32_t deeper = get(t, 7, 1, "/cart/others"), number = get(t, 1, 1, "/quote/5");

	for (int i = 0; i < 9; i++)
		alone = ask(t, 1, 5, "GET /reset/correcthorse HTTP/1.1\r\n\r\n");
	assert_int_equal(get(t, 8, 1, "/cart/items"), often);
	for (uint32_t id = 1; id <= t->n; id++)
		assert_string_equal(t->text[id], "");
	assert_string_equal(route_table_asked(t->table, alone), "GET /reset/correcthorse");
	assert_string_equal(route_table_asked(t->table, often), "GET /cart/items");
	assert_null(route_table_asked(t->table, 0));
	assert_null(route_table_asked(t->table, t->n + 1));
	assert_int_equal(route_table_settle(t->table), 0);
	expect(t, twice, "GET /*");
	assert_int_equal(t->protocol[twice], ROUTE_HTTP);
	expect(t, alone, "GET /*/*");
	expect(t, often, "GET /cart/items");
	expect(t, deeper, "GET /cart/*");
	expect(t, number, "GET /*/*");
	/* Once more: nothing is told again. */
	assert_int_equal(route_table_settle(t->table), 0);
	free_table(t);
}

TEST(names_in_one_place_are_values)
{
	static const char *const syllables[] = { "ba", "de", "fi", "go", "lu", "ma", "ne" };
	struct told *t = new_table();
	uint32_t user[49], orders, search;

	for (int i = 0; i < 49; i++) {
		char path[60];

		snprintf(path, sizeof(path), "/users/%s%sna/orders", syllables[i / 7],
			 syllables[i % 7]);
		user[i] = get(t, 1, 4, path);
	}
	orders = get(t, 1, 100, "/users/all/orders");
	search = get(t, 1, 400, "/search");
	assert_int_equal(route_table_settle(t->table), 0);
	for (int i = 0; i < 49; i++)
		expect(t, user[i], "GET /users/*/orders");
	expect(t, orders, "GET /users/all/orders"); /* a third of all */
	expect(t, search, "GET /search");
	free_table(t);
}

/* Whoever asks for thousands of paths fills nothing but his endpoint, and that not for ever. */
TEST(what_strangers_ask_for_is_bounded)
{
	struct told *t = new_table();
	uint32_t cart = get(t, 1, 10, "/cart"), ids = 0, distinct = 0;
	char seen[IDS_MAX / 10][ROUTE_NAME_MAX] = { "" };

	for (uint32_t i = 0; i < 17576; i++) {
		char text[80];

		snprintf(text, sizeof(text), "GET /e%co%ca%ce/setup HTTP/1.1\r\n\r\n", 'a' + i % 26,
			 'a' + i / 26 % 26, 'a' + i / 676);
		ids += ask(t, 1, i, text) != 0;
		if (!(i % 100))
			assert_int_equal(get(t, 1, 3, "/cart"), cart);
	}
	assert_in_range(ids, ROUTES_OF_ENDPOINT - 1, 17576);
	/* Requests without a route, and those of routes that were forgotten. */
	assert_in_range(route_table_no_room(t->table), 17576 - ids + 1, 17576);
	assert_int_equal(route_table_settle(t->table), 0);
	for (uint32_t id = 1; id <= t->n; id++) {
		uint32_t k = 0;

		assert_string_not_equal(t->text[id], "");
		while (k < distinct && strcmp(seen[k], t->text[id]))
			k++;
		if (k == distinct)
			strcpy(seen[distinct++], t->text[id]);
	}
	assert_in_range(distinct, 1, 3);
	expect(t, cart, "GET /cart");
	free_table(t);
}

/* Three requests at an endpoint, on two connections; what the last one's route is. */
static uint32_t get_cart(struct told *t, uint32_t endpoint)
{
	uint32_t id = 0;

	for (uint64_t i = 0; i < 3; i++)
		id = ask(t, endpoint, i % 2 + 1, "GET /cart HTTP/1.1\r\n\r\n");
	return id;
}

/* Whatever ids they have. */
TEST(endpoints_do_not_push_each_other_out)
{
	struct told *t = new_table();
	uint32_t id[16];

	for (int round = 0; round < 5; round++)
		for (uint32_t i = 0; i < 16; i++) {
			uint32_t is = get_cart(t, 5 + i * 1024);

			assert_int_not_equal(is, 0);
			assert_true(!round || is == id[i]);
			id[i] = is;
		}
	assert_int_equal(route_table_no_room(t->table), 0);
	assert_int_equal(route_table_settle(t->table), 0);
	for (uint32_t i = 0; i < 16; i++)
		expect(t, id[i], "GET /cart");
	free_table(t);
}

/* Thousands of which little is asked cost those of which more is asked nothing; it is counted. */
TEST(endpoints_that_are_asked_stay)
{
	struct told *t = new_table();
	uint32_t id = get_cart(t, 7), ids = 0;

	for (uint32_t round = 0; round < 5; round++) {
		for (uint32_t i = 0; i < 3000; i++)
			ids += ask(t, 1000 + i, 9, "GET /cart HTTP/1.1\r\n\r\n") != 0;
		for (int i = 0; i < 8; i++)
			assert_int_equal(get_cart(t, 7), id);
	}
	assert_in_range(ids, 1000, 14999);
	assert_in_range(route_table_no_room(t->table), 15000 - ids, 15000);
	assert_int_equal(route_table_settle(t->table), 0);
	expect(t, id, "GET /cart");
	free_table(t);
}

#define NAMES 1600u

static double seconds_to_ask(char names[NAMES][40])
{
	struct told *t = new_table();
	clock_t begin = clock();

	for (int round = 0; round < 10; round++)
		for (uint32_t i = 0; i < NAMES; i++)
			assert_int_not_equal(ask(t, i / 400, 1, names[i]), 0);
	begin = clock() - begin;
	free_table(t);
	return (double)begin / CLOCKS_PER_SEC;
}

/* Names that a hash without a secret (FNV-1a) would put into one place take no longer. */
TEST(nobody_can_choose_names_of_one_place)
{
	static char alike[NAMES][40], others[NAMES][40];
	uint32_t n = 0, n_others = 0;

	for (uint32_t i = 0; n < NAMES; i++) {
		uint32_t word = i, h = 2166136261u ^ n / 400;
		char name[40] = "GET /";

		for (int at = 5; at < 13; at++, word /= 5)
			name[at] = at % 2 ? "bdfgl"[word % 5] : "aeiou"[word % 5];
		name[13] = (char)('a' + word % 26);
		for (int at = 0; name[at]; at++)
			h = (h ^ (uint8_t)name[at]) * 16777619u;
		strcat(name, " HTTP/1.1\r\n\r\n");
		if (!((h ^ h >> 15) % 8192))
			strcpy(alike[n++], name);
		else if (n_others < NAMES)
			strcpy(others[n_others++], name);
	}
	assert_true(seconds_to_ask(alike) < 2 * seconds_to_ask(others));
}

/* Plain requests have their routes, as other connections may be enciphered. */
TEST(what_is_enciphered_is_said_to_be)
{
	static const char hello[] = "\x16\3\1\2\0\1\0\1\xfc\3\3", data[] = "\x17\3\3\0\x20";
	struct told *t = new_table();
	uint32_t plain = get_cart(t, 1), handshake, rest = 0;

	/* Some of what looks so is not. */
	for (int i = 0; i < 7; i++)
		assert_int_equal(ask_bytes(t, 1, 5, 2, data, 5), 0);
	assert_int_equal(get_cart(t, 1), plain);
	assert_int_equal(ask_bytes(t, 1, 5, 2, data, 5), 0);
	handshake = ask_bytes(t, 1, 6, 1, hello, sizeof(hello) - 1);
	rest = ask_bytes(t, 1, 6, 2, "\x17\3\3\xff\xff", 5);
	assert_int_equal(get_cart(t, 1), plain);
	assert_int_equal(ask_bytes(t, 1, 5, 2, data, 5), rest);
	/* Older connections do not show how they began. */
	for (int i = 0; i < 8; i++)
		assert_true((ask_bytes(t, 2, 5, 2, data, 5) != 0) == (i == 7));
	assert_int_equal(route_table_settle(t->table), 0);
	expect(t, plain, "GET /cart");
	expect(t, handshake, "[TLS handshake]");
	expect(t, rest, "[TLS]");
	assert_int_equal(t->protocol[rest], ROUTE_TLS);
	free_table(t);
}

TEST(routes_are_asked_for_by_templates)
{
	static const struct {
		const char *name, *template;
		bool is_like;
	} is[] = {
		{ "GET /cart", "GET /cart", true },
		{ "GET /cart", "GET /car", false },
		{ "GET /car", "GET /cart", false },
		{ "GET /users/alice/orders", "GET /users/*/orders", true },
		{ "GET /users/*/orders", "GET /users/*/orders", true },
		{ "GET /users/a/b/orders", "GET /users/*/orders", false },
		{ "GET /users/alice", "GET /users/*/orders", false },
		{ "GET /users/alice", "* /users/*", true },
		{ "GET /static/app.js", "GET /static/*.js", true },
		{ "GET /static/app.css", "GET /static/*.js", false },
		{ "GET /", "GET /*", true },
		{ "SELECT events_*", "SELECT events_*", true },
		{ "SELECT orders", "*", false },
		{ "HGETALL", "*", true },
		{ "", "", true },
		{ "", "*", true },
	};

	for (size_t i = 0; i < sizeof(is) / sizeof(is[0]); i++)
		if (route_is_like(is[i].name, is[i].template, strlen(is[i].template)) !=
		    is[i].is_like)
			fail_msg("%s, %s", is[i].name, is[i].template);
	assert_true(route_is_like("GET", "GET=1s", 3));
	assert_true(route_may_be("GET /users/*", 12));
	assert_false(route_may_be("", 0));
	assert_false(route_may_be("[other]", 7));
	assert_false(route_may_be("GET /a?b", 8));
}

TEST(two_hundred_routes_of_an_endpoint_are_told)
{
	struct told *t = new_table();
	uint32_t n = 0, others = 0, most;

	/* Words in other places each, so that none has too many. */
	for (int a = 0; a < 20; a++)
		for (int b = 0; b < 20; b++) {
			char path[40];

			snprintf(path, sizeof(path), "/a%ce/o%cu", 'a' + a, 'a' + b);
			get(t, 1, 3, path);
		}
	most = get(t, 1, 50, "/aze/ozu");
	assert_int_equal(route_table_settle(t->table), 0);
	for (uint32_t id = 1; id <= t->n; id++)
		*(strcmp(t->text[id], "[other]") ? &n : &others) += 1;
	assert_int_equal(n, ROUTES_TOLD);
	assert_int_equal(n + others, 401);
	expect(t, most, "GET /aze/ozu");
	free_table(t);
}

TEST(an_endpoint_speaks_one_protocol)
{
	struct told *t = new_table();
	uint32_t id = 0;

	/* Weak signs alone: the ninth request is believed. */
	for (int i = 0; i < 7; i++)
		assert_int_equal(ask(t, 2, 1, "get somekey\r\n"), 0);
	assert_int_not_equal(ask(t, 2, 1, "get somekey\r\n"), 0);
	/* Others are no route, until there are too many. */
	assert_int_equal(ask(t, 2, 1, "GET /a HTTP/1.1\r\n\r\n"), 0);
	assert_int_not_equal(ask(t, 2, 1, "get other\r\n"), 0);
	for (int i = 0; i < 70 && !id; i++)
		id = ask(t, 2, 1, "GET /a HTTP/1.1\r\n\r\n");
	assert_int_not_equal(id, 0);
	free_table(t);
}

/* ---- statements ----------------------------------------------------------------------------- */

/* A command of MySQL, the nth request of the connection. */
static uint32_t mysql(struct told *t, uint64_t connection, uint32_t nth, uint8_t command,
		      const void *body, size_t n)
{
	uint8_t packet[200] = { (uint8_t)(n + 1), 0, 0, 0, command };

	memcpy(packet + 5, body, n);
	return ask_bytes(t, 3, connection, nth, packet, n + 5);
}

static uint32_t prepare(struct told *t, uint64_t connection, uint32_t nth, const char *sql)
{
	return mysql(t, connection, nth, 0x16, sql, strlen(sql));
}

static uint32_t execute(struct told *t, uint64_t connection, uint32_t nth, uint8_t number)
{
	uint8_t body[9] = { number, 0, 0, 0, 0, 1 };

	return mysql(t, connection, nth, 0x17, body, sizeof(body));
}

/* The server's greeting was answered: a packet with the number 1. */
static void log_in(struct told *t, uint64_t connection)
{
	assert_int_equal(ask_bytes(t, 3, connection, 1, "\x05\x00\x00\x01login", 9), 0);
}

TEST(executed_statements_are_those_that_were_prepared)
{
	struct told *t = new_table();
	uint32_t orders, users, unknown, old;

	log_in(t, 1);
	orders = prepare(t, 1, 2, "SELECT * FROM orders WHERE id = ?");
	users = prepare(t, 1, 3, "UPDATE users SET name = ?");
	assert_int_equal(execute(t, 1, 4, 1), orders);
	assert_int_equal(execute(t, 1, 5, 2), users);
	unknown = execute(t, 1, 6, 3);
	/* Another connection has numbers of its own; one older than the recording has none. */
	log_in(t, 2);
	assert_int_equal(prepare(t, 2, 2, "UPDATE users SET name = ?"), users);
	assert_int_equal(execute(t, 2, 3, 1), users);
	old = execute(t, 3, 70, 1);
	assert_int_equal(route_table_settle(t->table), 0);
	expect(t, users, "UPDATE users");
	expect(t, orders, "SELECT *"); /* of one connection alone */
	expect(t, unknown, "EXECUTE [not known]");
	expect(t, old, "EXECUTE [not known]");
	free_table(t);
}

/* Who prepares more than there is room for has his executions counted. */
TEST(statements_without_room_are_counted)
{
	struct told *t = new_table();
	uint32_t orders = 0, unknown = 0;

	for (uint64_t c = 1; c <= 40; c++) {
		log_in(t, c);
		for (uint32_t i = 2; i < 1002; i++)
			orders = prepare(t, c, i, "SELECT * FROM orders WHERE id = ?");
	}
	assert_int_equal(route_table_no_room(t->table), 0);
	for (uint64_t c = 1; c <= 40; c++)
		for (uint32_t i = 1; i < 201; i++)
			unknown += execute(t, c, 1001 + i, (uint8_t)i) != orders;
	assert_in_range(unknown, 40 * 200 / 3, 40 * 200);
	assert_int_equal(route_table_no_room(t->table), unknown);
	free_table(t);
}

/* Where a request may be missing that prepared one, there are no numbers, but no wrong ones. */
TEST(numbers_of_statements_are_not_guessed)
{
	struct told *t = new_table();
	uint32_t orders, late[3], unknown;

	log_in(t, 1);
	orders = prepare(t, 1, 2, "SELECT * FROM orders WHERE id = ?");
	late[0] = execute(t, 1, 4, 2); /* the third request never comes */
	prepare(t, 1, 5, "UPDATE users SET name = ?");
	assert_int_equal(execute(t, 1, 6, 1), orders);
	late[1] = execute(t, 1, 7, 2);
	late[2] = execute(t, 1, 8, 3);
	/* One of which nothing is known. */
	log_in(t, 2);
	orders = prepare(t, 2, 2, "SELECT * FROM orders WHERE id = ?");
	miss(t, 3, 2, 3);
	prepare(t, 2, 4, "UPDATE users SET name = ?");
	assert_int_equal(execute(t, 2, 5, 1), orders);
	unknown = execute(t, 2, 6, 2);
	/* Executions that come out of order do no harm. */
	log_in(t, 4);
	orders = prepare(t, 4, 2, "SELECT * FROM orders WHERE id = ?");
	assert_int_equal(execute(t, 4, 4, 1), orders);
	assert_int_equal(execute(t, 4, 3, 1), orders);
	assert_int_not_equal(execute(t, 4, 5, 1), unknown);
	assert_int_equal(route_table_settle(t->table), 0);
	expect(t, unknown, "EXECUTE [not known]");
	for (int i = 0; i < 3; i++)
		expect(t, late[i], "EXECUTE [not known]");
	free_table(t);
}

/* A request of a connection that is read in any order. */
struct read_late {
	enum { LOG_IN, PREPARE, EXECUTE, CALL } what;
	uint32_t nth, number; /* of the statement, from 1 on */
	uint32_t id;
};

static const char *const sql[] = { "SELECT a FROM orders", "UPDATE users SET a = ?",
				   "DELETE FROM carts" };
static const char *const routes[] = { "SELECT orders", "UPDATE users", "DELETE carts" };

/* Of each connection two prepare a statement each time before they execute those that there are. */
static size_t make_requests(struct read_late *q, bool has_call)
{
	size_t n = 0;
	uint32_t prepared = 0;

	q[n++] = (struct read_late) { .what = LOG_IN };
	for (uint32_t i = 0; i < 20; i++) {
		if (has_call && i == 7)
			q[n++] = (struct read_late) { .what = CALL };
		if (prepared < 3 && !(i % 4))
			q[n++] = (struct read_late) { .what = PREPARE, .number = ++prepared };
		q[n++] = (struct read_late) { .what = EXECUTE, .number = 1 + i % prepared };
	}
	for (size_t i = 0; i < n; i++)
		q[i].nth = (uint32_t)i + 1;
	return n;
}

static void read_one(struct told *t, uint64_t connection, struct read_late *q)
{
	if (q->what == LOG_IN)
		log_in(t, connection);
	else if (q->what == CALL)
		mysql(t, connection, q->nth, 0x03, "CALL f()", 8);
	else if (q->what == PREPARE)
		q->id = prepare(t, connection, q->nth, sql[q->number - 1]);
	else
		q->id = execute(t, connection, q->nth, (uint8_t)q->number);
}

/* Two rings are read by turns of any length, as a thread had run here and there. */
static void read_by_turns(struct told *t, uint64_t connection, struct read_late *q, size_t n,
			  size_t lost)
{
	struct read_late *ring[2][30];
	size_t in[2] = { 0 }, out[2] = { 0 };
	int on = 0;

	for (size_t i = 0; i < n; i++) {
		on ^= rand() % 3 == 0;
		ring[on][in[on]++] = &q[i];
	}
	while (out[0] < in[0] || out[1] < in[1]) {
		on = rand() % 2;
		for (int turn = rand() % 12; turn && out[on] < in[on]; turn--) {
			struct read_late *next = ring[on][out[on]++];

			if ((size_t)(next - q) != lost)
				read_one(t, connection, next);
		}
	}
}

/* How many of the executions are known, each as the statement that it is. */
static size_t known_of(const struct told *t, const struct read_late *q, size_t n)
{
	size_t known = 0;

	for (size_t i = 0; i < n; i++) {
		if (q[i].what != EXECUTE || !q[i].id ||
		    !strcmp(t->text[q[i].id], "EXECUTE [not known]") || !*t->text[q[i].id])
			continue;
		expect(t, q[i].id, routes[q[i].number - 1]);
		known++;
	}
	return known;
}

/*
 * Executions of statements are known in whichever order they are read, beginning with the first
 * one of the endpoint; where a request is lost, none is wrong.
 */
TEST(statements_are_known_in_any_order)
{
	for (unsigned int seed = 0; seed < 300; seed++) {
		struct told *t = new_table();
		struct read_late q[4][30];
		size_t n[4];

		srand(seed);
		for (uint32_t i = 0; i < 4; i++) {
			n[i] = make_requests(q[i], i == 2);
			read_by_turns(t, 10 + i, q[i], n[i],
				      i == 3 ? (size_t)rand() % n[i] : SIZE_MAX);
		}
		assert_int_equal(route_table_settle(t->table), 0);
		assert_int_equal(known_of(t, q[0], n[0]), 20);
		assert_int_equal(known_of(t, q[1], n[1]), 20);
		known_of(t, q[2], n[2]);
		known_of(t, q[3], n[3]);
		free_table(t);
	}
}

/* A statement that is prepared by each turn's Parse, under one name; P and B are in requests of
 * their own. */
static uint32_t postgres(struct told *t, uint64_t connection, uint32_t nth, char letter,
			 const char *body, size_t n)
{
	char message[100] = { letter, 0, 0, 0, (char)(4 + n) };

	memcpy(message + 5, body, n);
	return ask_bytes(t, 4, connection, nth, message, 5 + n);
}

static uint32_t parse(struct told *t, uint64_t connection, uint32_t nth, const char *statement)
{
	char body[80] = "s";
	size_t n = (size_t)snprintf(body + 2, sizeof(body) - 2, "%s", statement);

	return postgres(t, connection, nth, 'P', body, 2 + n + 3);
}

static uint32_t bind(struct told *t, uint64_t connection, uint32_t nth)
{
	return postgres(t, connection, nth, 'B', "\0s\0\0\0\0\0\0\0", 9);
}

/* A name may get another meaning: an execution has the one that it had then, or none. */
TEST(names_that_are_used_again_are_not_guessed)
{
	struct told *t = new_table();
	uint32_t orders, users, late, before;

	for (uint64_t c = 1; c < 4; c++) {
		orders = parse(t, c, 1, sql[0]);
		users = parse(t, c, 2, sql[1]);
		assert_int_equal(bind(t, c, 3), users);
	}
	before = bind(t, 5, 2);
	assert_int_equal(parse(t, 5, 1, sql[0]), orders);
	/* The fourth is still to come: it may have changed it. */
	assert_int_equal(bind(t, 1, 5), late = bind(t, 1, 6));
	assert_int_equal(parse(t, 1, 4, sql[0]), orders);
	assert_int_equal(bind(t, 1, 7), orders);
	/* Of connections that are not known it is not known which is which. */
	assert_int_equal(parse(t, 0, 1, sql[0]), orders);
	assert_int_not_equal(bind(t, 0, 2), orders);
	assert_int_equal(route_table_settle(t->table), 0);
	expect(t, users, routes[1]);
	expect(t, before, routes[0]);
	expect(t, late, routes[0]);
	assert_int_equal(t->protocol[late], ROUTE_POSTGRES);
	free_table(t);
}

/* ---- streams of HTTP/2 ----------------------------------------------------------------------- */

#define END_HEADERS 4
/* A path that the connection is to know from then on, and the one that it got to know last. */
#define H2_CART "\x83\x44\x0a/cart/have"
#define H2_LAST "\x83\xbe"
#define H2_BUY "\x83\x44\x09/cart/buy"
#define HEADERS(t, connection, nth, bytes) \
	headers_are(t, connection, nth, bytes, sizeof(bytes) - 1, false)

static void headers_are(struct told *t, uint64_t connection, uint32_t nth, const char *bytes,
			size_t n, bool is_cut)
{
	struct http2_headers is = { (const uint8_t *)bytes, n, END_HEADERS, is_cut, false };

	route_table_headers(t->table, connection, nth, &is);
}

/* The id of the stream that has these headers. */
static uint32_t stream(struct told *t, uint64_t connection, uint32_t nth)
{
	return route_table_id(t->table, &(struct route_asked) { .endpoint = 9,
								.connection = connection,
								.nth = nth,
								.is_stream = true });
}

/* Connections from `first` on, so that the words of their routes are told. Returns the id of CART.
 */
static uint32_t fill_h2(struct told *t, uint64_t first)
{
	uint32_t id = 0;

	for (uint64_t c = first; c < first + 3; c++) {
		HEADERS(t, c, 1, H2_CART);
		HEADERS(t, c, 2, H2_LAST);
		HEADERS(t, c, 3, H2_BUY);
		id = stream(t, c, 1);
		assert_int_equal(stream(t, c, 2), id);
		assert_int_not_equal(stream(t, c, 3), id);
	}
	return id;
}

TEST(streams_refer_to_what_their_connection_had)
{
	struct told *t = new_table();
	uint32_t cart = fill_h2(t, 1), buy, again;

	/* They overlap, and end in any order. */
	HEADERS(t, 1, 4, H2_LAST);
	HEADERS(t, 1, 5, H2_CART);
	HEADERS(t, 1, 6, H2_LAST);
	again = stream(t, 1, 6);
	buy = stream(t, 1, 4);
	assert_int_equal(stream(t, 1, 5), cart);
	assert_int_equal(again, cart);
	assert_int_not_equal(buy, cart);
	assert_int_equal(route_table_settle(t->table), 0);
	expect(t, cart, "POST /cart/have");
	expect(t, buy, "POST /cart/buy");
	assert_int_equal(t->protocol[cart], ROUTE_HTTP2);
	free_table(t);
}

TEST(streams_that_come_early_wait_for_those_before)
{
	struct told *t = new_table();
	uint32_t cart = fill_h2(t, 1), buy, unheard;

	/* Headers: the fourth, the third, the first and the second; a request before its own. */
	HEADERS(t, 7, 4, H2_LAST);
	buy = stream(t, 7, 4);
	assert_int_not_equal(buy, 0);
	unheard = stream(t, 7, 5);
	HEADERS(t, 7, 3, H2_BUY);
	HEADERS(t, 7, 1, H2_CART);
	HEADERS(t, 7, 2, H2_LAST);
	assert_int_equal(stream(t, 7, 1), cart);
	assert_int_equal(stream(t, 7, 2), cart);
	assert_int_equal(route_table_settle(t->table), 0);
	expect(t, buy, "POST /cart/buy");
	expect(t, cart, "POST /cart/have");
	expect(t, unheard, "[HTTP/2 stream]");
	/* It is known now what that was, but it was told. */
	HEADERS(t, 7, 5, H2_LAST);
	free_table(t);
}

TEST(streams_are_not_guessed_where_one_is_missing)
{
	struct told *t = new_table();
	static uint32_t unseen[2100];
	uint32_t cart = fill_h2(t, 1), late;

	HEADERS(t, 8, 1, H2_CART);
	for (uint32_t i = 0; i < ARRAY_SIZE(unseen); i++) {
		HEADERS(t, 8, 3 + i, H2_LAST);
		unseen[i] = stream(t, 8, 3 + i);
		assert_int_not_equal(unseen[i], cart);
	}
	HEADERS(t, 8, 2, H2_LAST);
	late = stream(t, 8, 2);
	/* What refers to nothing is known. */
	HEADERS(t, 8, 3 + ARRAY_SIZE(unseen), H2_CART);
	assert_int_equal(stream(t, 8, 3 + ARRAY_SIZE(unseen)), cart);
	/* What is cut may have had a path that the connection knows from then on. */
	HEADERS(t, 11, 1, H2_BUY);
	headers_are(t, 11, 2, H2_CART "\x40", sizeof(H2_CART), true);
	assert_int_equal(stream(t, 11, 2), cart);
	HEADERS(t, 11, 3, H2_LAST);
	assert_int_not_equal(stream(t, 11, 3), cart);
	assert_int_equal(route_table_settle(t->table), 0);
	for (uint32_t i = 0; i < ARRAY_SIZE(unseen); i++)
		expect(t, unseen[i], "[HTTP/2 stream]");
	expect(t, late, "[HTTP/2 stream]");
	free_table(t);
}

/* Many connections with many streams that never end: those that end have their routes. */
TEST(streams_that_never_end_keep_nobody_out)
{
	struct told *t = new_table();
	uint32_t cart = fill_h2(t, 1);

	for (uint32_t i = 1; i <= 40000; i++) {
		HEADERS(t, 20 + i % 50, (i + 49) / 50, H2_CART);
		if (i % 4 == 0)
			assert_int_equal(stream(t, 20 + i % 50, (i + 49) / 50), cart);
	}
	assert_int_equal(route_table_settle(t->table), 0);
	free_table(t);
}
