/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * figures.h - how pictures and pages write times and percentages: three digits and a blank before
 * the unit. The scripts of both do the same (render/page/words.js, engine/report/page/words.js).
 */
#pragma once

#define FIGURE_LEN 48

/* "1.23 ms", "45.6 µs", "789 ns", "0". Less than 1 ns is told in ns with two digits behind the
 * point. */
void figure_time(char out[FIGURE_LEN], double ns);
/* "0.62 %", "35.3 %", "100 %", "0 %", "<0.01 %". */
void figure_percent(char out[FIGURE_LEN], double percent);
