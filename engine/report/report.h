/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report.h - the data of a report (--format=html), computed once: root causes, the folded chains,
 * the table of threads, figures by thread and time, the waits that are shown, the losses of events.
 * format_html.c computes it and assembles the page from report_page.c's sections and
 * report_json.c's data for the page's script.
 */
#ifndef ENGINE_REPORT_H
#define ENGINE_REPORT_H

#include "causes/causes.h"
#include "fold/fold.h"
#include "select/scope.h"
#include "formats/format.h"
#include "report_counts.h"
#include "report_waits.h"
#include "formats/format_threads.h"

enum {
	REPORT_CAUSES = 200, /* the most */
	REPORT_ROWS = 200,   /* threads with a row of their own */
	REPORT_LOSSES = 200, /* losses listed */
};

struct report {
	const struct format_input *in;
	struct names *names;
	struct wait_filter *filter;
	struct options cause_options; /* how chains are followed to their causes, and over time */
	struct causes *causes;
	const struct cause **cause; /* those shown, in the page's order */
	size_t n_causes;
	struct scope *command; /* the threads of the command that was recorded; NULL: none was */
	struct fold *fold;
	struct thread_row *rows; /* in the page's order, see report_thread_group() */
	size_t n_threads;	 /* in rows */
	uint32_t n_rows;	 /* how many of them are on the page: the first ones */
	struct thread_row rest;	 /* the others, added up */
	uint32_t *row_of;	 /* by thread: its row; n_rows: one of the others */
	struct report_counts counts;
	struct report_wait *waits; /* the examples of causes, then the longest first */
	size_t n_waits;
	const struct trace_loss *losses; /* the trace's */
	size_t n_all_losses, n_losses;	 /* n_losses: how many are listed, from the first on */
	size_t n_waits_written;		 /* how many had room; set by report_json_write() */
};

/*
 * Rows of threads stand in this order, and within a group by their figures: threads of the recorded
 * command, or all if none was recorded; other programs; threads that have no name.
 */
enum report_group {
	REPORT_OWN,
	REPORT_OTHER,
	REPORT_NAMELESS,
	REPORT_GROUPS,
};

enum report_group report_thread_group(const struct report *r, uint32_t thread);

/*
 * Writes the data for the page's script as one JSON object without a `<`, which would end the
 * element of the page that holds it. Returns 0 or -ENOMEM; write errors are left in ferror(out).
 */
int report_json_write(struct report *r, FILE *out);

/*
 * The functions below write the sections of the page, as they are visible without a script. Write
 * errors are left in ferror(out).
 */
/* The heading. */
void report_page_heading(FILE *out, const struct report *r);
/* The trace's properties, the totals. */
void report_page_summary(FILE *out, const struct report *r);
/* The table of causes, as --format=causes has it. */
void report_page_causes(FILE *out, const struct report *r);
/* The place of the filters, which the script adds. */
void report_page_filter(FILE *out);
/* The number of waits listed and left out; the script draws the list. */
void report_page_waits(FILE *out, const struct report *r);
/* The table of threads; the places of the histogram and of the table of wakers. */
void report_page_tables(FILE *out, const struct report *r);
/* What is missing in the trace. */
void report_page_lost(FILE *out, const struct report *r);

extern const struct format format_html;

#endif /* ENGINE_REPORT_H */
