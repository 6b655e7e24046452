/* SPDX-License-Identifier: GPL-2.0-or-later */
/* format_threads.h - the rows of the table of threads, which the report shows as well. */
#pragma once

#include "select/wait_filter.h"
#include "timeline/timeline.h"

#define CLASS_COLUMNS 5

struct thread_row {
	struct thread_sums sums;    /* within the selected window of time */
	uint64_t waited_ns;	    /* the shown parts of its selected waits */
	uint64_t waits, longest_ns; /* of its selected sleeps */
	/* How much of its running time interrupts and a hypervisor took; 0 if it is not known. */
	uint64_t interrupted_ns, stolen_ns;
	uint32_t thread;
	uint64_t class_ns[CLASS_COLUMNS + 1]; /* blocked, by the table's columns; others last */
};

/*
 * Makes the rows of the threads that s selects, most running time first. The caller frees *rows
 * with free().
 */
void thread_rows_new(struct thread_row **rows, size_t *n, const struct timelines *tl,
		     struct wait_filter *s);
/* Adds r's figures to those of total; the longest wait is the longer one of both. */
void thread_row_add(struct thread_row *total, const struct thread_row *r);
