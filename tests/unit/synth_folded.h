/* SPDX-License-Identifier: GPL-2.0-or-later */
/* synth_folded.h - folded lines made coarser, to compare them with others. */
#pragma once

#include <stddef.h>

/*
 * The folded text with of_line(), which is freed, in place of each line, as folded text again. To
 * be freed.
 */
char *folded_as(const char *text, char *(*of_line)(const char *line, size_t len));
