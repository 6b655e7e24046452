/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_filter.h - which waits are shown, and which part of each. A wait is chosen by its thread,
 * its whole length, its state and its off-CPU stack; the part of it that lies in the window of time
 * and is of a kind that was asked for (blocked, runnable, preempted) is shown. A client's wait for
 * a request is chosen by its endpoint, too, and by how long it took compared with others of that.
 */
#pragma once

#include "attribute/sums.h"
#include "words/names.h"
#include "base/options.h"
#include "timeline/timeline.h"
#include "wait_nature.h"

struct wait_filter;

/* The parts of a wait that are shown. An empty part has equal ends. */
struct shown {
	uint64_t blocked_from_ns, blocked_to_ns;
	uint64_t off_from_ns, off_to_ns; /* runnable, or preempted */
	uint64_t whole_ns;		 /* length of these parts without --from and --to */
};

/* What is given must outlive it. */
void wait_filter_new(struct wait_filter **out, const struct timelines *tl, const struct options *o,
		     struct names *names);
/*
 * One that chooses the same, or by other options (NULL: the same ones), also for another thread.
 * What is found out of waits is shared: f must outlive it. Likewise.
 */
void wait_filter_like(struct wait_filter **out, const struct wait_filter *f,
		      const struct options *o, struct names *names);
void wait_filter_free(struct wait_filter *f);
/* Whether clients' waits for requests are shown, and else those of threads. */
bool wait_filter_of_requests(const struct wait_filter *f);
/* False: no wait of this thread is shown, whatever its name at the time. */
bool wait_filter_thread(const struct wait_filter *f, uint32_t thread);
/* True if any name that the thread had fits, and any control group in which it was. */
bool wait_filter_name(struct wait_filter *f, uint32_t thread);
/* Whether a thread with this name (string id) is shown, in the group in which it was at at_ns. */
bool wait_filter_fits(struct wait_filter *f, uint32_t name, uint32_t thread, uint64_t at_ns);
/*
 * Whether running time is shown: it was asked for, and nothing else that only waits have (their
 * length, their state, their stack).
 */
bool wait_filter_running(const struct wait_filter *f);
/* The window of time, CLOCK_MONOTONIC. */
void wait_filter_window(const struct wait_filter *f, uint64_t *from_ns, uint64_t *to_ns);
/* Another one from now on; the requests that --slowest chose stay the same. */
void wait_filter_set_window(struct wait_filter *f, uint64_t from_ns, uint64_t to_ns);
/* False: nothing of w is shown. WAIT_UNKNOWN intervals never are: they may not be waits. */
bool wait_filter_wait(struct wait_filter *f, uint32_t thread, const struct wait *w,
		      struct shown *shown);
/* True if w is a sleep of a thread that has nothing to do. */
bool wait_filter_is_idle(struct wait_filter *f, uint32_t thread, const struct wait *w);
/* wait_nature(), by what the filter has found out so far. */
enum wait_nature wait_filter_nature(struct wait_filter *f, uint32_t thread, const struct wait *w);
/* The preempted time that was left out so far as --state does not name it. */
uint64_t wait_filter_preempted_ns(const struct wait_filter *f);
/* The waits that --no-idle left out so far: how many, and how much of them. */
void wait_filter_idle(const struct wait_filter *f, uint64_t *waits, uint64_t *ns);

/* Adds the blocked time of a thread's chosen waits by wait_class(). */
void wait_filter_sum_classes(struct wait_filter *f, uint32_t thread, uint32_t thing,
			     struct sums *to);

/*
 * Calls take for each request to a block device that the options choose, by who asked and by when
 * it was done, in the order in which they were done, until it returns false. One that nobody is
 * known to have asked for is chosen if no thread is.
 */
void wait_filter_disk_requests(const struct timelines *tl, const struct options *o,
			       struct names *names,
			       bool (*take)(void *arg, const struct disk_request *r), void *arg);
