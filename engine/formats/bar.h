/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bar.h - bars in text: by eighths of a column where there is UTF-8, else of "#". */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Writes a bar as long as part is of all in so many columns, with spaces up to these. */
void bar_put(FILE *out, uint64_t part, uint64_t all, size_t columns, bool utf8);
