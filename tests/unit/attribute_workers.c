// SPDX-License-Identifier: GPL-2.0-or-later
/* Who asked a worker: made events in, folded lines out. The examples of chain-semantics,
 * section 18. */
#include "test.h"

#include "synth_script.h"

/* The lines of A. */
static void folds(const char *script, const char *expected)
{
	struct options o = script_options(101);

	expect_text(script_folded(script, &o), expected);
}

static void classic(const char *script, const char *expected)
{
	struct options o = script_options(101);

	o.mode = MODE_CLASSIC;
	expect_text(script_folded(script, &o), expected);
}

/*
 * C queues an item at 300, while worker W executes one of B; W takes C's at 500, and wakes A at
 * 600.
 */
#define ITEM_OF_C                               \
	"queues\n"                              \
	"thread W I+ worker_thread\n"           \
	"0   c2 - R > C\n"                      \
	"0   c1 - R > A\n"                      \
	"50  c0 - R > B\n"                      \
	"100 c1 A S > - recv\n"                 \
	"200 c0 B wakes W queue;bwork\n"        \
	"200 c0 B S > W nap\n"                  \
	"600 c0 W works-on C 300 queue;cwork\n" \
	"600 c0 W wakes A wake;item\n"          \
	"600 c1 - R > A\n"                      \
	"610 c0 W I > - schedule;worker_thread\n"

TEST(an_item_is_what_who_queued_it_asked_for)
{
	folds(ITEM_OF_C "end 700\n", "A;recv;--;wake;item;W;--;queue;cwork;C;[running] 200\n"
				     "A;recv;--;wake;item;W;[running] 300\n");
	classic(ITEM_OF_C "end 700\n", "A;recv;--;wake;item;W;--;queue;cwork;C;[unknown] 500\n");
}

TEST(who_queued_it_may_have_waited)
{
	folds("queues\n"
	      "thread W I+ worker_thread\n"
	      "0   c2 - R > C\n"
	      "0   c1 - R > A\n"
	      "50  c0 - R > B\n"
	      "100 c1 A S > - recv\n"
	      "120 c2 C S > - lock\n"
	      "180 c0 B wakes C unlock\n"
	      "180 c2 - R > C\n"
	      "200 c0 B wakes W queue;bwork\n"
	      "200 c0 B S > W nap\n"
	      "600 c0 W works-on C 300 queue;cwork\n"
	      "600 c0 W wakes A wake;item\n"
	      "600 c1 - R > A\n"
	      "end 700\n",
	      "A;recv;--;wake;item;W;--;queue;cwork;C;--;unlock;B;[running] 60\n"
	      "A;recv;--;wake;item;W;--;queue;cwork;C;[running] 140\n"
	      "A;recv;--;wake;item;W;[running] 300\n");
}

TEST(an_interrupt_may_have_queued_it)
{
	folds("queues\n"
	      "thread W I+ worker_thread\n"
	      "0   c1 - R > A\n"
	      "50  c0 - R > B\n"
	      "100 c1 A S > - recv\n"
	      "200 c0 B wakes W queue;bwork\n"
	      "200 c0 B S > W nap\n"
	      "600 c0 W works-on - 300 queue;delayed_work_timer_fn;call_timer_fn;"
	      "asm_sysvec_apic_timer_interrupt;do_idle\n"
	      "600 c0 W wakes A wake;item\n"
	      "600 c1 - R > A\n"
	      "end 700\n",
	      "A;recv;--;wake;item;W;--;queue;delayed_work_timer_fn;call_timer_fn;"
	      "asm_sysvec_apic_timer_interrupt;[timer] 200\n"
	      "A;recv;--;wake;item;W;[running] 300\n");
}

/* The item of C that X executes was queued by an item that W executed, which B had queued. */
TEST(an_item_may_queue_another)
{
	folds("queues\n"
	      "thread W I+ worker_thread\n"
	      "thread X I+ worker_thread\n"
	      "0   c1 - R > A\n"
	      "0   c0 - R > B\n"
	      "100 c1 A S > - recv\n"
	      "200 c0 B wakes W queue;bwork\n"
	      "200 c0 B R > W nap\n"
	      "300 c0 W works-on B 200 queue;bwork\n"
	      "300 c0 W wakes X queue;item\n"
	      "300 c2 - R > X\n"
	      "600 c2 X works-on W 300 queue;item\n"
	      "600 c2 X wakes A wake;other\n"
	      "600 c1 - R > A\n"
	      "end 700\n",
	      "A;recv;--;wake;other;X;--;queue;item;W;--;queue;bwork;B;[running] 100\n"
	      "A;recv;--;wake;other;X;--;queue;item;W;[running] 100\n"
	      "A;recv;--;wake;other;X;[running] 300\n");
}

TEST(of_an_item_nothing_may_be_known)
{
	folds("queues\n"
	      "thread W I+ worker_thread\n"
	      "0   c1 - R > A\n"
	      "50  c0 - R > B\n"
	      "100 c1 A S > - recv\n"
	      "200 c0 B wakes W queue;bwork\n"
	      "200 c0 B S > W nap\n"
	      "600 c0 W works-on ? 500\n"
	      "600 c0 W wakes A wake;item\n"
	      "600 c1 - R > A\n"
	      "end 700\n",
	      "A;recv;--;wake;item;W;[running] 100\n"
	      "A;recv;--;wake;item;W;[unknown] 400\n");
}

/* Events of items may be missing: of what W did when it woke A nothing is known. */
TEST(lost_items_are_not_guessed)
{
	folds("queues\n"
	      "thread W I+ worker_thread\n"
	      "0   c1 - R > A\n"
	      "50  c0 - R > B\n"
	      "90  c0 W works-on B 80 queue;bwork\n"
	      "100 c1 A S > - recv\n"
	      "200 c0 B wakes W queue;bwork\n"
	      "200 c0 B S > W nap\n"
	      "300 c0 lost-work 400\n"
	      "600 c0 W wakes A wake;item\n"
	      "600 c1 - R > A\n"
	      "end 700\n",
	      "A;recv;--;wake;item;W;[unknown] 500\n");
}

/*
 * W was unknown at 300: if C woke it then, not all that is known of a waking may have been
 * recorded. D, of which nothing is known until it is woken at 300, has queued nothing then.
 */
TEST(a_loss_may_hide_that_queueing_woke_the_worker)
{
#define QUEUED_BY(who, lost, woken)                                 \
	"queues\n"                                                  \
	"thread D S\n"                                              \
	"thread W I+ worker_thread\n"                               \
	"0   c2 - R > C\n"                                          \
	"0   c1 - R > A\n" lost "100 c1 A S > - recv\n"             \
	"300 c3 - wakes D up\n" woken " c2 C wakes W queue;cwork\n" \
	"320 c0 - R > W\n"                                          \
	"600 c0 W works-on " who " 300 queue;cwork\n"               \
	"600 c0 W wakes A wake;item\n"                              \
	"600 c1 - R > A\n"                                          \
	"end 700\n"
	folds(QUEUED_BY("C", "", "300"), "A;recv;--;wake;item;W;--;queue;cwork;C;[running] 200\n"
					 "A;recv;--;wake;item;W;[runnable] 20\n"
					 "A;recv;--;wake;item;W;[running] 280\n");
	folds(QUEUED_BY("C", "50 c3 lost 60\n", "300"), "A;recv;--;wake;item;W;[runnable] 20\n"
							"A;recv;--;wake;item;W;[running] 280\n"
							"A;recv;--;wake;item;W;[unknown] 200\n");
	folds(QUEUED_BY("D", "50 c3 lost 60\n", "200"), "A;recv;--;wake;item;W;[runnable] 20\n"
							"A;recv;--;wake;item;W;[running] 280\n"
							"A;recv;--;wake;item;W;[unknown] 200\n");
}

/* ---- workers whose items are not recorded ---------------------------------------------------- */

TEST(the_last_waking_of_a_worker_asked_it)
{
	folds("queues\n"
	      "thread W I+ worker_thread\n"
	      "0   c2 - R > C\n"
	      "0   c1 - R > A\n"
	      "50  c0 - R > B\n"
	      "100 c1 A S > - recv\n"
	      "200 c0 B wakes W queue;bwork\n"
	      "200 c0 B S > W nap\n"
	      "300 c0 W I > - schedule;worker_thread\n"
	      "500 c2 C wakes W queue;cwork\n"
	      "510 c0 - R > W\n"
	      "600 c0 W wakes A wake;item\n"
	      "600 c1 - R > A\n"
	      "end 700\n",
	      "A;recv;--;wake;item;W;--;queue;cwork;C;[running] 400\n"
	      "A;recv;--;wake;item;W;[runnable] 10\n"
	      "A;recv;--;wake;item;W;[running] 90\n");
}

/* W has woken D before: what it woke A for may have come later. */
TEST(the_second_thread_that_a_worker_wakes)
{
	folds("queues\n"
	      "thread W I+ worker_thread\n"
	      "thread D S recv\n"
	      "0   c2 - R > C\n"
	      "0   c1 - R > A\n"
	      "100 c1 A S > - recv\n"
	      "500 c2 C wakes W queue;cwork\n"
	      "500 c0 - R > W\n"
	      "550 c0 W wakes D wake;item\n"
	      "600 c0 W wakes A wake;item\n"
	      "600 c1 - R > A\n"
	      "end 700\n",
	      "A;recv;--;wake;item;W;[running] 100\n"
	      "A;recv;--;wake;item;W;[unknown] 400\n");
}

/* A sleep in the midst of an item is followed as any other. */
TEST(a_worker_that_waits_in_an_item)
{
	folds("queues\n"
	      "thread W I+ worker_thread\n"
	      "0   c2 - R > C\n"
	      "0   c1 - R > A\n"
	      "50  c0 - R > B\n"
	      "100 c1 A S > - recv\n"
	      "200 c0 B wakes W queue;bwork\n"
	      "200 c0 B S > W nap\n"
	      "300 c0 W D > - schedule;io;process_one_work;worker_thread\n"
	      "500 c2 C wakes W done\n"
	      "500 c0 - R > W\n"
	      "600 c0 W wakes A wake;item\n"
	      "600 c1 - R > A\n"
	      "end 700\n",
	      "A;recv;--;wake;item;W;--;done;C;[running] 200\n"
	      "A;recv;--;wake;item;W;--;queue;bwork;B;[running] 100\n"
	      "A;recv;--;wake;item;W;[running] 200\n");
}
