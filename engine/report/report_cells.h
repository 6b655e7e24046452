/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_cells.h - figures in the page as it is visible without a script. */
#pragma once

#include <stdint.h>
#include <stdio.h>

/* As time() and percent() in words.js. */
void report_put_time(FILE *out, uint64_t ns);
void report_put_percent(FILE *out, double percent);
/* A cell with a time; the script sorts by the attribute. */
void report_put_time_cell(FILE *out, uint64_t ns);
