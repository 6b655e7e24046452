// SPDX-License-Identifier: GPL-2.0-or-later
// What of a name stands on a frame.
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "label.h"

/* Fonts whose characters all have the width 1. */
static struct label_font font = { .size = 1, .width = 1 };

static void fits(const char *name, double room, const char *want)
{
	char buf[LABEL_BUF], got[256];
	struct label l = label_fit(&font, name, strlen(name), room, false, buf);

	snprintf(got, sizeof(got), "%s%.*s%s", l.dots_before ? ".." : "", (int)l.len, l.p,
		 l.dots_after ? ".." : "");
	assert_string_equal(got, want);
}

TEST(a_plain_name_keeps_its_start)
{
	fits("do_page_fault", 13, "do_page_fault");
	fits("do_page_fault", 9, "do_page..");
	fits("do_page_fault", 2, "");
	fits("caf\u00e9_\u4e2d\u6587_name", 9, "caf\u00e9_\u4e2d\u6587..");
}

TEST(a_qualified_name_keeps_its_last_parts)
{
	fits("app::service::Handler::method_7", 19, "..Handler::method_7");
	fits("app::service::Handler::method_7", 10, "..method_7");
	fits("app::service::Handler::method_7", 7, "..hod_7");
	fits("app::service::Handler::method_7", 5, "met..");
	fits("org.example.Service.run", 13, "..Service.run");
	fits("/usr/lib/node/index.js", 10, "..index.js");
	fits("[libc.so.6]", 8, "..so.6]");
}

TEST(parameters_arguments_and_hashes_are_elided)
{
	fits("std::vector<int, std::allocator<int> >::push_back(int const&)", 32,
	     "std::vector<..>::push_back(..)");
	fits("<alloc::vec::Vec<T> as core::ops::Drop>::drop", 12, "<..>::drop");
	fits("app::run::h0123456789abcdef", 8, "app::run");
	fits("app::run::h0123456789abcdeg", 27, "app::run::h0123456789abcdeg");
	fits("split_huge_page.constprop.0", 15, "split_huge_page");
	fits("operator<(Key const&, Key const&)", 16, "operator<(..)");
	fits("f()", 3, "f()");
}

/* Dots in brackets would be all that there is room for. */
TEST(places_and_then_arguments_go_before_the_name_does)
{
	fits("Thread._bootstrap_inner (threading.py:1045)", 18, ".._bootstrap_inner");
	fits("work (log.py:21)", 8, "work");
	fits("ThreadPoolExecutor.getTask (ThreadPoolExecutor.java)", 9, "..getTask");
	fits("ThreadPoolExecutor.getTask (ThreadPoolExecutor.java)", 6, "..Task");
	fits("<module> (log.py:21)", 10, "<module>");
	fits("<module> (log.py:21)", 6, "<mod..");
	fits("<lambda>", 5, "<la..");
	fits("java::lang::Thread::run(int, char)", 9, "..run(..)");
	fits("java::lang::Thread::run(int, char)", 7, "..run");
	fits("push_back(int const&)", 11, "push_back");
	fits("operator()(int, char)", 12, "operator()");
	fits("(..)", 3, "(..");
}

TEST(an_option_keeps_the_start_or_the_end)
{
	font.keep = LABEL_START;
	fits("app::Handler::method_7", 8, "app::H..");
	font.keep = LABEL_END;
	fits("do_page_fault", 7, "..fault");
	font.keep = LABEL_AUTO;
}

TEST(characters_have_their_own_widths)
{
	struct label_font real = { .size = 12 };
	char buf[LABEL_BUF];

	/* Verdana's i is 0.274 of the font size wide, its W 0.989. */
	assert_int_equal(label_fit(&real, "iiiiiiiiii", 10, 40, false, buf).len, 10);
	assert_true(label_fit(&real, "WWWWWWWWWW", 10, 40, false, buf).len < 4);
	assert_true(label_fit(&real, "WWWWWWWWWW", 10, 120, false, buf).len == 10);
	assert_true(label_fit(&real, "WWWWWWWWWW", 10, 120, true, buf).len < 10);
	assert_int_equal(label_fit(&real, "\u4e2d\u6587\u4e2d\u6587", 12, 53, false, buf).len, 12);
	assert_true(label_fit(&real, "\u4e2d\u6587\u4e2d\u6587", 12, 47, false, buf).len < 12);
}

TEST(text_is_white_where_that_is_easier_to_read)
{
	assert_true(label_light(0x000000));
	assert_true(label_light(0x404040));
	assert_true(label_light(0xd63a18));
	assert_false(label_light(0xff8040));
	assert_false(label_light(0xffffff));
}

/* No bracket, whatever its partner, costs more than one pass. */
TEST(unbalanced_brackets_are_left)
{
	char name[LABEL_BUF + 1], buf[LABEL_BUF];

	memset(name, '<', LABEL_BUF);
	name[LABEL_BUF] = 0;
	assert_true(label_fit(&font, name, LABEL_BUF, 10, false, buf).len == 8);
	fits(")>)>-><(", 6, ")>)>..");
}
