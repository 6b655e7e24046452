/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_feed.h - puts the events of a text into the trace, one by one. It owns the state between
 * them: which thread is on which CPU, whose ids can be trusted, what may be missing; and the
 * threads' names and processes, of which nearly every event of the text repeats a part: the trace
 * has a list of threads and an event for each change.
 */
#pragma once

#include "base/pairs.h"
#include "common/encoder.h"
#include "import_report.h"
#include "import_perf.h"
#include "import_samples.h"
#include "import_stack.h"

/* Zero all but enc and report, and in samples report and wanted. */
struct import_feed {
	struct encoder *enc;
	struct import_report *report;
	struct import_samples samples;
	struct pairs tids; /* (tid, 0) to the place in threads[] */
	struct import_thread *threads;
	size_t cap_threads;
	struct import_cpu *cpus;
	size_t n_cpus, cap_cpus;
	uint64_t first_ns, last_ns; /* of the first and the last event of any CPU; 0: none yet */
	/* Events that may be missing since the last one; written as a loss before the next. */
	uint64_t lost;
	/* Losses before the first event of their CPU: since the trace's first event. */
	struct import_loss *early;
	size_t n_early, cap_early;
	uint64_t same_id, not_id; /* switches whose id column is, and is not, prev */
	uint64_t wakeups;
	/*
	 * The recording has only events of some threads, as its command line says: of all others
	 * nothing is known.
	 */
	bool per_task;
	uint64_t idle_switches; /* from the idle thread to another */
	bool migrations;	/* there are some: run queues are known */
	/* Before the first one n_lost events are missing, in this time. */
	uint64_t n_lost, first_lost_ns, last_lost_ns;
};

/*
 * Takes an event of a CPU, with its call chain. Corrects a time that goes back by a clock's jitter.
 * Returns 0, -ENOMEM, or -IMPORT_E_TIMES if it goes back too far, or such times are too many.
 */
int import_feed_event(struct import_feed *f, struct import_event *ev,
		      const struct import_stack *stack);
/* Takes perf's command line, an argument after the other: whether only some threads were recorded.
 */
void import_feed_command(struct import_feed *f, const struct import_name *arguments, size_t n);
/* The text has ended: completes the report and writes the list of threads. */
void import_feed_end(struct import_feed *f);
void import_feed_free(struct import_feed *f);
