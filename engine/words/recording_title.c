// SPDX-License-Identifier: GPL-2.0-or-later
#include "recording_title.h"

#include <string.h>

#include "common/figures.h"
#include "wall_time.h"

#define COMMAND_SHOWN 60 /* columns at most */

void recording_title_put(struct text_buf *title, const struct trace_info *i)
{
	const char *command = i->command_tgid ? strstr(i->options, " -- ") : NULL;
	char date[WALL_TIME_SIZE], length[FIGURE_LEN];

	if (command) {
		size_t len = text_fitting(command += 4, COMMAND_SHOWN);

		text_put(title, command, len);
		text_puts(title, command[len] ? ".. on " : " on ");
	}
	text_puts(title, *i->host ? i->host : "a machine");
	if (*wall_time(date, i, i->start_ns)) {
		text_puts(title, ", ");
		text_puts(title, date);
	}
	figure_time(length, (double)(i->end_ns - i->start_ns));
	text_puts(title, ", ");
	text_puts(title, length);
}
