/* SPDX-License-Identifier: GPL-2.0-or-later */
/* exec_text.h - what a program was started with, as one text. */
#pragma once

#include <linux/types.h>

#include "chainwire.h"

/* Enough for any, with its terminator. */
#define EXEC_TEXT_SIZE (WIRE_PATH_LEN + WIRE_ARGUMENTS_FIRST + WIRE_ARGUMENTS_LAST + 8)

/*
 * Writes the text of CHAINLOG_EXEC, of less than EXEC_TEXT_SIZE bytes: the file's name, and the
 * arguments without the first one, which is the program's name. "..." stands for what was not kept
 * of them. ev is a copy of foreign memory: nothing in it is trusted.
 */
void exec_text(char to[EXEC_TEXT_SIZE], const struct wire_exec *ev);
