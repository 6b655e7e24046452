// SPDX-License-Identifier: GPL-2.0-or-later
#include "exec_text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "chainlog.h"

#define LEFT_OUT "..."

/* Adds len bytes at from, in which each argument ends with a 0. */
static char *put(char *to, const char *from, size_t len)
{
	for (size_t i = 0; i < len; i++)
		*to++ = (char)(!from[i]			      ? CHAINLOG_ARGUMENT
			       : from[i] == CHAINLOG_ARGUMENT ? '?'
							      : from[i]);
	return to;
}

void exec_text(char to[EXEC_TEXT_SIZE], const struct wire_exec *ev)
{
	size_t len = ev->arguments_len, most = sizeof(ev->first) + sizeof(ev->last);
	size_t first = len < sizeof(ev->first) ? len : sizeof(ev->first);
	size_t last = len - first < sizeof(ev->last) ? len - first : sizeof(ev->last);
	size_t name = strnlen(ev->first, first);
	char *end;

	snprintf(to, EXEC_TEXT_SIZE, "%.*s", (int)sizeof(ev->filename), ev->filename);
	/* A name in itself may have such a byte. */
	for (end = to; *end; end++)
		if (*end == CHAINLOG_ARGUMENT)
			*end = '?';
	end = put(end, ev->first + name, first - name);
	if (len > most)
		end = put(end, LEFT_OUT, sizeof(LEFT_OUT) - 1);
	end = put(end, ev->last, last);
	/* The last one's terminator begins no other one. */
	if (end[-1] == CHAINLOG_ARGUMENT)
		end--;
	*end = 0;
}
