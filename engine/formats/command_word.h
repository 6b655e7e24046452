/* SPDX-License-Identifier: GPL-2.0-or-later */
/* command_word.h - commands that are shown, for a shell to take. */
#pragma once

#include <stdio.h>

/*
 * Writes a word of a command, in quotes if it needs them. What a terminal must not get
 * (clean_text.h) is written by numbers, so the command is the same.
 */
void command_put_word(FILE *out, const char *word);
/*
 * Writes a line: what there is, and the command that says more of it ("more: chainwalk -f
 * requests") with the path of the trace (NULL: none). What does not fit into so many columns (0:
 * any number) goes without the former.
 */
void command_put_next(FILE *out, const char *what, const char *command, const char *path,
		      size_t columns);
