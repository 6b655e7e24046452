// SPDX-License-Identifier: GPL-2.0-or-later
/* Frames of interpreted code: which frames a stack has with them, and how they are written. */
#include "test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export_read.h"

/* A waits with a user stack from 100 to 200, is woken by B from another one, and sampled there. */
static char *shown(const char *format, const char *stack, const char *waker, struct options *o)
{
	char script[4096];

	snprintf(script, sizeof(script),
		 "0   c0 - R > A\n"
		 "0   c1 - R > B\n"
		 "100 c0 A S > - wait|%s\n"
		 "150 c1 B ran |%s\n"
		 "200 c1 B wakes A wake|%s\n"
		 "200 c0 - R > A\n"
		 "end 400\n",
		 stack, waker, waker);
	return script_formatted(script, o, format);
}

static void expect_frames(const char *stack, bool native, const char *expected)
{
	struct options o = script_options(101);
	char wanted[1024];

	o.native = native;
	o.depth = 0;
	snprintf(wanted, sizeof(wanted), "A;%s-;wait;[depth limit] 100\n", expected);
	expect_text(shown("folded", stack, "main", &o), wanted);
}

/* Lines that were broken count as one. */
static void expect_in(const char *format, struct options *o, const char *stack, const char *part)
{
	char *text = shown(format, stack, stack, o), *to = text;

	for (const char *from = text; *from; to++) {
		bool broken = !strncmp(from, "\n         ", 10);

		*to = broken ? ' ' : *from;
		from += broken ? 10 : 1;
	}
	*to = 0;
	if (!strstr(text, part))
		fail_msg("%s: expected %s in\n%s", format, part, text);
	free(text);
}

/* main calls fetch through an extension module, fetch waits in another one. */
#define EVAL "_PyEval_EvalFrameDefault@python"
#define FETCH "poll@libc;query@_db.so;[python+0x10]@python;fetch%/srv/feed.py:31"
#define CALLS                                                                         \
	FETCH ";main%/srv/feed.py:50;" EVAL ";PyObject_Call@python;each@_map.so;"     \
	      "PyEval_EvalCode@python;<module>%/srv/feed.py:60;" EVAL ";main@python;" \
	      "__libc_start_main@libc;_start@python"

TEST(stand_where_the_interpreter_ran_them)
{
	expect_frames(CALLS, false,
		      "__libc_start_main;<module> (feed.py:60);each;main (feed.py:50);"
		      "fetch (feed.py:31);[python+0x10];query;poll;");
	/* The leaf is in the interpreter's loop. */
	expect_frames("f%/srv/a.py:1;" EVAL ";main@python", false, "f (a.py:1);");
	/* All native frames that are left are of another file, or of none that is known. */
	expect_frames("f%/a.py:1;" EVAL ";jit;g%/a.py:2;eval;jit;main@python", false,
		      "main;jit;g (a.py:2);jit;f (a.py:1);");
	/* Two interpreters in one process. */
	expect_frames("f%/a.php:1;execute@php;call@php;g%/b.py:2;" EVAL ";run@python;main@php",
		      false, "main;g (b.py:2);f (a.php:1);");
}

TEST(stand_alone_where_the_stack_was_cut)
{
	expect_frames(FETCH ";main%/srv/feed.py:50", false,
		      "main (feed.py:50);fetch (feed.py:31);[python+0x10];query;poll;");
	expect_frames(FETCH ";main%/srv/feed.py:50", true, "[python+0x10];query;poll;");
}

TEST(native_frames_alone)
{
	struct options o = script_options(101);

	expect_frames(CALLS, true,
		      "_start;__libc_start_main;main;_PyEval_EvalFrameDefault;PyEval_EvalCode;each;"
		      "PyObject_Call;_PyEval_EvalFrameDefault;[python+0x10];query;poll;");
	o.native = true;
	o.depth = 0;
	/* Nothing else is left. */
	expect_text(shown("folded", "f%/a.py:1;g%/a.py:2", "", &o), "A;wait;[depth limit] 100\n");
	/* Other traces are as they were. */
	expect_frames("poll@libc;work;main@python", true, "main;work;poll;");
	expect_frames("poll@libc;work;main@python", false, "main;work;poll;");
}

TEST(say_what_is_known)
{
	expect_frames("f%/srv/a.py:3", false, "f (a.py:3);");
	expect_frames("f%/srv/a.py", false, "f (a.py);");
	expect_frames("f%", false, "f;");
	expect_frames("f%/srv/json/__init__.py:3", false, "f (json/__init__.py:3);");
	expect_frames("f%/__init__.py:3", false, "f (/__init__.py:3);");
	expect_frames("f%__init__.py:3", false, "f (__init__.py:3);");
	expect_frames("%/srv/a.py:3", false, "[interpreted code] (a.py:3);");
	expect_frames("%", false, "[interpreted code];");
	expect_frames("[x+0x10]%a.py:3", false, "[x+0x10] (a.py:3);");
	/* What would not fit a folded line; a name that is the delimiter's. */
	expect_frames("a\x01z%/srv/\x1b[1m.py:3", false, "a?z (?[1m.py:3);");
	expect_frames("--%/srv/a.py:3", false, "-- (a.py:3);");
	expect_frames("--%", false, "[--];");
	/* Lines of one function are frames of their own. */
	expect_frames("f%/srv/a.py:3;f%/srv/a.py:4", false, "f (a.py:4);f (a.py:3);");
}

static void expect_in_perfetto(const char *stack, const char *part)
{
	struct options o = script_options(101);
	char script[1024];
	struct bytes b;

	snprintf(script, sizeof(script), "0 c0 - R > A\n50 c0 A ran |%s\nend 400\n", stack);
	b = script_exported(script, &o, "perfetto");
	if (!memmem(b.p, b.len, part, strlen(part)))
		fail_msg("perfetto: no %s", part);
	free(b.p);
}

TEST(in_every_format)
{
	struct options o = script_options(101);
	static const char *const formats[] = { "folded", "tree", "json", "csv", "causes", "html" };

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		expect_in(formats[i], &o, CALLS, "fetch (feed.py:31)");
	expect_in_perfetto(CALLS, "fetch (feed.py:31)");
	expect_in_perfetto(CALLS, "srv"); /* folder by folder */
	expect_in("json", &o, CALLS, "\"fetch (feed.py:31)\",\"[python+0x10]\",\"query\"");
	expect_in("json", &o, "f%/a\x01z.py:1", "\"f (a\\u0001z.py:1)\"");
	/* Of the native frames the one that the code called. */
	expect_in("tree", &o, CALLS,
		  "in wait | query < fetch (feed.py:31) < main (feed.py:50) < each < ...");
	expect_in("tree", &o, "[libc+0x1]@libc;fetch%/srv/feed.py:31;" EVAL,
		  "in wait | fetch (feed.py:31)\n");
	o.verbose = true;
	expect_in("tree", &o, CALLS, "in wait | poll < query < [python+0x10] < fetch (feed.py:31)");
	o = script_options(101);
	o.verbose = true;
	expect_in("events", &o, CALLS, " fetch (/srv/feed.py) feed.py:31\n");
	expect_in("info", &o, CALLS,
		  "frames_user: 10\nframes_user_named: 9 (90.0 %)\n"
		  "frames_interpreted: 3\nframes_interpreted_named: 3 (100.0 %)\n");
}

TEST(have_function_file_and_line_in_pprof)
{
	struct options o = script_options(101);
	struct bytes b = unpacked(script_exported("0   c0 - R > A\n"
						  "100 c0 A S > - |f%/srv/a.py:3;f%/srv/a.py:4;"
						  "g%/srv/a.py;" EVAL "\n"
						  "end 400\n",
						  &o, "pprof"));
	const char *const texts[] = { "f", "g", "/srv/a.py" };
	size_t lines[5] = { 0 };
	struct field f;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		bool found = false;

		for (size_t k = 0; (f = field_of(b.p, b.len, 6, k)).number; k++)
			found |= f.len == strlen(texts[i]) && !memcmp(f.p, texts[i], f.len);
		assert_true(found);
	}
	for (size_t k = 0; (f = field_of(b.p, b.len, 4, k)).number; k++) {
		struct field line = field_of(f.p, f.len, 4, 0);
		uint64_t number = field_of(line.p, line.len, 2, 0).v;

		assert_true(number < 5);
		lines[number]++;
	}
	assert_int_equal(lines[3], 1);
	assert_int_equal(lines[4], 1);
	/* A source is no mapping. */
	assert_int_equal(field_of(b.p, b.len, 3, 0).number, 0);
	free(b.p);
}

/* The program's own function, and what it called: not how the interpreter's library does that. */
TEST(places_are_the_programs)
{
	struct options o = script_options(101);

	expect_in("causes", &o, CALLS,
		  "then woke the waiter in query < fetch (feed.py:31) made A wait");
	expect_in("causes", &o,
		  "sem_wait@libc;PyThread_acquire_lock_timed@python;"
		  "wait%/usr/lib/python3.11/threading.py:320;"
		  "get%/usr/lib/python3.11/queue.py:171;work%/srv/feed.py:12;" EVAL,
		  "then woke the waiter in get (queue.py:171) < work (feed.py:12) made A wait");
	/* Packages are a program's. */
	expect_in("causes", &o,
		  "epoll_wait@libc;run%/usr/lib/python3/dist-packages/x.py:7;" EVAL
		  ";main@python;start@libc",
		  "then woke the waiter in epoll_wait < run (x.py:7) made A wait");
	/* So is a gem, but not what comes with Ruby. */
	expect_in("causes", &o,
		  "read@libc;rbuf_fill%/usr/lib/ruby/3.1.0/net/protocol.rb:229;"
		  "loop%<internal:kernel>:187;ask%/srv/shop.rb:4;" EVAL,
		  "then woke the waiter in loop (<internal:kernel>:187) < ask (shop.rb:4) made A");
	expect_in("causes", &o,
		  "read@libc;fill%/usr/lib/ruby/3.1.0/net/protocol.rb:229;"
		  "get%/var/lib/ruby/gems/3.1.0/gems/x/x.rb:7;ask%/srv/shop.rb:4;" EVAL,
		  "then woke the waiter in fill (protocol.rb:229) < get (x.rb:7) made A");
	/* A function of the interpreter itself. */
	expect_in("causes", &o,
		  "clock_nanosleep@libc;zif_usleep@php;usleep%;Cart::ask%/srv/shop.php:4;eval@php",
		  "then woke the waiter in usleep < Cart::ask (shop.php:4) made A wait");
	/* By these the whole of HotSpot waits and wakes. */
	expect_in("causes", &o,
		  "syscall@libc.so;LinuxWaitBarrier::disarm@libjvm.so;SafepointSynchronize::end@"
		  "libjvm.so;VMThread::inner_execute@libjvm.so",
		  "then woke the waiter in LinuxWaitBarrier::disarm < SafepointSynchronize::end "
		  "made A");
	expect_in("causes", &o,
		  "pthread_cond_signal@libc.so;os::PlatformMonitor::notify@libjvm.so;"
		  "Monitor::notify@libjvm.so;VMThread::wait_until_executed@libjvm.so",
		  "then woke the waiter in Monitor::notify < VMThread::wait_until_executed made A");
	expect_in("causes", &o, "sem_post@libc.so;PosixSemaphore::signal@libjvm.so",
		  "then woke the waiter in sem_post < PosixSemaphore::signal made A");
	/* A thread of the library. */
	expect_in("causes", &o,
		  "sem_wait@libc;_worker%/usr/lib/python3.11/concurrent/futures/thread.py:81;"
		  "run%/usr/lib/python3.11/threading.py:975;" EVAL,
		  "then woke the waiter in sem_wait < _worker (thread.py:81) made A wait");
	expect_in("causes", &o, "[libc+0x1]@libc;[python+0x1]@python;f%/srv/a.py:1;" EVAL,
		  "then woke the waiter in f (a.py:1) made A wait");
}

/* The kernel's function adds nothing to what was waited for. */
TEST(what_was_waited_for_says_it)
{
	struct options o = script_options(101);
	char *text = script_formatted("0   c0 - R > A\n"
				      "100 c0 A S > - do_nanosleep|clock_nanosleep@libc.so;"
				      "usleep@libc.so;usleep%;ask%/srv/shop.php:4;eval@php "
				      "for=sleep:20ms\n"
				      "200 c0 - wakes A hrtimer_wakeup;__hrtimer_run_queues\n"
				      "200 c0 - R > A\n"
				      "end 400\n",
				      &o, "causes");

	if (!strstr(text, "A/101 slept in usleep < ask (shop.php:4) for sle"))
		fail_msg("expected no kernel function in\n%s", text);
	free(text);
}

/* What ran is told by line if most samples have it, else by function. */
TEST(samples_are_added_up_by_function)
{
	struct options o = script_options(101);
	char *text = script_formatted("0    c0 - R > A\n"
				      "0    c1 - R > B\n"
				      "100  c0 A S > - wait|f\n"
				      "1000 c1 B ran |f%/srv/a.py:1;work%/srv/a.py:7;" EVAL "\n"
				      "2000 c1 B ran |f%/srv/a.py:2;work%/srv/a.py:7;" EVAL "\n"
				      "3000 c1 B ran |f%/srv/a.py:3;work%/srv/a.py:7;" EVAL "\n"
				      "4000 c1 B wakes A wake|send\n"
				      "4000 c0 - R > A\n"
				      "end 5000\n",
				      &o, "causes");

	if (!strstr(text, "ran in f (a.py) < work\n         (a.py:7), then"))
		fail_msg("no function in\n%s", text);
	free(text);
}

/* Where most samples are on one line, and others on another one, each line has its share. */
TEST(lines_of_a_function_have_their_shares)
{
	struct options o = script_options(101);
	char *text = script_formatted("0    c0 - R > A\n"
				      "0    c1 - R > B\n"
				      "100  c0 A S > - wait|f\n"
				      "1000 c1 B ran |f%/srv/a.py:1;work%/srv/a.py:7;" EVAL "\n"
				      "2000 c1 B ran |f%/srv/a.py:2;work%/srv/a.py:7;" EVAL "\n"
				      "3000 c1 B ran |f%/srv/a.py:1;work%/srv/a.py:7;" EVAL "\n"
				      "4000 c1 B wakes A wake|send\n"
				      "4000 c0 - R > A\n"
				      "end 5000\n",
				      &o, "causes");

	if (!strstr(text, "ran in f (a.py) < work\n"
			  "         (a.py:7): 67 % f (a.py:1), 33 % f (a.py:2), then"))
		fail_msg("no lines in\n%s", text);
	free(text);
}

/* By the function's name alone, or with the place; and by native names that are shown. */
TEST(are_found_by_name)
{
	static const struct {
		const char *regex;
		bool native, found;
	} cases[] = {
		{ "^fetch$", false, true },	     { "feed\\.py:31", false, true },
		{ "^fetch \\(feed", false, true },   { "^query$", false, true },
		{ "^PyObject_Call$", false, false }, { "^PyObject_Call$", true, true },
		{ "^fetch$", true, false },	     { "^fetc$", false, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct options o = script_options(101);
		regex_t regex;
		char *text;

		o.native = cases[i].native;
		assert_int_equal(regcomp(&regex, cases[i].regex, REG_EXTENDED | REG_NOSUB), 0);
		o.within = (struct regex_list) { .regex = &regex, .n = 1 };
		text = shown("folded", CALLS, "main", &o);
		if (!*text == cases[i].found)
			fail_msg("%s: '%s'", cases[i].regex, text);
		free(text);
		regfree(&regex);
	}
}

/* Names that mean something of a native frame. */
TEST(mean_nothing_by_their_names)
{
	struct options o = script_options(101);
	char *text = script_formatted(
		"thread B S\n"
		"0   c0 - R > A\n"
		"100 c0 A S > - futex_wait|futex_wait@libc;pthread_mutex_lock%/a.py:1;" EVAL
		" for=futex:7:0x10\n"
		"100 c0 A held-by B\n"
		"end 900\n",
		&o, "tree");

	if (strstr(text, "held by"))
		fail_msg("believed:\n%s", text);
	free(text);
	/* The kernel's functions of these names are left out. */
	expect_in("tree", &o, "schedule%/a.py:1;__schedule%/a.py:2;" EVAL,
		  "| schedule (a.py:1) < __schedule (a.py:2)\n");
}

/* Of Go: neither how system calls are made, nor its library's own functions. */
#define GO_CALL                                                                            \
	"runtime/internal/syscall.Syscall6@shop;syscall.RawSyscall6@shop;syscall.Syscall@" \
	"shop;"

TEST(places_of_go_are_the_functions_that_called)
{
	struct options o = script_options(101);

	expect_in("causes", &o,
		  GO_CALL "syscall.Fsync@shop;internal/poll.(*FD).Fsync@shop;os.(*File).Sync@shop;"
			  "main.writeLog@shop;runtime.goexit.abi0@shop",
		  "ran in syscall.Fsync < internal/poll.(*FD).Fsync < os.(*File).Sync, then woke "
		  "the waiter in os.(*File).Sync < main.writeLog made A");
	expect_in("causes", &o,
		  GO_CALL "syscall.read@shop;net.(*conn).Read@shop;net/http.(*conn).serve@shop;"
			  "runtime.goexit.abi0@shop",
		  "then woke the waiter in syscall.read made A");
}
