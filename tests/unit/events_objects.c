// SPDX-License-Identifier: GPL-2.0-or-later
/* What objects are called, and how their ids become those of the trace. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "test.h"

#include "events/id_map.h"

static struct wire_object object(enum wire_object_kind kind, uint64_t a, uint64_t b)
{
	return (struct wire_object) {
		.r = { .kind = WIRE_OBJECT },
		.id = 1,
		.whole = 1,
		.key = { .kind = (uint16_t)kind, .tgid = 7, .v = { a, b } },
	};
}

/* Bytes with their zeros, as the BPF side sends names. */
#define NAMED(o, bytes)                                     \
	do {                                                \
		memcpy((o).path, bytes, sizeof(bytes) - 1); \
		(o).path_len = sizeof(bytes) - 1;           \
	} while (0)

static void expect(const struct wire_object *o, const char *expected)
{
	struct object_text text;
	char got[700];

	memset(&text, 0xa5, sizeof(text)); /* all of it is set */
	assert_int_equal(
		object_describe(o, offsetof(struct wire_object, path) + o->path_len, &text), 0);
	assert_null(text.protocol);
	snprintf(got, sizeof(got), "%s|%s|%u", text.class, text.name, text.peer);
	assert_string_equal(got, expected);
}

/* What tells it from others of the name. */
static void expect_numbers(const struct wire_object *o, uint32_t device, uint64_t inode)
{
	struct object_text text;

	assert_int_equal(
		object_describe(o, offsetof(struct wire_object, path) + o->path_len, &text), 0);
	assert_int_equal(text.device, device);
	assert_int_equal(text.inode, inode);
}

TEST(files_have_their_path_from_the_root_on)
{
	struct wire_object o = object(WIRE_OBJECT_FILE, 12, 0);

	NAMED(o, "ibdata1\0db\0lib\0var\0");
	expect(&o, "file|/var/lib/db/ibdata1|0");
	o.key.v[1] = 8ull << 52 | 1ull << 32 | 77; /* with the generation */
	expect_numbers(&o, 8u << 20 | 1, 12);
	o.whole = 0;
	expect(&o, "file|.../var/lib/db/ibdata1|0");
	o.whole = 1;
	o.path_len = 0;
	expect(&o, "file|/|0");
	o.key.kind = WIRE_OBJECT_LOCK;
	NAMED(o, "shop.db\0data\0");
	expect(&o, "file_lock|/data/shop.db|0");
	expect_numbers(&o, 8u << 20 | 1, 12);
	o = object(WIRE_OBJECT_PIPE, 1234, 0);
	expect(&o, "pipe|1234|0");
	o.key.v[2] = 1;
	NAMED(o, "fifo\0tmp\0");
	expect(&o, "pipe|/tmp/fifo|0");
}

TEST(anonymous_files_are_their_kind_and_descriptor)
{
	struct wire_object o = object(WIRE_OBJECT_ANON, 5, 0);

	NAMED(o, "[eventpoll]\0");
	expect(&o, "epoll|7:5|0");
	NAMED(o, "anon_inode:[timerfd]\0");
	expect(&o, "timerfd|7:5|0");
	NAMED(o, "inotify\0");
	expect(&o, "inotify|7:5|0");
	NAMED(o, "\0");
	expect(&o, "anon_inode|7:5|0");
}

TEST(sockets_have_their_peer_or_their_own_port)
{
	struct wire_object o = object(WIRE_OBJECT_INET, 0, 0);
	struct in6_addr six;

	o.key.v[0] = 2 | IPPROTO_TCP << 8 | 40000ull << WIRE_INET_PORT | 5432ull << WIRE_INET_DPORT;
	inet_pton(AF_INET, "10.0.0.5", &o.key.v[1]);
	expect(&o, "tcp|10.0.0.5:5432|0");
	o.key.v[0] |= WIRE_INET_LISTENS;
	expect(&o, "tcp|:40000|0");
	o.key.v[0] = 10 | IPPROTO_UDP << 8 | 53ull << WIRE_INET_DPORT;
	inet_pton(AF_INET6, "2001:db8::1", &six);
	memcpy(&o.key.v[1], &six, sizeof(six));
	expect(&o, "udp|[2001:db8::1]:53|0");
	inet_pton(AF_INET6, "::ffff:1.2.3.4", &six);
	memcpy(&o.key.v[1], &six, sizeof(six));
	expect(&o, "udp|1.2.3.4:53|0");
	o.key.call = WIRE_CALL_POLL;
	expect(&o, "poll|udp 1.2.3.4:53|0");
}

TEST(routes_are_what_the_program_says)
{
	struct wire_object o = object(WIRE_OBJECT_ROUTE, 1, 2);

	NAMED(o, "/cart/{id}");
	expect(&o, "route|/cart/{id}|0");
	NAMED(o, "");
	expect(&o, "route||0");
}

/* It belongs to a process, wherever that keeps it. */
TEST(control_groups_have_their_path_and_the_kernels_id)
{
	struct wire_object o = object(WIRE_OBJECT_GROUP, 0x100000007, 3);

	NAMED(o, "nginx.service\0system.slice\0");
	expect(&o, "cgroup|/system.slice/nginx.service|0");
	expect_numbers(&o, 3, 0x100000007);
	o.whole = 0; /* deeper than what a record holds */
	expect(&o, "cgroup|.../system.slice/nginx.service|0");
	o.whole = 1;
	o.path_len = 0;
	expect(&o, "cgroup|/|0");
}

TEST(the_lock_of_an_interpreter_is_its_processs)
{
	struct wire_object o = object(WIRE_OBJECT_GIL, 0x7f0010, 0);

	o.key.tgid = 77;
	expect(&o, "GIL||77");
}

/* Of no process, and without an other end: it serves all. */
TEST(endpoints_of_requests_have_their_own_port_or_path)
{
	struct wire_object o = object(WIRE_OBJECT_ENDPOINT, 0, 0);
	struct object_text text;

	o.owner = o.peer = 77;
	o.key.v[0] = 2 | IPPROTO_TCP << 8 | 27101ull << WIRE_INET_PORT | WIRE_INET_LISTENS;
	expect(&o, "tcp|:27101|0");
	assert_int_equal(object_describe(&o, offsetof(struct wire_object, path), &text), 0);
	assert_string_equal(text.own, "");
	assert_int_equal(text.owner, 0);
	o.key.v[0] = 10 | IPPROTO_UDP << 8 | 53ull << WIRE_INET_PORT | WIRE_INET_LISTENS;
	expect(&o, "udp|:53|0");
	o.key.v[0] = AF_UNIX;
	NAMED(o, "/run/redis\0");
	expect(&o, "unix|/run/redis|0");
}

/* By which the process at the other end finds this one. */
TEST(sockets_have_their_own_end_and_its_process)
{
	struct wire_object o = object(WIRE_OBJECT_INET, 0, 0);
	struct object_text text;
	struct in6_addr six;
	size_t len = offsetof(struct wire_object, path);

	o.owner = 77;
	o.key.v[0] = 2 | IPPROTO_TCP << 8 | 40000ull << WIRE_INET_PORT | 5432ull << WIRE_INET_DPORT;
	inet_pton(AF_INET, "10.0.0.5", &o.key.v[1]);
	inet_pton(AF_INET, "10.0.0.1", &o.key.v[3]);
	assert_int_equal(object_describe(&o, len, &text), 0);
	assert_string_equal(text.own, "tcp 10.0.0.1:40000");
	assert_int_equal(text.owner, 77);
	o.key.v[0] = 10 | IPPROTO_UDP << 8 | 53ull << WIRE_INET_PORT;
	o.key.v[1] = 0;
	inet_pton(AF_INET6, "::", &six);
	memcpy(&o.key.v[3], &six, sizeof(six));
	o.key.call = WIRE_CALL_POLL;
	assert_int_equal(object_describe(&o, len, &text), 0);
	assert_string_equal(text.own, "udp [::]:53");
	o = object(WIRE_OBJECT_PIPE, 12, 0);
	o.owner = 77;
	assert_int_equal(object_describe(&o, len, &text), 0);
	assert_string_equal(text.own, "");
	assert_int_equal(text.owner, 0);
}

/* By which it is known whose child has that id. */
TEST(a_child_has_the_process_that_waits)
{
	struct wire_object o = object(WIRE_OBJECT_CALL, WIRE_CALL_CHILD, 4711);
	struct object_text text;

	o.owner = 77;
	expect(&o, "child|4711|0");
	assert_int_equal(object_describe(&o, offsetof(struct wire_object, path), &text), 0);
	assert_int_equal(text.owner, 77);
	o.key.v[1] = 0;
	expect(&o, "child||0");
	assert_int_equal(object_describe(&o, offsetof(struct wire_object, path), &text), 0);
	assert_int_equal(text.owner, 0);
}

TEST(unix_sockets_have_a_path_and_a_process)
{
	struct wire_object o = object(WIRE_OBJECT_UNIX, 99, 1);

	o.peer = 321;
	expect(&o, "unix||321");
	NAMED(o, "/run/x.sock\0");
	expect(&o, "unix|/run/x.sock|321");
	NAMED(o, "\0abstract");
	expect(&o, "unix|@abstract|321");
}

TEST(locks_are_told_apart_by_process_unless_they_are_shared)
{
	struct wire_object o = object(WIRE_OBJECT_FUTEX, 0x7f0010, 0);

	expect(&o, "futex|7:0x7f0010|0");
	NAMED(o, "server\0bin\0usr\0");
	o.offset = 0x1234;
	expect(&o, "futex|7:server+0x1234|0");
	expect_numbers(&o, 0, 0);
	o.shared = 1;
	expect(&o, "futex|/usr/bin/server+0x1234|0");
	NAMED(o, "memfd:pool\0");
	o.inode = 88;
	o.device = 1;
	expect(&o, "futex|/memfd:pool+0x1234|0");
	expect_numbers(&o, 1, 88);
	/* Who holds it, where the kernel knows that. */
	o.key.v[2] = 321;
	expect(&o, "futex|/memfd:pool+0x1234|321");
}

TEST(calls_say_what_is_known)
{
	static const struct {
		enum wire_call call;
		uint64_t arg;
		const char *expected;
	} cases[] = {
		{ WIRE_CALL_SLEEP, 20000000, "sleep|20ms|0" },
		{ WIRE_CALL_SLEEP, 1500000000, "sleep|1.5s|0" },
		{ WIRE_CALL_SLEEP, 120000000000, "sleep|120s|0" },
		{ WIRE_CALL_SLEEP, 0, "sleep|0ns|0" },
		{ WIRE_CALL_SLEEP, WIRE_SLEEP_UNKNOWN, "sleep||0" },
		{ WIRE_CALL_CHILD, 44, "child|44|0" },
		{ WIRE_CALL_CHILD, 0, "child||0" },
		{ WIRE_CALL_SIGNAL, 0, "signal||0" },
		{ WIRE_CALL_IPC, 0, "ipc|0|0" },
		{ WIRE_CALL_SELECT, 0, "select||0" },
		{ WIRE_CALL_SELECT, 3, "select|of 3|0" },
		{ WIRE_CALL_POLL, 2, "poll|of 2|0" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wire_object o = object(WIRE_OBJECT_CALL, cases[i].call, cases[i].arg);

		expect(&o, cases[i].expected);
	}
}

TEST(malformed_records_are_refused)
{
	struct wire_object o = object(WIRE_OBJECT_FILE, 12, 0);
	struct object_text text;

	NAMED(o, "name\0");
	assert_int_equal(object_describe(&o, offsetof(struct wire_object, path) + o.path_len - 1,
					 &text),
			 -EBADMSG);
	o.path_len = sizeof(o.path) + 1;
	assert_int_equal(object_describe(&o, sizeof(o), &text), -EBADMSG);
	o = object(WIRE_OBJECT_KINDS, 0, 0);
	assert_int_equal(object_describe(&o, sizeof(o), &text), -EBADMSG);
	/* A path without a terminator, and the longest one. */
	o = object(WIRE_OBJECT_FILE, 12, 0);
	NAMED(o, "name");
	expect(&o, "file|/|0");
	memset(o.path, 'x', sizeof(o.path) - 1);
	o.path[sizeof(o.path) - 1] = '\0';
	o.path_len = sizeof(o.path);
	assert_int_equal(object_describe(&o, sizeof(o), &text), 0);
	assert_int_equal(strlen(text.name), OBJECT_NAME_LEN - 1);
}

/* ---- ids ------------------------------------------------------------------------------------ */

struct store {
	char names[8][32]; /* by id */
	uint32_t n;
};

static uint32_t reserve(void *ctx, bool is_object, uint64_t time_ns)
{
	struct store *s = ctx;

	(void)time_ns;
	assert_true(is_object);
	return ++s->n;
}

static int give(void *ctx, uint32_t *id, const struct object_text *o, uint64_t time_ns)
{
	struct store *s = ctx;

	*id = *id ? *id : reserve(ctx, true, time_ns);
	snprintf(s->names[*id], sizeof(s->names[0]), "%.31s", o->name);
	return 0;
}

TEST(an_object_may_come_after_the_event_that_names_it)
{
	struct store s = { .n = 0 };
	struct definition_store store = { .object = give, .reserve = reserve, .ctx = &s };
	struct id_map *m;
	struct wire_object o = object(WIRE_OBJECT_PIPE, 1234, 0);
	size_t len = offsetof(struct wire_object, path);

	assert_int_equal(id_map_new(&m, &store, NULL), 0);
	assert_int_equal(id_map_object(m, 0, 1), 0);
	o.id = 5;
	assert_int_equal(id_map_object(m, 5, 1), 1);
	assert_int_equal(id_map_object(m, 5, 2), 1);
	assert_int_equal(id_map_take_object(m, &o, len), 0);
	assert_string_equal(s.names[1], "1234");
	/* Sent by two CPUs: nothing new. */
	assert_int_equal(id_map_take_object(m, &o, len), 0);
	assert_int_equal(s.n, 1);
	o.id = 6;
	assert_int_equal(id_map_take_object(m, &o, len), 0);
	assert_int_equal(id_map_object(m, 6, 3), 2);
	/* A newer id takes its slot; the old one is not known any more. */
	o.id = 6 + (1u << 17);
	assert_int_equal(id_map_take_object(m, &o, len), 0);
	assert_int_equal(id_map_object(m, o.id, 4), 3);
	assert_int_equal(id_map_object(m, 6, 4), 0);
	assert_int_equal(id_map_take_object(m, &o, len - 1), -EBADMSG);
	id_map_free(m);
}

/* A lock whose mapping could not be asked for when it was seen first, but the second time. */
TEST(all_events_of_an_object_have_what_was_known_last)
{
	struct store s = { .n = 0 };
	struct definition_store store = { .object = give, .reserve = reserve, .ctx = &s };
	struct id_map *m;
	struct wire_object bare = object(WIRE_OBJECT_FUTEX, 0x7f0010, 0), whole = bare;
	size_t bare_len = offsetof(struct wire_object, path), len;

	bare.again = 1;
	whole.offset = 0x1234;
	NAMED(whole, "server\0bin\0usr\0");
	len = bare_len + whole.path_len;
	assert_int_equal(id_map_new(&m, &store, NULL), 0);
	/* The record, the event, the whole record; in the other order; and once more. */
	bare.id = whole.id = 5;
	assert_int_equal(id_map_take_object(m, &bare, bare_len), 0);
	assert_int_equal(id_map_object(m, 5, 1), 1);
	assert_int_equal(id_map_take_object(m, &bare, bare_len), 0);
	assert_int_equal(id_map_object(m, 5, 2), 1);
	assert_int_equal(id_map_take_object(m, &whole, len), 0);
	assert_string_equal(s.names[1], "7:server+0x1234");
	assert_int_equal(id_map_take_object(m, &bare, bare_len), 0);
	assert_int_equal(id_map_object(m, 5, 3), 1);
	/* Nobody asks, or it never comes. */
	bare.id = 6;
	assert_int_equal(id_map_take_object(m, &bare, bare_len), 0);
	bare.id = 7;
	assert_int_equal(id_map_object(m, 7, 4), 2);
	assert_int_equal(id_map_take_object(m, &bare, bare_len), 0);
	assert_string_equal(s.names[2], "");
	assert_int_equal(id_map_settle_objects(m), 0);
	assert_int_equal(s.n, 2);
	assert_string_equal(s.names[2], "7:0x7f0010");
	/* It comes too late for those events, but not for the next ones. */
	assert_int_equal(id_map_object(m, 7, 5), 2);
	whole.id = 7;
	assert_int_equal(id_map_take_object(m, &whole, len), 0);
	assert_int_equal(id_map_object(m, 7, 6), 3);
	assert_string_equal(s.names[3], "7:server+0x1234");
	/* A newer id takes its slot. */
	bare.id = 8;
	assert_int_equal(id_map_object(m, 8, 7), 4);
	assert_int_equal(id_map_take_object(m, &bare, bare_len), 0);
	whole.id = 8 + (1u << 17);
	assert_int_equal(id_map_take_object(m, &whole, len), 0);
	assert_string_equal(s.names[4], "7:0x7f0010");
	/* And what is left is given back. */
	bare.id = 9;
	assert_int_equal(id_map_take_object(m, &bare, bare_len), 0);
	id_map_free(m);
}
