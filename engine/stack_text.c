// SPDX-License-Identifier: GPL-2.0-or-later
#include "stack_text.h"

#include <string.h>

/* The bytes [begin, end) of a text; none where there is no frame to show, as may be with -K. */
static struct stack_text part(const char *s, size_t begin, size_t end)
{
	return (struct stack_text) { s + (begin < end ? begin : 0), begin < end ? end - begin : 0 };
}

static size_t name_length(struct names *n, uint32_t thread, uint64_t at_ns)
{
	return strlen(names_text(n, names_thread(n, thread, at_ns)));
}

struct stack_text stack_text_off_cpu(struct names *n, uint32_t thread, const struct wait *w)
{
	/* "NAME;stack" */
	size_t begin = name_length(n, thread, w->out_ns) + 1;
	uint32_t head = names_head(n, thread, w);

	if (!head)
		return (struct stack_text) { NULL, 0 };
	return part(names_text(n, head), begin, strlen(names_text(n, head)));
}

struct stack_text stack_text_waker(struct names *n, const struct wait *w, struct context context)
{
	/* "--;stack;WAKER"; of an interrupt without the last */
	size_t after = context.interrupt ? 0 : name_length(n, w->waker, w->wake_ns) + 1;
	uint32_t link = names_link(n, w, context, true);
	size_t len;

	if (!link)
		return (struct stack_text) { NULL, 0 };
	len = strlen(names_text(n, link));
	return part(names_text(n, link), strlen("--;"), len > after ? len - after : 0);
}
