/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trigger.h - sees waits end that were longer than a limit. A wait is the time from a thread's
 * going to sleep until it is back on a CPU: blocked and runnable, but not preempted. It counts when
 * it ends, as only then its cause is known and can be written; so threads that sleep because nobody
 * needs them do not count as long as they do. A wait in which events were lost is not trusted.
 */
#ifndef TRIGGER_H
#define TRIGGER_H

#include <stdbool.h>
#include <stdint.h>

#include "threads.h"
#include "window.h"

struct trigger;
struct flight;

struct trigger_wait {
	uint64_t wait_ns, end_ns;
	uint32_t tid;
	char name[THREADS_NAME_LEN];
};

/*
 * Waits longer than limit_ns count, of threads whose name matches the extended regular expression
 * comm; NULL: of all but kernel threads. Returns 0, -ENOMEM, or -EINVAL for a bad expression, with
 * what is wrong with it in why.
 */
int trigger_new(struct trigger **out, uint64_t limit_ns, const char *comm, char *why,
		size_t why_size);
void trigger_free(struct trigger *t);

/* A thread that was there at the start. Returns 0 or -ENOMEM. */
int trigger_thread(struct trigger *t, const struct thread *thread);
/* As threads_listed() and threads_drop_unlisted(). */
void trigger_listed(struct trigger *t, const struct thread *listed, uint64_t listing_ns);
void trigger_drop_unlisted(struct trigger *t, uint64_t listing_ns);
void trigger_lost(struct trigger *t, uint64_t last_ns);
/* Goes on to horizon_ns; f has the names. Returns 0 or a negative errno. */
int trigger_look(struct trigger *t, const struct flight *f, const struct window *w,
		 uint64_t horizon_ns);

/* The longest wait seen since it was last asked for; false: none. Waits end after quiet_until_ns.
 */
bool trigger_take(struct trigger *t, struct trigger_wait *out);
void trigger_quiet(struct trigger *t, uint64_t until_ns);

#endif /* TRIGGER_H */
