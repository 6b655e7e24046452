/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import.h - traces that another recorder made: text of perf script, with the scheduler's switches
 * and wakeups, becomes a trace in memory that is like any other. It owns what is told of the
 * import itself: which lines made no sense, and what the text does not say.
 *
 * What is missing in the text (the idle loop's events on some kernels, chunks that perf lost) is
 * not made up: the timelines find it to be unknown, and where the text tells of a loss, the trace
 * does.
 */
#ifndef ENGINE_IMPORT_H
#define ENGINE_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* So much of the beginning is enough for import_is_text(). */
#define IMPORT_SNIFF 4096u

struct import_report {
	uint64_t lines;
	uint64_t bad_lines;  /* that perf script does not write */
	uint64_t bad_line;   /* the first of them, from 1 */
	uint64_t bad_offset; /* where that begins, bytes */
	uint64_t switches, wakings;
	uint64_t other_events; /* of kinds that are not used */
	/*
	 * How often the thread that leaves a CPU was not the one that came to it last: so many
	 * switches, at least, are missing.
	 */
	uint64_t missing_switches;
	uint64_t passed_on; /* wakeups left out: told on the target's CPU, by whoever was there */
	uint64_t lost_records; /* where the text says that events were lost */
	uint64_t lost_chunks;  /* that perf says it lost, but not where */
	uint64_t times_back;   /* events before the one before on their CPU, taken for as late */
	bool wakeups;	       /* sched_wakeup, for want of sched_waking */
	bool micro;	       /* times in microseconds: perf script without --ns */
	bool other_ids;	       /* the column's ids are not those of the events */
	bool no_stacks;
	uint64_t stopped;  /* the line at which times go back for good: not read on from there */
	bool ends_in_line; /* the last line has no newline: the text was cut off */
};

/* Why a text cannot be imported; beyond what errno has. */
enum import_error {
	IMPORT_E_COLUMNS = 1000, /* no time, CPU or thread in its lines */
	IMPORT_E_SWITCHES,	 /* no sched_switch events */
	IMPORT_E_TIMES,		 /* its times are no times: --deltatime */
	IMPORT_E_DATA,		 /* perf's data file itself */
};

/* True if what begins with these bytes can be text of perf script (it may be any text). */
bool import_is_text(const void *p, size_t len);
/* True if it is a perf.data file, which is for perf script to read. */
bool import_is_perf_data(const void *p, size_t len);

/*
 * Turns text into a log: from memory, or from what begins with [head, head + len) and goes on in
 * fd. *buf is to be freed with free(), the log begins at *buf + *offset and has *log_len bytes.
 * Returns 0; a negative errno: -ENOMEM, read()'s, -EBADMSG if no line of the first 4 MiB is one of
 * perf script; or a negative enum import_error.
 */
int import_memory(const char *p, size_t len, uint8_t **buf, size_t *offset, size_t *log_len,
		  struct import_report *report);
int import_stream(const char *head, size_t len, int fd, uint8_t **buf, size_t *offset,
		  size_t *log_len, struct import_report *report);

/* An enum import_error (negative, as returned) in the user's words; NULL: it is none. */
const char *import_error_text(int err);

/* True if a part of the text could not be read. */
bool import_damaged(const struct import_report *r);
/* Writes what the user should know to out, a line for each; quiet: only what is damage. */
void import_report_print(const struct import_report *r, const char *name, bool quiet, FILE *out);

#endif /* ENGINE_IMPORT_H */
