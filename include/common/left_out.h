/* SPDX-License-Identifier: GPL-2.0-or-later */
/* left_out.h - the words for what a recorder left out. */
#pragma once

#include <stdint.h>

#include "chainlog.h"

/* The key of a figure, as "requests_left_out". */
const char *left_out_key(enum chainlog_left_out what);
/* What follows the number in a sentence: what was left out, and why. */
const char *left_out_words(enum chainlog_left_out what);
