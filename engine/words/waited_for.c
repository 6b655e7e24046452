// SPDX-License-Identifier: GPL-2.0-or-later
#include "waited_for.h"

#include <string.h>

/* The text of what was put, which is freed. */
static uint32_t adopt(struct names *n, struct text_buf *b)
{
	uint32_t text = b->failed ? 0 : names_adopt(n, b->len ? b->p : "");

	text_free(b);
	return text;
}

uint32_t waited_for_frames(struct names *n, uint32_t pair, bool in_full)
{
	struct shown_objects s = names_shown_objects(n, pair);
	uint32_t object = names_object(n, s.object, in_full);
	uint32_t ready = names_object(n, s.ready, in_full);
	struct text_buf b = { 0 };

	if (!object || !ready)
		return 0;
	if (!s.ready)
		return object;
	text_puts(&b, names_text(n, object));
	text_puts(&b, ";");
	text_puts(&b, names_text(n, ready));
	return adopt(n, &b);
}

/* Appends an object's text without its brackets. */
static void put_words(struct names *n, uint32_t text, struct text_buf *b)
{
	const char *s = names_text(n, text);

	if (*s)
		text_put(b, s + 1, strlen(s) - 2);
}

uint32_t waited_for_words(struct names *n, uint32_t pair)
{
	struct shown_objects s = names_shown_objects(n, pair);
	uint32_t object = names_object(n, s.object, true);
	uint32_t ready = names_object(n, s.ready, true);
	struct text_buf b = { 0 };

	if (!object || !ready)
		return 0;
	put_words(n, object, &b);
	if (s.ready) {
		text_puts(&b, ", ready: ");
		put_words(n, ready, &b);
	}
	return adopt(n, &b);
}

uint32_t words_of_object(struct names *n, uint32_t object)
{
	uint32_t text = names_object(n, object, true);
	struct text_buf b = { 0 };

	if (!text)
		return 0;
	put_words(n, text, &b);
	return adopt(n, &b);
}
