/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trigger.h - detects the end of waits and of requests that took longer than a limit.
 *
 * A wait is the time from when a thread goes to sleep until it is back on a CPU: blocked and
 * runnable, but not preempted. It counts when it ends, because its cause is known only then;
 * threads that sleep because there is no work do not count meanwhile. A wait during which events
 * were lost does not count.
 *
 * A request is the time from its arrival to its answer. It counts when it is answered, and if the
 * answer goes on, once more when its last write is known: when the next request is read.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "threads.h"
#include "event_window.h"

struct definitions;
struct id_map;
struct trigger;

#define TRIGGER_REQUESTS_MAX 16

/* Which requests took too long. */
struct trigger_request {
	/*
	 * what_len bytes: an endpoint, "tcp :80", a route, "GET /cart", or both, "tcp :80 GET
	 * /cart"; in a route * is any part of a word. NULL: those that have no own limit.
	 */
	const char *what;
	size_t what_len;
	uint64_t limit_ns;
};

struct trigger_options {
	uint64_t wait_ns; /* waits longer than this; 0: none */
	/* Of threads whose name this extended regular expression matches; NULL: all but kernel's */
	const char *comm;
	struct trigger_request requests[TRIGGER_REQUESTS_MAX];
	unsigned int n_requests;
};

/* "unix " and the longest path; a thread's name is shorter. */
#define TRIGGER_NAME_LEN 128

/* What took too long. */
struct trigger_event {
	uint64_t took_ns;
	bool is_request;
	uint32_t tid;		     /* of the thread that waited */
	char name[TRIGGER_NAME_LEN]; /* of this thread, or the request's endpoint, */
	/* and the route that the options named, route_len bytes of theirs; NULL: they did not. */
	const char *route;
	size_t route_len;
};

/*
 * The strings of the options are borrowed. Returns 0, -ENOMEM, or -EINVAL for a bad expression with
 * the reason in why.
 */
int trigger_new(struct trigger **out, const struct trigger_options *o, char *why, size_t why_size);
void trigger_free(struct trigger *t);

/* Its table of threads, which needs those of each listing, and to hear of losses. */
struct threads *trigger_threads(struct trigger *t);
/* What the events of a window refer to. */
struct trigger_names {
	const struct definitions *definitions; /* names, endpoints */
	const struct id_map *ids;	       /* routes that are not told yet */
};

/*
 * Reads the events of w up to horizon_ns; n has what they refer to, at least of those since
 * from_ns, when a trace that is written now begins. Returns 0 or a negative errno.
 */
int trigger_look(struct trigger *t, const struct event_window *w, const struct trigger_names *n,
		 uint64_t from_ns, uint64_t horizon_ns);

/* What took longest since the last call; false: nothing took too long. */
bool trigger_take(struct trigger *t, struct trigger_event *out);
/* Ignores what ends before until_ns. */
void trigger_quiet(struct trigger *t, uint64_t until_ns);
