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
#include "import_stack.h"

/* Zero all but enc and report. */
struct import_feed {
	struct encoder *enc;
	struct import_report *report;
	struct pairs tids; /* (tid, 0) to the place in threads[] */
	struct import_thread *threads;
	size_t cap_threads;
	bool out_of_memory; /* sticky */
	struct import_cpu *cpus;
	size_t n_cpus, cap_cpus;
	uint64_t last_ns; /* of the last event of any CPU */
	/* Events that may be missing since the last one; written as a loss before the next. */
	uint64_t lost;
	uint64_t same_id, not_id; /* switches whose id column is, and is not, prev */
	uint64_t wakeups;
	bool migrations; /* there are some: run queues are known */
	/* Before the first one n_lost events are missing, in this time. */
	uint64_t n_lost, first_lost_ns, last_lost_ns;
};

/*
 * Takes an event of a CPU, with its call chain. Corrects a time that goes back by a clock's jitter.
 * Returns 0, -ENOMEM, or -IMPORT_E_TIMES if it goes back too far, or such times are too many.
 */
int import_feed_event(struct import_feed *f, struct import_event *ev,
		      const struct import_stack *stack);
/* The text has ended: completes the report and writes the list of threads. */
void import_feed_end(struct import_feed *f);
void import_feed_free(struct import_feed *f);
