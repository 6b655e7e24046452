// SPDX-License-Identifier: GPL-2.0-or-later
/* Who had the lock at which a thread slept, and when a lock's own word is not believed. */
#include "test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "synth_script.h"

/* A sleeps at a lock with this user stack; the lock says that B has it. */
static char *tree_of(const char *ustack, const char *more)
{
	struct options o = script_options(101);
	char script[1024];

	snprintf(script, sizeof(script),
		 "thread B S\n"
		 "0   c0 - R > A\n"
		 "100 c0 A S > - futex_wait|%s for=futex:7:0x10\n"
		 "100 c0 A held-by B\n"
		 "%s"
		 "end 900\n",
		 ustack, more);
	return script_formatted(script, &o, "tree");
}

static void expect_holder(const char *ustack, bool believed)
{
	char *text = tree_of(ustack, "");

	if (!strstr(text, believed ? " for futex 7:0x10 held by B/102\n" : " for futex 7:0x10\n"))
		fail_msg("%s: expected %s holder in\n%s", ustack, believed ? "a" : "no", text);
	free(text);
}

TEST(in_functions_for_mutexes_and_rwlocks)
{
	expect_holder("pthread_mutex_lock;f;main", true);
	expect_holder("__lll_lock_wait;___pthread_mutex_lock;f;main", true);
	expect_holder("__lll_lock_wait;__GI___pthread_mutex_lock;f;main", true);
	expect_holder("futex_wait;__GI___lll_lock_wait;lll_mutex_lock_optimized;"
		      "pthread_mutex_lock@@GLIBC_2.2.5;f",
		      true);
	expect_holder("__futex_abstimed_wait64;__pthread_mutex_clocklock_common;"
		      "pthread_mutex_timedlock;f",
		      true);
	expect_holder("__pthread_rwlock_wrlock;f;main", true);
	expect_holder("futex_abstimed_wait;pthread_rwlock_rdlock;f;main", true);
	expect_holder("__pthread_mutex_cond_lock;pthread_cond_wait;f", true);
	expect_holder("mtx_lock;f", true);
}

/* They have no names in a stripped library. */
TEST(also_below_functions_without_a_name)
{
	expect_holder("[libc.so.6+0x86020];[libc.so.6+0x8d1f0];pthread_mutex_lock;f;main", true);
}

TEST(not_where_the_word_is_something_else)
{
	expect_holder("pthread_cond_wait;f;main", false);
	expect_holder("[libc.so.6+0x86020];pthread_cond_timedwait;f;main", false);
	expect_holder("sem_wait;f;main", false);
	expect_holder("__lll_lock_wait_private;malloc;f;main", false);
	expect_holder("runtime.futex;runtime.lock2;main.main", false);
	expect_holder("syscall;std::sys::sync::mutex::futex::Mutex::lock_contended;main", false);
	/* A program's own lock, which its own mutex protects somewhere further up. */
	expect_holder("spin_then_sleep;f;pthread_mutex_lock;main", false);
	/* Nothing is known of where it slept. */
	expect_holder("", false);
}

static void expect_joined(const char *ustack, const char *more, bool believed)
{
	char *text = tree_of(ustack, more);

	if (!strstr(text, " for thread B/102") == believed)
		fail_msg("%s: expected %s thread in\n%s", ustack, believed ? "a" : "no", text);
	assert_null(strstr(text, "held by"));
	free(text);
}

TEST(who_joins_waits_for_a_thread)
{
	expect_joined("pthread_join;main", "", true);
	expect_joined("__futex_abstimed_wait64;__pthread_clockjoin_ex;main", "", true);
	expect_joined("[libc.so.6+0x86020];pthread_timedjoin_np@@GLIBC_2.34;main", "", true);
	expect_joined("thrd_join;main", "", true);
}

/* Also by how the thread woke it, as the function may have no name. */
TEST(also_by_how_the_thread_woke_it)
{
	expect_joined("[libc+0x8abb0];f", "", false);
	expect_joined("[libc+0x8abb0];f",
		      "200 c1 - R > B\n"
		      "300 c1 B wakes A try_to_wake_up;futex_wake;do_futex;mm_release;do_exit\n"
		      "310 c0 - R > A\n",
		      true);
	expect_joined("[libc+0x8abb0];f",
		      "200 c1 - R > B\n"
		      "300 c1 B wakes A try_to_wake_up;futex_wake;do_futex;__x64_sys_futex\n"
		      "310 c0 - R > A\n",
		      false);
}

TEST(a_thread_that_has_ended_holds_nothing)
{
	struct options o = script_options(101);
	char *text = script_formatted("thread B S\n"
				      "0   c0 - R > A\n"
				      "0   c1 - R > B\n"
				      "50  c1 B exits\n"
				      "60  c1 B X > -\n"
				      "100 c0 A S > - futex_wait|pthread_mutex_lock;f "
				      "for=futex:7:0x10\n"
				      "100 c0 A held-by B\n"
				      "end 900\n",
				      &o, "tree");

	assert_null(strstr(text, "held by"));
	free(text);
}

/* Each sleep has the holder of its time; a later one of which nothing is said has none. */
TEST(each_sleep_has_its_own)
{
	struct options o = script_options(101);
	char *text = tree_of("pthread_mutex_lock;f",
			     "200 c0 C wakes A k\n"
			     "210 c0 C R > A\n"
			     "300 c0 A S > - futex_wait|pthread_mutex_lock;f for=futex:7:0x10\n"
			     "400 c0 C wakes A k\n"
			     "410 c0 C R > A\n"
			     "500 c0 A S > - futex_wait|pthread_mutex_lock;f for=futex:7:0x10\n"
			     "500 c0 A held-by C\n");
	const char *first = strstr(text, "7:0x10 held by B/102"),
		   *last = strstr(text, "7:0x10 held by C/103");
	const char *bare = strstr(text, "7:0x10,");

	if (!first || !last || !bare)
		fail_msg("%s", text);
	free(text);
	/* The lock is one thing for all who hold it. */
	o.objects = OBJECTS_FULL;
	text = script_folded("thread B S\n"
			     "thread C *\n"
			     "0   c0 - R > A\n"
			     "100 c0 A S > - futex_wait|pthread_mutex_lock;f for=futex:7:0x10\n"
			     "100 c0 A held-by B\n"
			     "200 c1 C wakes A k\n"
			     "200 c0 - R > A\n"
			     "300 c0 A S > - futex_wait|pthread_mutex_lock;f for=futex:7:0x10\n"
			     "300 c0 A held-by C\n"
			     "400 c1 C wakes A k\n"
			     "400 c0 - R > A\n"
			     "end 500\n",
			     &o);
	expect_text(text,
		    "A;f;pthread_mutex_lock;[futex 7:0x10];-;futex_wait;--;k;C;[running] 200\n");
}

/* It says so itself, wherever the thread sleeps; and never that somebody is joined. */
TEST(the_lock_of_an_interpreter_needs_no_stack)
{
	static const char *const stacks[] = { "pthread_cond_timedwait;take_gil", "pthread_join;f",
					      "[python3.11]" };

	for (size_t i = 0; i < sizeof(stacks) / sizeof(*stacks); i++) {
		struct options o = script_options(101);
		char *script, *text;

		if (asprintf(&script,
			     "thread B S\n"
			     "0   c0 - R > A\n"
			     "100 c0 A S > - futex_wait|%s for=GIL:102\n"
			     "100 c0 A held-by B\n"
			     "end 500\n",
			     stacks[i]) < 0)
			abort();
		text = script_formatted(script, &o, "tree");
		if (!strstr(text, " for GIL B/102 held by B/102"))
			fail_msg("%s", text);
		free(text);
		free(script);
	}
}

/* Of a thread that slept since before the recording the list of threads says it. */
TEST(who_slept_at_the_start_has_one_too)
{
	struct options o = script_options(101);
	struct synth *m = synth_new();
	struct trace *t;
	char *text;

	synth_thread_full(
		m, &(struct encoder_thread) {
			   .tid = 101,
			   .tgid = 101,
			   .state = 'S',
			   .name = encoder_text(synth_encoder(m), "castor"),
			   .kstack = synth_kstack(m, "futex_wait"),
			   .ustack = synth_ustack(m, "pthread_mutex_lock;f"),
			   .object = encoder_object(synth_encoder(m),
						    &(struct encoder_object) { .class = "futex",
									       .name = "7:0x10",
									       .own = "",
									       .peer = 0,
									       .owner = 0 }),
		   });
	synth_thread(m, 202, "pollux");
	assert_int_equal(encoder_thread_holder(synth_encoder(m), 101, 202), 0);
	/* Of threads that are not there. */
	assert_int_equal(encoder_thread_holder(synth_encoder(m), 202, 999), 0);
	assert_int_equal(encoder_thread_holder(synth_encoder(m), 999, 101), 0);
	synth_end(m, 300);
	t = synth_open(m);
	text = trace_formatted(t, &o, "tree");
	if (!strstr(text, " for futex 7:0x10 held by pollux/202;"))
		fail_msg("%s", text);
	free(text);
	trace_close(t);
	synth_free(m);
}
