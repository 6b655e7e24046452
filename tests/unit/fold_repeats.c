// SPDX-License-Identifier: GPL-2.0-or-later
/* Links that repeat the one before them (chain-semantics, section 12). */
#include "test.h"
#include <stdio.h>

#include "synth_script.h"

/* The section's example: B holds a lock for which C, D and E wait, all called worker. */
static const char convoy[] = "others-are worker\n"
			     "thread C S wait|lock\n"
			     "thread D S wait|lock\n"
			     "thread E S wait|lock\n"
			     "0    c0 - R > A\n"
			     "0    c1 - R > B\n"
			     "100  c0 A S > - sleep|recv\n"
			     "500  c1 B wakes C wake|unlock;hold\n"
			     "500  c2 - R > C\n"
			     "600  c2 C wakes D wake|unlock\n"
			     "600  c3 - R > D\n"
			     "700  c3 D wakes E wake|unlock\n"
			     "700  c0 - R > E\n"
			     "800  c0 E wakes A wake|reply\n"
			     "end 800\n";

static struct options folded(unsigned int depth)
{
	struct options o = script_options(101);

	o.depth = depth;
	o.fold_repeats = true;
	return o;
}

static void gives(const char *script, unsigned int depth, const char *expected)
{
	struct options o = folded(depth);

	expect_text(script_folded(script, &o), expected);
}

#define REPLY "A;recv;-;sleep;--;wake;-;reply;worker"

TEST(a_lock_that_is_handed_on_is_one_link)
{
	gives(convoy, 6,
	      REPLY ";--;wake;-;unlock;worker x 2;--;wake;-;unlock;hold;B;[running] 400\n" REPLY
		    ";--;wake;-;unlock;worker x 2;[running] 200\n" REPLY ";[running] 100\n");
}

TEST(the_depth_counts_what_is_left)
{
	gives(convoy, 3,
	      REPLY ";--;wake;-;unlock;worker x 2;--;wake;-;unlock;hold;B;[running] 400\n" REPLY
		    ";--;wake;-;unlock;worker x 2;[running] 200\n" REPLY ";[running] 100\n");
	gives(convoy, 2,
	      REPLY ";--;wake;-;unlock;worker x 2;[depth limit] 400\n" REPLY
		    ";--;wake;-;unlock;worker x 2;[running] 200\n" REPLY ";[running] 100\n");
	gives(convoy, 1, REPLY ";[depth limit] 600\n" REPLY ";[running] 100\n");
}

TEST(a_count_stands_before_the_mark_of_a_waker)
{
	struct options o = folded(2);

	o.annotate = true;
	expect_text(script_folded(convoy, &o),
		    "A;recv;-;sleep_[k];--;wake_[w];-;reply_[w];worker_[w];--;wake_[w];-;"
		    "unlock_[w];worker x 2_[w];[depth limit] 400\n"
		    "A;recv;-;sleep_[k];--;wake_[w];-;reply_[w];worker_[w];--;wake_[w];-;"
		    "unlock_[w];worker x 2_[w];[running] 200\n"
		    "A;recv;-;sleep_[k];--;wake_[w];-;reply_[w];worker_[w];[running] 100\n");
}

/* C's sleep, which ends with B's link, has this place; D's has "wait|lock", for p+0x1. */
static void is_repeated(const char *place, const char *expected)
{
	char script[1024];

	snprintf(script, sizeof(script),
		 "others-are worker\n"
		 "0    c0 - R > A\n"
		 "0    c1 - R > E\n"
		 "1    c2 - R > C\n"
		 "2    c3 - R > D\n"
		 "5    c2 C S > - %s\n"
		 "6    c3 D S > - wait|lock for=futex:p+0x1\n"
		 "100  c0 A S > - sleep|recv\n"
		 "500  c1 E wakes C wake|unlock\n"
		 "500  c2 - R > C\n"
		 "600  c2 C wakes D wake|unlock\n"
		 "600  c3 - R > D\n"
		 "700  c3 D wakes A wake|reply\n"
		 "end 700\n",
		 place);
	gives(script, 6, expected);
}

TEST(other_objects_and_places_are_no_repetition)
{
	static const char apart[] =
		REPLY ";--;wake;-;unlock;worker;--;wake;-;unlock;worker;[running] 400\n" REPLY
		      ";--;wake;-;unlock;worker;[running] 100\n" REPLY ";[running] 100\n";

	is_repeated("wait|lock for=futex:p+0x1",
		    REPLY ";--;wake;-;unlock;worker x 2;[running] 500\n" REPLY ";[running] 100\n");
	is_repeated("wait|lock for=futex:p+0x2", apart);
	is_repeated("wait|take for=futex:p+0x1", apart);
}

TEST(a_tree_says_how_many)
{
	struct options o = folded(6);

	expect_text(script_formatted(convoy, &o, "tree"),
		    "A (101)\n"
		    "  +0.000100000 s  slept 700.000 us (S)\n"
		    "    in sleep | recv\n"
		    "    woken by worker (105), which ran 100.000 us, slept 600.000 us\n"
		    "      in wake | reply\n"
		    "      asleep in wait | lock\n"
		    "      woken by worker x 2 (104 and others), which ran 200.000 us, slept "
		    "400.000 us\n"
		    "        in wake | unlock\n"
		    "        asleep in wait | lock\n"
		    "        woken by B (102), which ran 400.000 us\n"
		    "          in wake | unlock < hold\n");
}
