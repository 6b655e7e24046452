/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trigger.h - detects the end of waits longer than a limit. A wait is the time from when a thread
 * goes to sleep until it is back on a CPU: blocked and runnable, but not preempted. It counts when
 * it ends, because its cause is known only then; threads that sleep because there is no work do not
 * count meanwhile. A wait during which events were lost does not count.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "id_pool.h"
#include "threads.h"
#include "event_window.h"

struct trigger;

struct trigger_wait {
	uint64_t wait_ns, end_ns;
	uint32_t tid;
	char name[THREADS_NAME_LEN];
};

/*
 * For waits longer than limit_ns of threads whose name matches the extended regular expression
 * comm; NULL: of all but kernel threads. Returns 0, -ENOMEM, or -EINVAL for a bad expression with
 * the reason in why.
 */
int trigger_new(struct trigger **out, uint64_t limit_ns, const char *comm, char *why,
		size_t why_size);
void trigger_free(struct trigger *t);

/* Its table of threads, which needs those of each listing, and to hear of losses. */
struct threads *trigger_threads(struct trigger *t);
/*
 * Reads the events of w up to horizon_ns; their names are in strings. Returns 0 or a negative
 * errno.
 */
int trigger_look(struct trigger *t, const struct event_window *w, const struct id_pool *strings,
		 uint64_t horizon_ns);

/* The longest wait since the last call; false: there was none. */
bool trigger_take(struct trigger *t, struct trigger_wait *out);
/* Ignores waits that end before until_ns. */
void trigger_quiet(struct trigger *t, uint64_t until_ns);
