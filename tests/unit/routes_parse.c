// SPDX-License-Identifier: GPL-2.0-or-later
/* Routes of requests: what is kept of paths, statements and commands, what is not, and what is no
 * request. */

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/types.h>

#include "chainwire_requests.h"
#include "routes/route.h"

/* The route of n bytes of a request of which bytes_read were read. */
static struct route route_of(const void *bytes, size_t n, uint64_t bytes_read)
{
	uint8_t *exact = malloc(n ? n : 1); /* so that a sanitizer sees each byte too many */
	struct route_request request = { .n = n < ROUTE_BYTES ? n : ROUTE_BYTES,
					 .bytes_read = bytes_read };
	struct route r;

	assert_non_null(exact);
	memcpy(exact, bytes, n);
	request.bytes = exact;
	route_parse(&r, &request);
	free(exact);
	return r;
}

static void expect(const char *what, const struct route *r, enum route_protocol protocol,
		   const char *name)
{
	if (r->protocol != protocol || strcmp(r->name, name))
		fail_msg("%s: %s \"%s\", expected %s \"%s\"", what,
			 route_protocol_name(r->protocol), r->name, route_protocol_name(protocol),
			 name);
}

static void expect_of_text(const char *text, enum route_protocol protocol, const char *name)
{
	struct route r = route_of(text, strlen(text), strlen(text));

	expect(text, &r, protocol, name);
}

TEST(paths_are_words_and_stars)
{
	static const char *const paths[][2] = {
		{ "/", "/" },
		{ "/health", "/health" },
		{ "/api/v1/users/42", "/api/v1/users/*" },
		{ "/api/v2.1/users/me", "/api/v2.1/users/me" },
		{ "/users/550e8400-e29b-41d4-a716-446655440000/orders", "/users/*/orders" },
		{ "/users/alice@example.com", "/users/*" },
		{ "/static/app.3f2a9c.js", "/static/*.js" },
		{ "/static/app.bffacfed.js", "/static/*.js" },
		{ "/static/jquery-3.6.0.min.js", "/static/*.js" },
		{ "/img/logo.png", "/img/logo.png" },
		{ "/wp-content/themes/twentytwenty/style.css",
		  "/wp-content/themes/twentytwenty/style.css" },
		{ "/oauth2/token", "/oauth2/token" },
		{ "/reset/eyJhbGciOiJIUzI1NiJ9", "/reset/*" },
		{ "/reset/aZkQwErTyUiOpLkJhGf", "/reset/*" },
		{ "/reset/kjhgfdsqwrtpzxcv", "/reset/*" },
		{ "/file/Annual%20Report.pdf", "/file/*.pdf" },
		{ "/s3/bucket", "/s3/bucket" },
		{ "/.env", "/*.env" },
		{ "/graphql?query={secret}", "/graphql" },
		{ "/a;jsessionid=ABC", "/a" },
		{ "/2026/11/29/my-title-of-post", "/*/*/*/my-title-of-post" },
		{ "/very/deep/path/with/many/segments/in/it",
		  "/very/deep/path/with/many/segments/.." },
		{ "/item/0xdeadbeef", "/item/*" },
		{ "/de-DE/shop", "/de-DE/shop" },
		{ "/tel/+491701234567", "/tel/*" },
		{ "//double", "/double" },
		{ "/users/", "/users/" },
		{ "/com.example.UserService/GetUser", "/com.example.UserService/GetUser" },
		{ "/T0KEN", "/*" },
		{ "/password-reset-confirmation", "/password-reset-confirmation" },
		{ "/getUserAccountByName", "/getUserAccountByName" },
		{ "/decade/facade/added", "/decade/facade/added" },
		{ "http://host.example/cart/7", "/cart/*" },
	};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		char text[300], name[ROUTE_NAME_MAX];

		snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nCookie: secret=1\r\n\r\n",
			 paths[i][0]);
		snprintf(name, sizeof(name), "GET %s", paths[i][1]);
		expect_of_text(text, ROUTE_HTTP, name);
	}
	expect_of_text("OPTIONS * HTTP/1.1\r\n\r\n", ROUTE_HTTP, "OPTIONS");
	expect_of_text("CONNECT host.example:443 HTTP/1.1\r\n\r\n", ROUTE_HTTP, "CONNECT");
	expect_of_text("GET / FTP/1.1\r\n\r\n", ROUTE_UNKNOWN, "");
	expect_of_text("GETS /a HTTP/1.1\r\n\r\n", ROUTE_UNKNOWN, "");
	expect_of_text("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", ROUTE_HTTP2, "[HTTP/2]");
}

/* The last word of a path of which the end is missing may be a part of another. */
TEST(cut_paths_end_in_a_star)
{
	char text[600];
	struct route r;

	memset(text, 'x', sizeof(text));
	memcpy(text, "GET /shop/", 10);
	for (size_t i = 10; i < ROUTE_BYTES; i++)
		text[i] = i % 40 ? 'x' : '.';
	memcpy(text + ROUTE_BYTES - 7, "/secret", 7);
	r = route_of(text, sizeof(text), sizeof(text));
	expect("cut", &r, ROUTE_HTTP, "GET /shop/*/*");
	memcpy(text + 10, "a?b=", 4);
	r = route_of(text, sizeof(text), sizeof(text));
	expect("cut behind its path", &r, ROUTE_HTTP, "GET /shop/a");
}

/* Puts a simple query of PostgreSQL into a buffer. Returns its bytes. */
static size_t put_query(char *to, const char *sql)
{
	size_t length = strlen(sql) + 5;

	to[0] = 'Q';
	to[1] = to[2] = 0;
	to[3] = (char)(length >> 8);
	to[4] = (char)length;
	memcpy(to + 5, sql, strlen(sql) + 1);
	return length + 1;
}

TEST(statements_are_verbs_and_tables)
{
	static const char *const statements[][2] = {
		{ "SELECT * FROM users WHERE id=1", "SELECT users" },
		{ "select a,(select max(x) from t2) from orders o join x on 1", "SELECT orders" },
		{ "SELECT `u`.`id`, 1", "SELECT u" },
		{ "SELECT \"app_user\".\"id\", \"app_user\".\"password\" FROM \"app_user\"",
		  "SELECT app_user" },
		{ "INSERT INTO `shop`.`orders` (a) VALUES ('secret')", "INSERT orders" },
		{ "insert ignore into t values (1)", "INSERT t" },
		{ "UPDATE ONLY public.accounts SET x=1", "UPDATE accounts" },
		{ "DELETE FROM events_20240101 WHERE 1", "DELETE events_*" },
		{ "WITH a AS (SELECT 1), b AS (SELECT 'x)' ) SELECT * FROM a", "SELECT a" },
		{ "/* app:web */ SELECT 1", "SELECT" },
		{ "-- hi\nSELECT 'it''s' FROM dual", "SELECT dual" },
		{ "(SELECT 1) UNION (SELECT 2)", "SELECT" },
		{ "CALL do_it(1)", "CALL do_it" },
		{ "COPY t FROM STDIN", "COPY t" },
		{ "SET NAMES 'utf8mb4'", "SET" },
		{ "SHOW STATUS", "SHOW" },
		{ "select u1_0.id from users u1_0 where u1_0.id=?", "SELECT users" },
		{ "SELECT 'a' FROM 'not a table'", "SELECT" },
		{ "CREATE TABLE secret_t (a int)", "CREATE TABLE" },
		{ "CREATE UNIQUE INDEX CONCURRENTLY i ON t (x)", "CREATE INDEX" },
		{ "BEGIN", "BEGIN" },
		{ "select password_hash('secret')", "SELECT" },
		{ "EXECUTE s1(1)", "EXECUTE" },
		{ "SELECT count(*) FROM (SELECT * FROM inner_t) x", "SELECT inner_t" },
		{ "TRUNCATE TABLE logs", "TRUNCATE logs" },
		{ "LOCK TABLES a READ", "LOCK a" },
		{ "EXPLAIN SELECT * FROM x", "EXPLAIN" },
		{ "REPLACE INTO sess VALUES ('k')", "REPLACE sess" },
		{ "select*from t", "SELECT t" },
		{ "SELECT extract(epoch FROM ts) FROM clicks", "SELECT clicks" },
		{ "SELECT 'unended FROM x", "SELECT" },
		{ "SELECT a FROM \"odd name; 12345\"", "SELECT odd*name*" },
	};

	for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++) {
		char bytes[300];
		size_t n = put_query(bytes, statements[i][0]);
		struct route r = route_of(bytes, n, n);

		expect(statements[i][0], &r, ROUTE_POSTGRES, statements[i][1]);
		assert_false(r.is_weak);
		/* The same for MySQL. */
		n = strlen(statements[i][0]);
		bytes[0] = (char)(n + 1);
		bytes[1] = bytes[2] = bytes[3] = 0;
		bytes[4] = 3;
		memcpy(bytes + 5, statements[i][0], n);
		r = route_of(bytes, n + 5, n + 5);
		expect(statements[i][0], &r, ROUTE_MYSQL, statements[i][1]);
		assert_false(r.is_weak);
	}
}

#define OF(bytes) route_of(bytes, sizeof(bytes) - 1, sizeof(bytes) - 1)

TEST(prepared_statements_are_known_by_number_or_name)
{
	struct route r, other;

	r = OF("\x12\0\0\0\x16SELECT a FROM t4");
	assert_int_equal(r.protocol, ROUTE_UNKNOWN); /* its length is another */
	r = OF("\x11\0\0\0\x16SELECT a FROM t4");
	expect("PREPARE", &r, ROUTE_MYSQL, "SELECT t4");
	assert_int_equal(r.use, ROUTE_PREPARES);
	r = OF("\x0a\0\0\0\x17\x07\0\0\0\0\1\0\0\0");
	expect("EXECUTE", &r, ROUTE_MYSQL, "EXECUTE");
	assert_int_equal(r.use, ROUTE_EXECUTES);
	assert_int_equal(r.statement, 7);
	r = OF("\5\0\0\0\x19\3\0\0\0\5\0\0\0\3BEGI");
	assert_int_equal(r.protocol, ROUTE_UNKNOWN); /* no verb */
	r = OF("\5\0\0\0\x19\3\0\0\0\6\0\0\0\3BEGIN");
	expect("CLOSE and a query", &r, ROUTE_MYSQL, "BEGIN");

	r = OF("P\0\0\0\x1cs_1\0SELECT a FROM t4\0\0\0S\0\0\0\4");
	assert_int_equal(r.protocol, ROUTE_UNKNOWN);
	r = OF("P\0\0\0\x1bs_1\0SELECT a FROM t4\0\0\0S\0\0\0\4");
	expect("Parse", &r, ROUTE_POSTGRES, "SELECT t4");
	assert_int_equal(r.use, ROUTE_PREPARES);
	other = OF("B\0\0\0\x0f\0s_1\0\0\0\0\0\0\0S\0\0\0\4");
	expect("Bind", &other, ROUTE_POSTGRES, "EXECUTE");
	assert_int_equal(other.use, ROUTE_EXECUTES);
	assert_true(r.statement == other.statement);
	other = OF("B\0\0\0\x0f\0s_2\0\0\0\0\0\0\0S\0\0\0\4");
	assert_true(r.statement != other.statement);
	r = OF("\0\0\0\x12\0\3\0\0user\0bob\0\0");
	expect("startup", &r, ROUTE_POSTGRES, "[startup]");
}

TEST(commands_are_commands)
{
	struct route r;

	expect_of_text("*2\r\n$3\r\nget\r\n$6\r\nsecret\r\n", ROUTE_REDIS, "GET");
	expect_of_text("*3\r\n$6\r\nCONFIG\r\n$3\r\nget\r\n$1\r\n*\r\n", ROUTE_REDIS, "CONFIG GET");
	expect_of_text("*2\r\n$8\r\nJSON.GET\r\n$1\r\nk\r\n", ROUTE_REDIS, "JSON.GET");
	expect_of_text("*2\r\n$5\r\n12345\r\n$1\r\nk\r\n", ROUTE_UNKNOWN, "");
	expect_of_text("PING\r\n", ROUTE_REDIS, "PING");
	expect_of_text("gets secret\r\n", ROUTE_MEMCACHED, "gets");
	expect_of_text("set secret 0 0 2\r\nxy\r\n", ROUTE_MEMCACHED, "set");
	expect_of_text("mg secret v\r\n", ROUTE_MEMCACHED, "mg");
	r = OF("\x80\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0k");
	expect("binary get", &r, ROUTE_MEMCACHED, "get");
	r = OF("\x32\0\0\0\1\0\0\0\0\0\0\0\xdd\7\0\0\0\0\0\0\0\x1d\0\0\0\2find\0\7\0\0\0"
	       "orders\0\x10x\0\1\0\0\0\0");
	expect("find", &r, ROUTE_MONGODB, "find orders");
	r = OF("\0\0\0\x11\0\1\0\x0b\0\0\0\1\0\2me\0\0\0\0\0");
	expect("Fetch", &r, ROUTE_KAFKA, "Fetch");
	/* Kafka protocol guide, "Fetch API", "Produce API": versions 4, 3, 9. */
	r = OF("\0\0\0\x2e\0\1\0\4\0\0\0\7\0\2me\xff\xff\xff\xff\0\0\1\xf4\0\0\0\1\3\x20\0\0\0"
	       "\0\0\0\1\0\7orders1\0\0\0\0");
	expect("Fetch, version 4", &r, ROUTE_KAFKA, "Fetch orders1");
	r = OF("\0\0\0\x25\0\0\0\3\0\0\0\7\0\2me\0\2tx\0\1\0\0\x75\x30\0\0\0\1\0\6"
	       "Clicks\0\1\2");
	expect("Produce, version 3", &r, ROUTE_KAFKA, "Produce clicks");
	r = OF("\0\0\0\x1e\0\0\0\x09\0\0\0\7\0\2me\0\0\xff\xff\0\0\x75\x30\2\7"
	       "clicks\0\2");
	expect("Produce, version 9", &r, ROUTE_KAFKA, "Produce clicks");
	/* No topic, ids of topics, a name that is cut, one that is longer than topics may be. */
	r = OF("\0\0\0\x21\0\1\0\4\0\0\0\7\0\2me\xff\xff\xff\xff\0\0\1\xf4\0\0\0\1\3\x20\0\0\0"
	       "\0\0\0\0");
	expect("Fetch of none", &r, ROUTE_KAFKA, "Fetch");
	r = OF("\0\0\0\x2c\0\1\0\x0d\0\0\0\7\0\2me\0\0\0\1\xf4\0\0\0\1\3\x20\0\0\0\0\0\0\0\0\0\0"
	       "\0\0\2idididid");
	expect("Fetch, version 13", &r, ROUTE_KAFKA, "Fetch");
	r = OF("\0\0\0\x2e\0\1\0\4\0\0\0\7\0\2me\xff\xff\xff\xff\0\0\1\xf4\0\0\0\1\3\x20\0\0\0"
	       "\0\0\0\1\0\x0eorders1\0\0\0\0");
	expect("Fetch, cut", &r, ROUTE_KAFKA, "Fetch");
	r = OF("\x12\x34\1\0\0\1\0\0\0\0\0\0\6secret\3com\0\0\x1c\0\1");
	expect("DNS", &r, ROUTE_DNS, "AAAA");
	r = OF("\x16\3\1\2\0\1\0\1\xfc\3\3");
	expect("ClientHello", &r, ROUTE_TLS, "[TLS handshake]");
	assert_false(r.is_weak);
	r = OF("\x17\3\3\0\x20secret");
	expect("application data", &r, ROUTE_TLS, "[TLS]");
	assert_true(r.is_weak);
	r = OF(WIRE_ENCIPHERED);
	expect("the rest of a connection", &r, ROUTE_TLS, "[TLS]");
	r = OF("\x17\3\3\xff\xffmore");
	expect("too long", &r, ROUTE_UNKNOWN, "");
	r = OF("\1\1\0\1\0\x08\0\0\0\1\0\0\0\0\0\0\1\4\0\1\0\x3b\0\0\x0e\4REQUEST_METHODPOST"
	       "\x0b\x10REQUEST_URI/cart/7?x=secret\5\1AAAAA1");
	expect("FastCGI", &r, ROUTE_FASTCGI, "POST /cart/*");
}

#define H2_SETTINGS "\0\0\6\4\0\0\0\0\0\0\3\0\0\0\x64"
#define H2_WINDOW "\0\0\4\x8\0\0\0\0\0\0\xff\0\0"
#define H2_HEADERS "\0\0\7\1\5\0\0\0\1\x82\x84\x86\x41\2me"
/* What refers to headers that the connection had before: nothing is known of it. */
#define H2_REFERRING "\0\0\3\1\5\0\0\0\3\x82\xbe\x86"

TEST(streams_of_http2_are_told_from_the_rest)
{
	struct route r;

	r = OF("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" H2_SETTINGS H2_WINDOW);
	expect("a connection's beginning", &r, ROUTE_HTTP2, "[HTTP/2]");
	assert_false(r.is_weak);
	r = OF("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" H2_SETTINGS H2_WINDOW H2_REFERRING);
	expect("with a request", &r, ROUTE_HTTP2, "[HTTP/2 stream]");
	assert_false(r.is_weak);
	r = OF(H2_REFERRING);
	expect("a request", &r, ROUTE_HTTP2, "[HTTP/2 stream]");
	assert_true(r.is_weak);
	r = OF(H2_WINDOW H2_REFERRING);
	expect("behind others", &r, ROUTE_HTTP2, "[HTTP/2 stream]");
	r = OF("\0\x40\0\0\0\0\0\0\3"
	       "some of its data");
	expect("data", &r, ROUTE_HTTP2, "[HTTP/2]");
	/* A server's stream, a frame that has none, flags that there are not, half of a frame. */
	r = OF("\0\0\3\1\5\0\0\0\2\x82\x84\x86");
	expect("even", &r, ROUTE_UNKNOWN, "");
	r = OF("\0\0\3\1\5\0\0\0\0\x82\x84\x86");
	expect("no stream", &r, ROUTE_UNKNOWN, "");
	r = OF("\0\0\3\1\x15\0\0\0\1\x82\x84\x86");
	expect("flags", &r, ROUTE_UNKNOWN, "");
	r = OF(H2_HEADERS "\0\0\5\1");
	expect("cut", &r, ROUTE_UNKNOWN, "");
	r = OF("\0\0\5\1\5\0\0\0\1\x82\x84\x86\x41\x8a");
	expect("headers that end within one", &r, ROUTE_UNKNOWN, "");
}

/* Method and path as they are, or by their number; of what is cut the beginning is enough. */
TEST(streams_of_http2_ask_for_their_paths)
{
	struct route r;
	char text[ROUTE_BYTES] = "\0\2\0\1\4\0\0\0\1\x83\x86\x44\x05/cart\x40\5x-own\x7f\x84\1";

	r = OF(H2_HEADERS);
	expect("of the known ones", &r, ROUTE_HTTP2, "GET /");
	assert_false(r.is_weak);
	assert_int_equal(r.fixed, 3);
	r = OF("\0\0\x18\1\5\0\0\0\1\x83\x86\x04\x14/users/12345?secret=");
	expect("a path with a value", &r, ROUTE_HTTP2, "POST /users/*");
	r = OF("\0\0\x0c\1\x2d\0\0\0\1\2\0\0\0\0\x10\x82\x44\1/..");
	expect("padded, with a priority", &r, ROUTE_HTTP2, "GET /");
	r = OF("\0\0\x12\1\5\0\0\0\1\x42\6REPORT\x44\x08/a/bcdef");
	expect("another method", &r, ROUTE_HTTP2, "REPORT /a/bcdef");
	r = OF("\0\0\x0f\1\5\0\0\0\1\x42\3ODD\x44\x08/a/bcdef");
	expect("no method", &r, ROUTE_HTTP2, "[HTTP/2 stream]");
	r = OF("\0\0\2\1\5\0\0\0\1\x82\x84\0\0\2\1\5\0\0\0\3\x82\x84");
	expect("two streams", &r, ROUTE_HTTP2, "GET /");
	r = OF("\0\0\2\1\5\0\0\0\1\x82\x84\0\0\2\1\5\0\0\0\3\x82\x85");
	expect("that ask for two things", &r, ROUTE_HTTP2, "[HTTP/2 streams]");
	r = route_of(text, sizeof(text), 521);
	expect("cut", &r, ROUTE_HTTP2, "POST /cart");
}

static uint64_t random_state = 1;

/* xorshift64 (Marsaglia, 2003). */
static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void put_big_endian(uint8_t *to, uint64_t n)
{
	for (int i = 3; i >= 0; i--, n >>= 8)
		to[i] = (uint8_t)n;
}

/* Bytes of a kind that are no request, but have what requests have. */
static void make_noise(uint8_t *b, size_t n, uint64_t bytes_read, int kind)
{
	for (size_t i = 0; i < n; i++)
		b[i] = (uint8_t)(kind == 1 ? ' ' + next_random() % 95 : next_random() >> 20);
	if (kind == 2)
		put_big_endian(b, bytes_read - 4);
	for (int i = 0; i < 4 && kind == 3; i++)
		b[i] = (uint8_t)(bytes_read >> 8 * i);
	for (int i = 0; i < 4 && kind == 4; i++)
		b[i] = (uint8_t)((bytes_read - 4) >> 8 * i);
	if (kind == 5) {
		b[0] = (uint8_t) "QPBEDCSHFXpdcf"[next_random() % 14];
		put_big_endian(b + 1, bytes_read - 1);
	}
}

/* No noise looks like a request so surely that it is believed alone. */
TEST(noise_is_no_sure_sign)
{
	static const char *const kinds[] = { "any bytes",      "any text",
					     "a length first", "a length, lowest byte first",
					     "a packet",       "a message" };

	for (int kind = 0; kind < 6; kind++) {
		size_t sure[ROUTE_PROTOCOLS] = { 0 };

		for (int i = 0; i < 100000; i++) {
			size_t n = 8 + next_random() % (ROUTE_BYTES - 8);
			uint64_t bytes_read = n < ROUTE_BYTES / 2 ? n : n + next_random() % 4000;
			uint8_t b[ROUTE_BYTES];
			struct route r;

			make_noise(b, n, bytes_read, kind);
			r = route_of(b, n, bytes_read);
			sure[r.protocol] += !r.is_weak;
		}
		for (int p = ROUTE_UNKNOWN + 1; p < ROUTE_PROTOCOLS; p++)
			if (sure[p])
				fail_msg("%s: %zu of 100000 are %s", kinds[kind], sure[p],
					 route_protocol_name((enum route_protocol)p));
	}
}
