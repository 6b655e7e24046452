/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_report.h - what the user should know of an import: what could not be read, and what the
 * recording does not contain.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Whether the kernel's functions have names, of a recording without them. */
enum import_kernel_names {
	IMPORT_KERNEL_UNASKED,
	IMPORT_KERNEL_NAMED,
	IMPORT_KERNEL_NO_BUILD_ID, /* the recording does not say which kernel it is */
	IMPORT_KERNEL_NOT_HERE, /* neither perf's cache nor the running kernel is of that build */
	IMPORT_KERNEL_HIDDEN,	/* the running kernel is, but shows no addresses */
};

/* An event whose samples the recording has. */
#define IMPORT_EVENT_NAME 64 /* bytes of its name; a longer one is cut */
#define IMPORT_EVENTS 16     /* more of them share the last place */

struct import_sample_event {
	char name[IMPORT_EVENT_NAME];
	uint64_t n;
	bool is_cycles, counts;
};

enum import_source {
	IMPORT_FROM_NOTHING, /* the recording was no import */
	IMPORT_FROM_TEXT,    /* of perf script */
	IMPORT_FROM_GO,
	IMPORT_FROM_PERF_DATA,
};

struct import_report {
	enum import_source source;
	bool renumbered; /* Go: goroutines have other numbers than there */
	uint64_t lines;
	uint64_t bad_lines;  /* that perf script does not write; perf.data: records */
	uint64_t bad_line;   /* number of the first of them, from 1 */
	uint64_t bad_offset; /* where that begins, bytes; Go, perf.data: damage; 0: nowhere */
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
	struct import_sample_event sample_events[IMPORT_EVENTS];
	uint32_t n_sample_events;
	bool per_task;	   /* only some threads were recorded: perf record without -a */
	uint64_t off_cpu;  /* samples of perf record --off-cpu */
	bool only_off_cpu; /* there is nothing else: these are the waits */
	uint64_t stopped; /* line at which times go back for good: the rest was not read; 0: none */
	bool packed_damaged; /* it was compressed, and that could not be read to its end */
	bool ends_in_line;   /* the last line has no newline: the text was cut off; perf.data: it is
			      */
	/* perf.data: */
	uint64_t files_without_id; /* mapped files of which no build ID is known */
	enum import_kernel_names kernel_names;
	bool user_copies; /* user stacks are copies of their memory: only perf unwinds them */
	bool maps_full;	  /* more was mapped than is remembered */
};

/* Why a recording cannot be imported; beyond the values of errno. */
enum import_error {
	IMPORT_E_COLUMNS = 1000,  /* no time, CPU or thread in its lines */
	IMPORT_E_SWITCHES,	  /* no sched_switch events */
	IMPORT_E_TRACE,		  /* its events have no texts: the field trace */
	IMPORT_E_EVENT,		  /* ... no names: the field event */
	IMPORT_E_TIMES,		  /* its times are differences: --deltatime */
	IMPORT_E_PERF_DAMAGED,	  /* perf's data file: its header contradicts itself */
	IMPORT_E_PERF_ORDER,	  /* ... of a machine with the other byte order */
	IMPORT_E_PERF_UNFINISHED, /* ... that perf record did not finish */
	IMPORT_E_PERF_FIELDS,	  /* ... whose samples have no time, CPU or thread */
	IMPORT_E_PERF_SWITCHES,	  /* ... without sched_switch events */
	IMPORT_E_PERF_TIMES,	  /* ... whose times go back */
	IMPORT_E_PERF_ZSTD,	  /* ... that is compressed, and there is no libzstd */
	IMPORT_E_GO_VERSION,	  /* a trace of a Go whose layout is not known */
	IMPORT_E_GO_CUT,	  /* one whose end is missing */
	IMPORT_E_GO_ORDER,	  /* one whose events contradict each other */
	IMPORT_E_GO_MANY,	  /* one of too many goroutines */
};

/* An enum import_error (negative, as returned) in the user's words; NULL: it is none. */
const char *import_error_text(int err);

/* True if a part of the recording could not be read. */
bool import_damaged(const struct import_report *r);
/* Writes to out, a line for each fact; quiet: only damage. */
void import_report_print(const struct import_report *r, const char *name, bool quiet, FILE *out);
