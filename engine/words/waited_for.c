// SPDX-License-Identifier: GPL-2.0-or-later
#include "waited_for.h"

#include <string.h>

#include "base/kernel_functions.h"
#include "object_names.h"

/* The text of what was put, which is freed. */
static uint32_t adopt(struct names *n, struct text_buf *b)
{
	uint32_t text = names_adopt(n, b->len ? b->p : "");

	text_free(b);
	return text;
}

/* Appends an object's text without its brackets. */
static void put_words(const struct names *n, uint32_t text, struct text_buf *b)
{
	const char *s = names_text(n, text);

	if (*s)
		text_put(b, s + 1, strlen(s) - 2);
}

/* Appends it as it is. */
static void put_frame(const struct names *n, uint32_t text, struct text_buf *b)
{
	text_puts(b, names_text(n, text));
}

static uint32_t waited_for(struct names *n, uint32_t pair, bool in_full,
			   void (*put)(const struct names *n, uint32_t text, struct text_buf *b),
			   const char *before_ready)
{
	struct shown_objects s = names_shown_objects(n, pair);
	uint32_t object = names_object(n, s.object, in_full);
	uint32_t ready = names_object(n, s.ready, in_full);
	struct text_buf b = { 0 };

	put(n, object, &b);
	if (s.ready) {
		text_puts(&b, before_ready);
		put(n, ready, &b);
	}
	return adopt(n, &b);
}

uint32_t waited_for_frames(struct names *n, uint32_t pair, bool in_full)
{
	return waited_for(n, pair, in_full, put_frame, ";");
}

uint32_t waited_for_words(struct names *n, uint32_t pair)
{
	return waited_for(n, pair, true, put_words, ", ready: ");
}

uint32_t words_of_object(struct names *n, uint32_t object)
{
	uint32_t text = names_object(n, object, true);
	struct text_buf b = { 0 };

	put_words(n, text, &b);
	return adopt(n, &b);
}

const char *words_not_woken(const struct names *n, const struct wait *w)
{
	const struct timelines *tl = object_names_timelines(names_objects(n));
	uint32_t kstack = timelines_pair(tl, w->waker_stack).kstack;

	if (!wait_killed(w))
		return "until the recording ended";
	if (kernel_stack_flags(names_kernel_stacks(n), kstack, UINT32_MAX) & KFUNC_ENDS_PROCESS)
		return "until its process ended";
	return "until it was killed";
}
