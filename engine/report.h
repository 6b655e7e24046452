/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report.h - what a report (--format=html) is written from, worked out once: the folded chains,
 * the table of threads, figures by thread and time, the waits that are shown, where events were
 * lost. format_html.c writes the page, report_json.c the data that the page's script draws.
 */
#ifndef ENGINE_REPORT_H
#define ENGINE_REPORT_H

#include "fold.h"
#include "format.h"
#include "report_counts.h"
#include "report_picks.h"
#include "thread_rows.h"

enum {
	REPORT_ROWS = 200,   /* threads with a row of their own */
	REPORT_LOSSES = 200, /* spans listed */
};

struct report {
	const struct format_input *in;
	struct names *names;
	struct selection *selection;
	struct fold *fold;
	struct thread_row *rows; /* most running time first */
	size_t n_threads;	 /* in rows */
	uint32_t n_rows;	 /* of them on the page, the first ones */
	struct thread_row rest;	 /* those that are not, added up */
	uint32_t *row_of;	 /* by thread: its row; n_rows: one of the rest */
	struct report_counts counts;
	struct report_pick *picks; /* longest first */
	size_t n_picks;
	struct event *losses; /* EVENT_LOST, in order of time, the first REPORT_LOSSES */
	size_t n_losses, n_all_losses;
	/* What report_json_write() found room for. */
	size_t n_waits_written;
	uint64_t drawn_ns; /* the shortest one of these */
};

/* 0 or a negative errno. To be ended with report_free(), also after an error. */
int report_init(struct report *r, const struct format_input *in);
void report_free(struct report *r);

/*
 * Writes the data for the page's script as one JSON object, without a `<`, so that it can stand in
 * an element of the page. Returns 0 or -ENOMEM; write errors are left in ferror(out).
 */
int report_json_write(struct report *r, FILE *out);

#endif /* ENGINE_REPORT_H */
