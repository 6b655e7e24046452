// SPDX-License-Identifier: GPL-2.0-or-later
/* C++ and Rust names as people know them. */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "common/demangle.h"

static void expect(const char *symbol, const char *want)
{
	char buf[256];

	assert_string_equal(demangle(symbol, buf, sizeof(buf)), want);
}

TEST(cpp_names_keep_template_arguments_and_lose_parameters)
{
	expect("_ZN1A1bEv", "A::b");
	expect("_ZNSt6vectorIiSaIiEE9push_backERKi",
	       "std::vector<int, std::allocator<int> >::push_back");
	expect("_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()");
	expect("_ZN1A1bEv.part.0.cold", "A::b");
}

TEST(rust_names_lose_their_hash)
{
	expect("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write");
	expect("_ZN4core3fmt5write17h0123456789abcdefE.llvm.1234", "core::fmt::write");
	expect("_RNvC6_123foo3bar", "123foo::bar");
}

TEST(other_names_stay)
{
	expect("main", "main");
	expect("__libc_start_main", "__libc_start_main");
	expect("_Z", "_Z");
	expect("_Zebra", "_Zebra");
	expect("_R", "_R");
	expect("", "");
}

/*
 * f<pair<int, int>, pair<S1, S1>, pair<S2, S2>, ...>: each argument is twice as long as the one
 * before it. With 30 of them that is 20 GB.
 */
TEST(a_name_that_stands_for_an_endless_one_stays_as_it_is)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char symbol[1024] = "_Z1fISt4pairIiiE", *p = symbol + strlen(symbol);
	char *short_end = NULL;

	for (int i = 1; i <= 30; i++) {
		p += sprintf(p, "S0_IS%c_S%c_E", digits[i], digits[i]);
		if (i == 1)
			short_end = p;
	}
	strcpy(p, "Evv");
	expect(symbol, symbol);
	strcpy(short_end, "Evv");
	expect(symbol,
	       "f<std::pair<int, int>, std::pair<std::pair<int, int>, std::pair<int, int> > >");
}

TEST(a_name_cut_anywhere_does_no_harm)
{
	static const char whole[] = "_ZNKSt8functionIFvSt6vectorIN3foo3barIiEESaIS3_EEEEclES5_";
	char buf[256];

	for (size_t len = 0; len < sizeof(whole); len++) {
		char symbol[sizeof(whole)];

		snprintf(symbol, len + 1, "%s", whole);
		assert_true(strlen(demangle(symbol, buf, sizeof(buf))) < sizeof(buf));
	}
}

TEST(what_does_not_fit_stays_as_it_is)
{
	const char *symbol = "_ZNSt6vectorIiSaIiEE9push_backERKi";
	char buf[20] = "untouched behind it";

	assert_ptr_equal(demangle(symbol, buf, 8), symbol);
	assert_string_equal(buf + 8, "d behind it");
	assert_ptr_equal(demangle(symbol, buf, 0), symbol);
}
