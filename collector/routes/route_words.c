// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A path's template: words stay, what may be a value is a *. A word is what people call things by:
 * "users", "jquery.min.js", "v2", "getOrders". Ids, numbers, hashes, tokens, names with an @ or
 * percent signs are none. A secret of which each part reads as a word is not told from one: that is
 * left to who counts requests (route_table.c).
 */
#include "route_writer.h"

#define SEGMENTS_MAX 6
#define WORD_MAX 32	/* bytes of a segment */
#define RUN_MAX 20	/* letters without anything between */
#define DIGITS_MAX 2	/* at a word's end, as in "oauth2" */
#define EXTENSION_MAX 5 /* letters behind the last dot of what is no word */
#define LONG_RUN 8	/* letters: then there is a vowel in each WITHOUT_VOWEL of them */
#define WITHOUT_VOWEL 6
#define HEX_WITH_DIGIT 4 /* letters and digits from which on a hexadecimal number is one */

void route_put(struct route_writer *w, uint8_t c)
{
	if (w->len + 1 >= ROUTE_NAME_MAX)
		return;
	w->route->name[w->len++] = (char)c;
	w->route->name[w->len] = '\0';
}

void route_put_text(struct route_writer *w, const char *text)
{
	bool is_fixed = w->route->fixed == w->len;

	while (*text)
		route_put(w, (uint8_t)*text++);
	if (is_fixed)
		w->route->fixed = w->len;
}

static bool is_between(uint8_t c)
{
	return c == '-' || c == '_' || c == '.' || c == '~' || c == ':' || c == '+';
}

static bool is_vowel(uint8_t c)
{
	return c && strchr("aeiouy", to_lower(c));
}

static bool is_hexadecimal(uint8_t c)
{
	return is_digit(c) || (to_lower(c) >= 'a' && to_lower(c) <= 'f');
}

/* Whether letters and digits may be a number to the base of 16, as ids and hashes are. */
static bool is_hexadecimal_number(struct bytes part)
{
	size_t n = left(&part), digits = 0;

	while (part.at < part.end) {
		digits += is_digit(*part.at);
		if (!is_hexadecimal(*part.at++))
			return false;
	}
	return digits ? n >= HEX_WITH_DIGIT : n == 8 || n == 12 || n >= 16;
}

/* Whether capitals are as in "likeThis", "LikeThis" or "LIKE": each begins a word, a third at most.
 */
static bool is_cased_as_words(struct bytes letters)
{
	size_t upper = 0, n = left(&letters);
	bool is_begun = false;

	for (const uint8_t *c = letters.at; c < letters.end; c++)
		upper += is_upper(*c);
	if (!upper || upper == n)
		return true;
	for (; letters.at < letters.end; letters.at++) {
		if (is_begun && is_upper(*letters.at))
			return false;
		is_begun = is_upper(*letters.at);
	}
	return !is_begun && 3 * upper <= n;
}

/* Whether letters can be spoken, unlike those of a token. */
static bool is_spoken(struct bytes letters)
{
	size_t n = left(&letters), without = 0;

	for (; n >= LONG_RUN && letters.at < letters.end; letters.at++) {
		without = is_vowel(*letters.at) ? 0 : without + 1;
		if (without >= WITHOUT_VOWEL)
			return false;
	}
	return n <= RUN_MAX;
}

/* Letters with at most two digits behind them: "users", "v2"; or the digits behind "v1." */
static bool is_word_part(struct bytes part, bool may_be_number)
{
	struct bytes letters = { part.at, part.at };

	while (letters.end < part.end && is_letter(*letters.end))
		letters.end++;
	for (const uint8_t *c = letters.end; c < part.end; c++)
		if (!is_digit(*c))
			return false;
	if ((size_t)(part.end - letters.end) > DIGITS_MAX)
		return false;
	if (!left(&letters))
		return may_be_number && left(&part) > 0;
	return is_spoken(letters) && is_cased_as_words(letters) && !is_hexadecimal_number(part);
}

/* "v1": what may be followed by a dot and a number. */
static bool is_version(struct bytes part)
{
	return left(&part) >= 2 && to_lower(*part.at) == 'v' && is_digit(part.at[1]);
}

static bool is_word(struct bytes segment)
{
	bool after_version = false;

	if (!left(&segment) || left(&segment) > WORD_MAX)
		return false;
	for (;;) {
		struct bytes part = { segment.at, segment.at };

		while (part.end < segment.end && !is_between(*part.end))
			part.end++;
		if (!is_word_part(part, after_version))
			return false;
		if (part.end == segment.end)
			return true;
		after_version = *part.end == '.' && is_version(part);
		segment.at = part.end + 1;
	}
}

static void put_segment(struct route_writer *w, struct bytes segment)
{
	const uint8_t *dot = segment.end;

	if (is_word(segment)) {
		while (segment.at < segment.end)
			route_put(w, *segment.at++);
		return;
	}
	route_put(w, '*');
	if (memchr(segment.at, '@', left(&segment)))
		return; /* a name of somebody's */
	while (dot > segment.at && is_letter(dot[-1]))
		dot--;
	if (dot > segment.at && dot[-1] == '.' && dot < segment.end &&
	    segment.end - dot <= EXTENSION_MAX)
		for (dot--; dot < segment.end; dot++)
			route_put(w, *dot);
}

void route_put_path(struct route_writer *w, struct bytes path)
{
	size_t segments = 0;

	while (peek(&path) == '/') {
		struct bytes segment;

		while (peek(&path) == '/')
			path.at++;
		segment = (struct bytes) { path.at, path.at };
		while (segment.end < path.end && !is_one_of(*segment.end, "/?#;"))
			segment.end++;
		route_put(w, '/');
		if (segments++ == SEGMENTS_MAX) {
			route_put_text(w, "..");
			return;
		}
		if (left(&segment))
			put_segment(w, segment);
		path.at = segment.end;
	}
}
