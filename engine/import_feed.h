/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_feed.h - events of a text, one by one, into the log. It owns what has to be remembered
 * between them: which thread is on which CPU, whose ids can be trusted, what may be missing.
 */
#ifndef ENGINE_IMPORT_FEED_H
#define ENGINE_IMPORT_FEED_H

#include "import.h"
#include "import_perf.h"
#include "import_stack.h"
#include "import_threads.h"

/* All zero, but for log and report, is ready for use; threads has the same log. */
struct import_feed {
	struct logmaker *log;
	struct import_report *report;
	struct import_threads threads;
	struct import_cpu *cpus;
	size_t n_cpus, cap_cpus;
	uint64_t last_ns; /* of the last event of any CPU */
	/* Events that may be missing since the last one: told by a loss before the next. */
	uint64_t lost;
	uint64_t same_id, not_id; /* switches whose column of ids is prev, is not */
	uint64_t wakeups;
};

/*
 * Takes an event of a CPU, with its call chain. Its time may be put right. Returns 0, -ENOMEM, or
 * -IMPORT_E_TIMES if it is earlier than the last one of its CPU can have been.
 */
int import_feed_event(struct import_feed *f, struct import_event *ev,
		      const struct import_stack *stack);
/* There are no more: fills the rest of the report, and writes the list of threads. */
void import_feed_end(struct import_feed *f);
void import_feed_free(struct import_feed *f);

#endif /* ENGINE_IMPORT_FEED_H */
