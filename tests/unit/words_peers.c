// SPDX-License-Identifier: GPL-2.0-or-later
/* Who is at the other end of what threads wait for, and which of several things was ready. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/event_block.h"
#include "synth_script.h"

/* A waits for what may come to its epoll instance; the second time something else ends it. */
static const char of_several[] = "0    c0 - R > A\n"
				 "0    c1 - R > B\n"
				 "100  c0 A S > - ep_poll|poll;main for=epoll:1:5\n"
				 "200  c1 B wakes A kwake|bsend\n"
				 "200  c1 A ready tcp:10.0.0.5:80\n"
				 "210  c0 - R > A\n"
				 "300  c0 A S > - ep_poll|poll;main for=epoll:1:5\n"
				 "600  c1 B wakes A kwake|bsend\n"
				 "600  c0 - R > A\n"
				 "end 1000\n";

static void what_was_ready_stands_after_what_was_waited_for(void **state)
{
	struct options o = script_options(101);
	char *text;

	(void)state;
	o.depth = 0;
	expect_text(script_folded(of_several, &o),
		    "A;main;poll;[epoll];-;ep_poll;[depth limit] 300\n"
		    "A;main;poll;[epoll];[tcp];-;ep_poll;[depth limit] 100\n"
		    "A;main;poll;[epoll];[tcp];-;ep_poll;[runnable] 10\n");
	o.objects = OBJECTS_FULL;
	expect_text(script_folded(of_several, &o),
		    "A;main;poll;[epoll 1:5];-;ep_poll;[depth limit] 300\n"
		    "A;main;poll;[epoll 1:5];[tcp 10.0.0.5:80];-;ep_poll;[depth limit] 100\n"
		    "A;main;poll;[epoll 1:5];[tcp 10.0.0.5:80];-;ep_poll;[runnable] 10\n");
	o.objects = OBJECTS_NONE;
	expect_text(script_folded(of_several, &o), "A;main;poll;-;ep_poll;[depth limit] 400\n"
						   "A;main;poll;-;ep_poll;[runnable] 10\n");
	o.objects = OBJECTS_CLASS;
	text = script_formatted(of_several, &o, "tree");
	assert_non_null(strstr(text, "(S) for epoll 1:5, ready: tcp 10.0.0.5:80"));
	free(text);
	text = script_formatted(of_several, &o, "csv");
	assert_non_null(strstr(text, ",\"epoll 1:5, ready: tcp 10.0.0.5:80\"\n"));
	free(text);
	text = script_formatted(of_several, &o, "json");
	assert_non_null(strstr(text, "\"object\":{\"class\":\"epoll\",\"name\":\"1:5\"},"
				     "\"ready\":{\"class\":\"tcp\",\"name\":\"10.0.0.5:80\"},"));
	free(text);
	text = script_formatted(of_several, &o, "objects");
	assert_non_null(strstr(text, "\n[epoll 1:5];[tcp 10.0.0.5:80]         1 "));
	free(text);
	o.tids.n = 0;
	text = script_formatted(of_several, &o, "events");
	assert_non_null(strstr(text, "ready  A/101 was woken for tcp 10.0.0.5:80\n"));
	free(text);
}

static void either_of_both_is_chosen(void **state)
{
	struct options o = script_options(101);
	char why[100];

	(void)state;
	o.depth = 0;
	o.parts = PART_BLOCKED;
	word_list_add(&o.classes, "tcp", 3);
	expect_text(script_folded(of_several, &o),
		    "A;main;poll;[epoll];[tcp];-;ep_poll;[depth limit] 100\n");
	assert_int_equal(regex_list_add(&o.waits_for, ":81", why, sizeof(why)), 0);
	expect_text(script_folded(of_several, &o), "");
	o.tids = (struct id_list) { NULL, 0 }; /* not ours */
	options_free(&o);
}

/* It says something only of a wait that it ended, and that was for something. */
static void what_is_ready_belongs_to_the_waking_of_the_same_time(void **state)
{
	struct options o = script_options(101);

	(void)state;
	o.depth = 0;
	expect_text(script_folded("0   c0 - R > A\n"
				  "0   c1 - R > B\n"
				  "100 c0 A S > - k for=epoll\n"
				  "150 c1 A ready tcp:early\n"
				  "200 c1 B wakes A kwake\n"
				  "201 c1 A ready tcp:late\n"
				  "210 c0 - R > A\n"
				  "300 c0 A S > - k\n"
				  "400 c1 B wakes A kwake\n"
				  "400 c1 A ready tcp:no-object\n"
				  "400 c0 - R > A\n"
				  "500 c0 A S > - k for=epoll\n"
				  "600 c1 B wakes A kwake\n"
				  "600 c1 A ready tcp:first\n"
				  "600 c1 A ready tcp:second\n"
				  "610 c0 - R > A\n"
				  "end 700\n",
				  &o),
		    "A;[epoll];-;k;[depth limit] 100\n"
		    "A;[epoll];-;k;[runnable] 10\n"
		    "A;[epoll];[tcp];-;k;[depth limit] 100\n"
		    "A;[epoll];[tcp];-;k;[runnable] 10\n"
		    "A;k;[depth limit] 100\n");
}

/* ---- who is at the other end ---------------------------------------------------------------- */

#define CLIENT 101
#define SERVER 202

static uint32_t object(struct synth *m, const char *class, const char *name, const char *own,
		       uint32_t owner)
{
	uint32_t id = encoder_object(
		synth_encoder(m),
		&(struct encoder_object) {
			.class = class, .name = name, .own = own, .peer = 0, .owner = owner });

	assert_int_not_equal(id, 0);
	return id;
}

/* What -f objects says of a wait of the client for a socket, if the server has waited for another.
 */
static void expect_peer(const char *class, const char *name, const char *own,
			const char *server_class, const char *server_name, const char *server_own,
			const char *expected)
{
	struct options o = script_options(CLIENT);
	struct synth *m = synth_new();
	struct event ev = { .time_ns = 100, .kind = EVENT_WAITS_FOR };
	struct trace *t;
	char *text;

	synth_thread(m, CLIENT, "client");
	synth_thread(m, SERVER, "server");
	object(m, server_class, server_name, server_own, SERVER);
	synth_switch(m, 0, 100, CLIENT, 'S', 0, "ksleep");
	ev.awaited.object = object(m, class, name, own, CLIENT);
	assert_int_equal(encoder_event(synth_encoder(m), &ev), 0);
	synth_end(m, 300);
	t = synth_open(m);
	text = trace_formatted(t, &o, "objects");
	if (!strstr(text, expected))
		fail_msg("expected %s in\n%s", expected, text);
	free(text);
	text = trace_formatted(t, &o, "json");
	assert_int_equal(strstr(text, "\"peer\":202}") != NULL,
			 strstr(expected, "server/202") != NULL);
	free(text);
	trace_close(t);
	synth_free(m);
}

static void both_ends_of_a_connection_know_each_other(void **state)
{
	(void)state;
	expect_peer("tcp", "127.0.0.1:80", "tcp 127.0.0.1:4000", "tcp", "127.0.0.1:4000",
		    "tcp 127.0.0.1:80", "[tcp 127.0.0.1:80 server/202] ");
	/* In a poll() of one descriptor each. */
	expect_peer("poll", "tcp [::1]:80", "tcp [::1]:4000", "poll", "tcp [::1]:4000",
		    "tcp [::1]:80", "[poll tcp [::1]:80 server/202] ");
	/* Another connection to the same port, and one who only listens. */
	expect_peer("tcp", "127.0.0.1:80", "tcp 127.0.0.1:4000", "tcp", "127.0.0.1:4001",
		    "tcp 127.0.0.1:80", "[tcp 127.0.0.1:80] ");
	expect_peer("tcp", "127.0.0.1:80", "tcp 127.0.0.1:4000", "tcp", ":80", "tcp 127.0.0.1:80",
		    "[tcp 127.0.0.1:80] ");
	expect_peer("tcp", ":80", "tcp 127.0.0.1:80", "tcp", "127.0.0.1:80", "tcp 127.0.0.1:4000",
		    "[tcp :80] ");
}

static void who_takes_datagrams_from_anybody_is_the_peer(void **state)
{
	(void)state;
	expect_peer("udp", "10.0.0.1:53", "udp 10.0.0.9:4000", "udp", ":53", "udp 10.0.0.1:53",
		    "[udp 10.0.0.1:53 server/202] ");
	/* At any address: only if that is this machine's. */
	expect_peer("udp", "10.0.0.1:53", "udp 10.0.0.1:4000", "poll", "udp :53", "udp 0.0.0.0:53",
		    "[udp 10.0.0.1:53 server/202] ");
	expect_peer("udp", "10.0.0.1:53", "udp 10.0.0.2:4000", "udp", ":53", "udp 0.0.0.0:53",
		    "[udp 10.0.0.1:53] ");
}

/* By using it; not by a signal. */
static void who_woke_by_a_pipe_is_at_its_other_end(void **state)
{
	struct options o = script_options(101);
	char *text;

	(void)state;
	text = script_formatted(
		"thread A S k\n"
		"thread B S k\n"
		"thread C S k\n"
		"0   c0 - R > A\n"
		"0   c1 - R > B\n"
		"0   c2 - R > C\n"
		"100 c0 A S > - pipe_read|main for=pipe:12\n"
		"200 c1 B wakes A kwake;pipe_write|main\n"
		"200 c0 - R > A\n"
		"300 c0 A S > - pipe_read|main for=pipe:12\n"
		"400 c2 C wakes A kwake;kill|main\n"
		"400 c0 - R > A\n"
		"500 c0 A S > - poll|main for=poll:pipe\n"
		"600 c1 B wakes A kwake;pipe_release;irq;asm_common_interrupt|main\n"
		"600 c0 - R > A\n"
		"end 700\n",
		&o, "objects");
	assert_non_null(strstr(text, "\n[pipe 12 B/102] "));
	free(text);
}

/* However often each of them writes. */
static void processes_of_a_pipe_count_once(void **state)
{
	struct options o = script_options(101);
	char script[4096] = "thread A S k\n", *text;
	size_t len = strlen(script);

	(void)state;
	for (char who = 'B'; who <= 'F'; who++)
		len += (size_t)snprintf(script + len, sizeof(script) - len,
					"thread %c S k\n0 c%d - R > %c\n", who, who - 'A', who);
	len += (size_t)snprintf(script + len, sizeof(script) - len, "0 c0 - R > A\n");
	for (int i = 0; i < 15; i++)
		len += (size_t)snprintf(script + len, sizeof(script) - len,
					"%d c0 A S > - pipe_read|main for=pipe:12\n"
					"%d c%d %c wakes A kwake;pipe_write|main\n%d c0 - R > A\n",
					100 * i + 50, 100 * i + 90, i % 5 + 1, 'B' + i % 5,
					100 * i + 95);
	snprintf(script + len, sizeof(script) - len, "end 2000\n");
	text = script_formatted(script, &o, "objects");
	if (!strstr(text, "\n[pipe 12 B/102 C/103 and 3 more] "))
		fail_msg("not five processes in\n%s", text);
	free(text);
}

/* What -f objects says of A's wait, of 200, for that object; B is of A's process. */
static void expect_other_end(const char *class, uint32_t kernels, const char *waker,
			     const char *wakers_stack, const char *expected)
{
	struct options o = script_options(101);
	struct synth *m = synth_new();
	struct encoder_object what = { .class = class, .name = "12", .own = "", .peer = kernels };
	struct event ev = { .time_ns = 100, .kind = EVENT_WAITS_FOR };
	struct trace *t;
	char *text;

	synth_thread(m, 101, "A");
	synth_thread_full(m, &(struct encoder_thread) { .tid = 102, .tgid = 101, .state = 'S' });
	synth_thread(m, 103, "C");
	synth_switch(m, 0, 100, 101, 'S', 0, "kwait");
	ev.awaited.object = encoder_object(synth_encoder(m), &what);
	assert_int_equal(encoder_event(synth_encoder(m), &ev), 0);
	synth_waking(m, 1, 300, *waker == 'B' ? 102 : 103, 101, wakers_stack);
	synth_switch(m, 0, 300, 0, 'R', 101, "");
	synth_end(m, 400);
	t = synth_open(m);
	text = trace_formatted(t, &o, "objects");
	if (!strstr(text, expected))
		fail_msg("expected %s in\n%s", expected, text);
	free(text);
	trace_close(t);
	synth_free(m);
}

/* Who has both ends waits for another, or for a thread of its own. */
static void who_waits_is_not_at_the_other_end(void **state)
{
	(void)state;
	expect_other_end("pipe", 0, "C", "kwake;pipe_write", "[pipe 12 C/103] ");
	expect_other_end("pipe", 0, "B", "kwake;pipe_write", "[pipe 12] ");
	expect_other_end("unix", 0, "C", "kwake;unix_stream_sendmsg", "[unix 12 C/103] ");
	expect_other_end("unix", 0, "B", "kwake;unix_stream_sendmsg", "[unix 12] ");
	expect_other_end("unix", 101, "C", "kwake;unix_stream_sendmsg", "[unix 12 C/103] ");
	expect_other_end("unix", 101, "C", "kwake;kill", "[unix 12] ");
	expect_other_end("unix", 103, "B", "kwake;kill", "[unix 12 C/103] ");
	/* A child has the other end of a socketpair that another process made. */
	expect_other_end("unix", 104, "C", "kwake;unix_stream_sendmsg", "[unix 12 C/103] ");
}

/* A lock has no other end; a thread holds it, which need not lead its process. */
static void who_held_a_lock_is_named(void **state)
{
	static const char *const holders[] = { "[futex 7:0x10 held by server/202] ",
					       "[futex 7:0x10 held by 999] ", "[futex 7:0x10] " };
	static const uint32_t tids[] = { SERVER, 999, 0 };
	struct options o = script_options(CLIENT);

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct event ev = { .time_ns = 100, .kind = EVENT_WAITS_FOR };
		struct encoder_object lock = {
			.class = "futex", .name = "7:0x10", .own = "", .peer = tids[i], .owner = 0
		};
		struct synth *m = synth_new();
		struct trace *t;
		char *text;

		synth_thread(m, CLIENT, "client");
		synth_thread_full(m, &(struct encoder_thread) {
					     .tid = SERVER,
					     .tgid = 55,
					     .state = 'S',
					     .name = encoder_text(synth_encoder(m), "server") });
		synth_switch(m, 0, 100, CLIENT, 'S', 0, "ksleep");
		ev.awaited.object = encoder_object(synth_encoder(m), &lock);
		assert_int_equal(encoder_event(synth_encoder(m), &ev), 0);
		synth_end(m, 300);
		t = synth_open(m);
		text = trace_formatted(t, &o, "objects");
		if (!strstr(text, holders[i]))
			fail_msg("expected %s in\n%s", holders[i], text);
		free(text);
		text = trace_formatted(t, &o, "json");
		assert_null(strstr(text, "\"peer\""));
		assert_int_equal(strstr(text, "\"held_by\":202}") != NULL, tids[i] == SERVER);
		free(text);
		trace_close(t);
		synth_free(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_ready_stands_after_what_was_waited_for),
		cmocka_unit_test(either_of_both_is_chosen),
		cmocka_unit_test(what_is_ready_belongs_to_the_waking_of_the_same_time),
		cmocka_unit_test(both_ends_of_a_connection_know_each_other),
		cmocka_unit_test(who_takes_datagrams_from_anybody_is_the_peer),
		cmocka_unit_test(who_woke_by_a_pipe_is_at_its_other_end),
		cmocka_unit_test(processes_of_a_pipe_count_once),
		cmocka_unit_test(who_waits_is_not_at_the_other_end),
		cmocka_unit_test(who_held_a_lock_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
