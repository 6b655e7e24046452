/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_report.h - what the user should know of an import: what could not be read, and what the
 * recording does not contain.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct import_report {
	bool is_go;	 /* of a trace of Go; else of text of perf script */
	bool renumbered; /* Go: goroutines have other numbers than there */
	uint64_t lines;
	uint64_t bad_lines;  /* that perf script does not write */
	uint64_t bad_line;   /* number of the first of them, from 1 */
	uint64_t bad_offset; /* where that begins, bytes; Go: where damage does, 0: nowhere */
	uint64_t switches, wakings;
	uint64_t other_events; /* of kinds that are not used */
	/*
	 * How often the thread that left a CPU was not the last one that came to it: at least that
	 * many switches are missing. Go: events that cannot follow on those before.
	 */
	uint64_t missing_switches;
	uint64_t passed_on;    /* wakeups left out: recorded on the wakee's CPU, not by the waker */
	uint64_t lost_records; /* where the text says that events were lost */
	uint64_t lost_chunks;  /* that perf says it lost, without the place */
	uint64_t times_back; /* events earlier than the last one of their CPU: moved to its time */
	bool wakeups;	     /* wakers come from sched_wakeup: there is no sched_waking */
	bool micro;	     /* times in microseconds: perf script without --ns */
	bool other_ids;	     /* the column's thread ids are not those of the events */
	bool no_stacks;
	bool no_processes; /* only threads are known */
	uint64_t stopped; /* line at which times go back for good: the rest was not read; 0: none */
	bool ends_in_line; /* the last line has no newline: the text was cut off */
};

/* Why a recording cannot be imported; beyond the values of errno. */
enum import_error {
	IMPORT_E_COLUMNS = 1000, /* no time, CPU or thread in its lines */
	IMPORT_E_SWITCHES,	 /* no sched_switch events */
	IMPORT_E_TIMES,		 /* its times are differences: --deltatime */
	IMPORT_E_DATA,		 /* perf's data file itself */
	IMPORT_E_GO_VERSION,	 /* a trace of a Go whose layout is not known */
	IMPORT_E_GO_CUT,	 /* one whose end is missing */
	IMPORT_E_GO_ORDER,	 /* one whose events contradict each other */
	IMPORT_E_GO_MANY,	 /* one of too many goroutines */
};

/* An enum import_error (negative, as returned) in the user's words; NULL: it is none. */
const char *import_error_text(int err);

/* True if a part of the recording could not be read. */
bool import_damaged(const struct import_report *r);
/* Writes to out, a line for each fact; quiet: only damage. */
void import_report_print(const struct import_report *r, const char *name, bool quiet, FILE *out);
