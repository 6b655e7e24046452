/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report.h - the data of a report (--format=html), computed once: root causes, the folded chains,
 * the table of threads, figures by thread and time, the waits that are shown, the losses of events.
 * format_html.c computes it and assembles the page from report_page.c's sections and
 * report_json.c's data for the page's script.
 */
#pragma once

#include "base/pairs.h"
#include "base/cpus.h"
#include "causes/causes.h"
#include "fold/fold.h"
#include "formats/format.h"
#include "formats/format_threads.h"
#include "select/scope.h"
#include "select/top_waits.h"

enum {
	REPORT_CAUSES = 200, /* the most */
	REPORT_FURTHER = 60, /* so many are written, most of them for a filter to find */
	REPORT_ROWS = 200,   /* threads with a row of their own */
	REPORT_LOSSES = 200, /* losses listed */
};

enum {
	REPORT_STEPS = 100,
	REPORT_SLICES = 50,   /* of the graphs */
	REPORT_COLUMNS = 600, /* of the lanes of threads */
	REPORT_WAKERS = 200,  /* distinct names; the others are one waker */
	REPORT_CLASSES = 32,  /* of what was waited for; the last one is all others */
	REPORT_CELLS = 30000, /* of waits, of wakeups, of classes */
	REPORT_CAUSE_CELLS = 12000,
	REPORT_SLOTS = 64, /* log2 of microseconds, as in --format=hist */
};

/* Equal steps of time; the last one may be shorter. */
struct report_steps {
	uint64_t from_ns, to_ns, step_ns;
	uint32_t n;
};

struct report_wakeups {
	uint64_t count, blocked_ns;
};

/*
 * The figures that the page filters by thread and time. The window of time is divided into equal
 * steps; for each thread and step there are the waits that ended there, by length, the wakeups that
 * ended them, by waker, and the time asleep in them by the class of what was waited for. Too many
 * distinct figures for a page make the steps longer. Threads are rows of a table; those without a
 * row share one.
 */
struct report_counts {
	struct report_steps steps;
	uint32_t n_rows;
	/* Numbers of waits (uint64_t), by (row * REPORT_SLOTS + slot, step). */
	struct pair_table lengths;
	/* struct report_wakeups, by (row * (REPORT_WAKERS + 1) + waker, step). */
	struct pair_table wakeups;
	/* Time asleep (uint64_t), by (row * REPORT_CLASSES + class, step). */
	struct pair_table asleep;
	/* Text ids in the order of their first wait: "tcp", "" where it is not known. */
	uint32_t classes[REPORT_CLASSES - 1];
	uint32_t n_classes;
	uint32_t wakers[REPORT_WAKERS]; /* text ids */
	uint32_t n_wakers;
	bool other_wakers; /* number n_wakers is in use, for all other wakers */
	/* The longest wait that ended in a step, by row * steps.n + step. */
	uint64_t *longest_ns;
	uint64_t *row_waits, *row_longest_ns; /* by row, over all steps */
};

/*
 * What waits had of each line of the table of causes, by who waited and by when the wait ended. A
 * line is a cause, or all others (number n_causes), or the pauses (n_causes + 1). Where there are
 * too many of them for a page, `joined` steps are one.
 */
struct report_cause_counts {
	struct pair_table cells; /* struct cause_cell, by (line * n_rows + row, step) */
	uint32_t joined;
};

struct report_wait {
	struct chosen_wait chosen;
	bool idle;   /* a wait for work (--no-idle) */
	bool sketch; /* its chain is drawn with less detail, so that more of them have room */
};

struct report_requests;
struct report_answer;

struct report {
	const struct format_input *in;
	struct names *names;
	struct wait_filter *filter;
	struct cpu_holders *cpu_holders; /* with what interrupts took; NULL: not known */
	struct options cause_options; /* how chains are followed to their causes, and over time */
	struct options graph_options; /* how they are drawn: with whose threads are whose */
	struct causes *causes;
	const struct cause **cause; /* those written, in the page's order */
	size_t n_causes, n_shown;   /* n_shown: how many of them are shown without a filter */
	bool *command; /* by thread: it is of the command that was recorded; NULL: none was */
	struct fold *fold;
	struct thread_row *rows; /* in the page's order, see report_thread_group() */
	size_t n_threads;	 /* in rows */
	uint32_t n_rows;	 /* how many of them are on the page: the first ones */
	struct thread_row rest;	 /* the others, added up */
	uint32_t *row_of;	 /* by thread: its row; n_rows: one of the others */
	struct report_counts counts;
	struct report_cause_counts cause_counts;
	/* Steps in a slice of the graphs: at least; of that of waits and of what ran, 0: no slices.
	 */
	uint32_t slice_steps, graph_steps[2];
	uint64_t slices[REPORT_SLICES + 1]; /* the slices: each up to where the next one begins */
	uint32_t n_slices;
	struct report_wait *waits; /* the examples of causes, then the longest first */
	size_t n_waits;
	struct report_requests *requests; /* NULL: there are none */
	struct report_answer *answer;
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

/* Counts the waits that r->filter selects, after the rows are known. */
void report_count(struct report *r);
void report_counts_free(struct report_counts *c);
/* A causes_cells', arg being the report, whose rows and steps are known: row and step of a wait. */
uint32_t report_cell_of(const void *arg, const struct chosen_wait *p);
/* From causes to lines of the table, when r->cause is known; so many that a page has room for. */
void report_settle_causes(struct report *r);
/* The step in which a wait that ended at ns is counted. */
uint32_t report_step(const struct report_steps *s, uint64_t ns);
/* The end of the shown part of the wait. */
uint64_t report_end_ns(const struct chosen_wait *p);

/*
 * Chooses the waits that the page shows one by one, after report_count(): the examples of the
 * causes, then, longest first, the longest of all, and of each thread's row and each step of time,
 * so that every filter finds some. Waits for work and unfinished waits have a limit of their own:
 * they are nearly always the longest, and rarely of interest.
 */
void report_choose_waits(struct report *r);

/*
 * Writes the data for the page's script as one JSON object without a `<`, which would end the
 * element of the page that holds it. Write errors are left in ferror(out).
 */
void report_json_write(struct report *r, FILE *out);

/* Text of the page that is written first: its size decides what else the page says. */
struct report_text {
	char *p;
	size_t len;
};

/*
 * Writes the page as it is visible without a script, with the graphs (empty: there is nothing to
 * show) and the data. Write errors are left in ferror(out).
 */
void report_page_write(FILE *out, const struct report *r, const struct report_text *waits,
		       const struct report_text *ran, const struct report_text *data);

extern const struct format format_html;
