// SPDX-License-Identifier: GPL-2.0-or-later
/* Words of requests. */
#include "test.h"

#include "words/request_words.h"

TEST(a_route_without_a_word_does_not_say_what_was_asked_for)
{
	assert_false(route_says_what("GET /*"));
	assert_false(route_says_what("GET /*/*"));
	assert_false(route_says_what("tcp :80 GET /*"));
	assert_true(route_says_what("GET /cart/*"));
	assert_true(route_says_what("HGETALL"));
}
