/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report.h - the data of a report (--format=html), computed once: the folded chains, the table of
 * threads, figures by thread and time, the waits that are shown, the losses of events.
 * format_html.c computes it and assembles the page from report_page.c's sections and
 * report_json.c's data for the page's script.
 */
#ifndef ENGINE_REPORT_H
#define ENGINE_REPORT_H

#include "chain/fold.h"
#include "formats/format.h"
#include "report_counts.h"
#include "report_waits.h"
#include "formats/format_threads.h"

enum {
	REPORT_ROWS = 200,   /* threads with a row of their own */
	REPORT_LOSSES = 200, /* losses listed */
};

struct report {
	const struct format_input *in;
	struct names *names;
	struct wait_filter *filter;
	struct fold *fold;
	struct thread_row *rows; /* most running time first */
	size_t n_threads;	 /* in rows */
	uint32_t n_rows;	 /* of them on the page: the first ones */
	struct thread_row rest;	 /* the others, added up */
	uint32_t *row_of;	 /* by thread: its row; n_rows: one of the others */
	struct report_counts counts;
	struct report_wait *waits; /* longest first */
	size_t n_waits;
	const struct trace_loss *losses; /* the trace's */
	size_t n_all_losses, n_losses;	 /* n_losses: listed, the first ones */
	/* Set by report_json_write(): the waits that had room, and the length of the shortest. */
	size_t n_waits_written;
	uint64_t drawn_ns;
};

/*
 * Writes the data for the page's script as one JSON object without a `<`, which would end the
 * element of the page that holds it. Returns 0 or -ENOMEM; write errors are left in ferror(out).
 */
int report_json_write(struct report *r, FILE *out);

/* The sections of the page, as they are visible without a script. */
/* The heading, the trace's properties, the totals. */
void report_page_summary(FILE *out, const struct report *r);
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
