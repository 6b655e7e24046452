/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * thread_rows.h - where each chosen thread's time went, a row for each: what tables of threads are
 * made of.
 */
#ifndef ENGINE_THREAD_ROWS_H
#define ENGINE_THREAD_ROWS_H

#include "select.h"
#include "timeline.h"

struct thread_row {
	struct thread_sums sums;    /* of the chosen window of time */
	uint64_t waits, longest_ns; /* its sleeps that the selection chooses */
	uint32_t thread;
};

/*
 * The rows of all threads that the selection chooses, most running time first. 0 or -ENOMEM; *rows
 * is to be freed with free().
 */
int thread_rows_new(struct thread_row **rows, size_t *n, const struct timelines *tl,
		    struct selection *s);
/* Adds r's figures to those of total; the longest wait is that of both. */
void thread_row_add(struct thread_row *total, const struct thread_row *r);

#endif /* ENGINE_THREAD_ROWS_H */
