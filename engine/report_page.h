/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_page.h - the sections of a report as HTML, as they are without a script. */
#ifndef ENGINE_REPORT_PAGE_H
#define ENGINE_REPORT_PAGE_H

#include "report.h"

/* The heading, what the trace is of, and the totals. */
void report_page_summary(FILE *out, const struct report *r);
/* What the script puts the filters into. */
void report_page_filter(FILE *out);
/* The waits, which the script draws; how many there are and what was left out. */
void report_page_waits(FILE *out, const struct report *r);
/* The threads, as a table; the places of the histogram and of the matrix. */
void report_page_tables(FILE *out, const struct report *r);
/* What is missing in the trace, and what in the page. */
void report_page_lost(FILE *out, const struct report *r);

#endif /* ENGINE_REPORT_PAGE_H */
